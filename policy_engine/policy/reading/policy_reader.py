"""The policies of one graph, read as they are written: strict, and complete in its complaints."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import get_args

from policy_engine import terms
from policy_engine.errors import Fix, Place, Problem, join_names
from policy_engine.policy.canonical import digest_of
from policy_engine.policy.hierarchy import TOPS, Hierarchy
from policy_engine.policy.labels import labelled
from policy_engine.policy.model import ACCEPTED, ENDS_WITH, SET, Kind, Policy, Rule, Strategy
from policy_engine.policy.reading.constraints import ConstraintReader
from policy_engine.policy.reading.nodes import format_value, misused_class
from policy_engine.policy.reading.queries import QueryReader
from policy_engine.policy.reading.rules import RuleReader, members, with_shared
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.structure import (
    BUDGET,
    CONFLICT,
    INHERIT,
    KINDS,
    OTHER_POLICY_TYPES,
    POLICY_TYPES,
    PROFILE,
    QUERIES,
    policy_properties,
    required_properties,
)
from policy_engine.policy.syntax.contexts import replacement_fix
from policy_engine.policy.syntax.json_ld import Graph, Node
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.vocabulary import NONE, Vocabulary
from policy_engine.policy.xsd.literals import read_moment
from policy_engine.terms import is_absolute, relative_iri_problem

_ODRL, _MC, _PE = terms.ODRL, terms.MOSAICROWN, terms.PE
_TYPES = {f"{_ODRL}{name}" for name in POLICY_TYPES}
_LENIENT_TYPES = _TYPES | {f"{_ODRL}{name}" for name in OTHER_POLICY_TYPES}
_POLICY = f"{_ODRL}Policy"
_PROFILES = {_MC, _MC.rstrip("/"), _PE}
_CORE_PROFILE = f"{_ODRL}core"
_REPLACED, _MODIFIED, _ISSUED = (
    f"http://purl.org/dc/terms/{name}" for name in ("isReplacedBy", "modified", "issued")
)


class PolicyReader:
    """Reads the policies of one graph; `as_draft`, where they may lack what others add.

    `parents_at` holds where a policy names another that it inherits from, by the uids of both.
    With `keep_replaced`, that a policy was replaced is not a problem of its text. Where it
    `is_lenient`, what `lenient.py` lists is allowed.
    """

    as_draft = keep_replaced = False

    def __init__(
        self,
        graph: Graph,
        limits: Limits = DEFAULT_LIMITS,
        vocabulary: Vocabulary = NONE,
        *,
        is_lenient: bool = False,
    ) -> None:
        self.walker = Walker(graph, vocabulary, is_lenient=is_lenient)
        self.as_draft = self.keep_replaced = is_lenient
        constraints = ConstraintReader(self.walker, limits)
        self.rule_reader = RuleReader(constraints)
        self.query_reader = QueryReader(self.walker)
        self._shared_parts = limits.values
        self._rules_left = limits.rules
        self.parents_at: dict[tuple[str, str], Place] = {}

    def read(self, source: str, among: Sequence[Node] | None = None) -> tuple[Policy, ...]:
        """Return the policies as they are written; `among` are the nodes that are policies."""
        if self.walker.problems:
            return ()
        nodes = self.walker.graph.nodes
        policy_nodes = [node for node in nodes if len(nodes) == 1 or _is_policy(node)]
        policy_nodes = policy_nodes if among is None else [*among]
        if not policy_nodes:
            message = "A text has at least one policy. This one has none."
            self.walker.problems.append(Problem("P001", message, "Is it empty?", self._top()))
        drafts = [self._policy(node, source) for node in policy_nodes]
        self._check_uids(policy_nodes)
        if self.walker.is_lenient:
            self.walker.read_all_memberships()
        for node in self.walker.unread_nodes() if not self.walker.problems else ():
            self.walker.read_unreferenced(node)
            self._check_classes(node)
        self.walker.refuse_unread()
        hierarchy = self.walker.hierarchy()
        if self.walker.vocabulary:
            hierarchy = hierarchy.joined([self.walker.vocabulary.hierarchy])
        self._check_actions(hierarchy)
        if self.walker.problems:
            return ()
        complete = (replace(draft, hierarchy=hierarchy) for draft in drafts if draft)
        return tuple(labelled(replace(draft, digest=digest_of(draft))) for draft in complete)

    def _check_classes(self, node: Node) -> None:
        """Note the terms that a node that nothing refers to has as a class, and that are none."""
        for index, name in enumerate(node.data.get("@type", ())):
            if message := misused_class(terms.canonical(name)):
                self.walker.add_strict("P007", message, "", node, "@type", index)

    def _top(self) -> Place:
        return self.walker.graph.document.place("")

    def _policy(self, node: Node, source: str) -> Policy | None:
        self.walker.check_odrl_properties(node, policy_properties(), "a policy")
        profiles = tuple(iri for iri, _ in self.walker.iris(node, PROFILE))
        if self._unknown_profiles(node, profiles):
            return None
        own = len(self.rule_reader.constraints.own_terms)
        kind, uid = self._policy_type(node), self._uid(node)
        inherits = self.walker.iris(node, INHERIT)
        for parent, index in inherits:
            self.parents_at[uid, parent] = self.walker.graph.later_place(node, INHERIT, index)
        shared = self.rule_reader.shared(node)
        rules = {name: self._shared_rules(node, name, kind, shared) for name in KINDS}
        self._note_own_properties(node)
        ends_with, accepted = self._ending(node)
        is_in_profile = bool(set(profiles) & _PROFILES) or self._uses_profile(node)
        if not (is_in_profile or self.walker.is_lenient):
            self._refuse_own_terms(self.rule_reader.constraints.own_terms[own:])
        return Policy(
            uid=uid,
            type=kind,
            profiles=profiles,
            inherits=tuple(iri for iri, _ in inherits),
            shared=shared,
            names_conflict=CONFLICT in node.data,
            conflict=self._conflict(node, is_in_profile=is_in_profile),
            permissions=rules["permission"],
            prohibitions=rules["prohibition"],
            obligations=rules["obligation"],
            digest="",
            vocabulary=self.walker.vocabulary,
            context=self.walker.graph.context_at(node.pointer),
            source=source,
            hints=tuple(self._hints(node, profiles)),
            place=self.walker.graph.later_place(node),
            replaced_by=tuple(self._replaced(node)),
            ends_with=ends_with,
            accepted=accepted,
            queries=self.query_reader.queries(node),
            budgets=self.query_reader.budgets(node),
            dated=self._dated(node),
        )

    def _shared_rules(
        self, node: Node, name: Kind, policy_type: str, shared: Rule
    ) -> tuple[Rule, ...]:
        """Return the rules of a kind, each with what all have in common.

        What a parent or a child may still add is looked for once that is done.
        """
        self._rules_left -= len(node.data.get(f"{terms.ODRL}{name}", ()))
        if self._rules_left < 0:
            most = self.rule_reader.constraints.limits.rules
            self.walker.add(
                "J003", f"The text lists too many rules. {most:,} are allowed.", "", node
            )
            return ()
        is_open = self.as_draft or INHERIT in node.data
        needs = [prop for prop in required_properties(name, policy_type) if prop not in node.data]
        rules = tuple(self.rule_reader.rules(node, name, () if is_open else needs, policy_type))
        self._shared_parts -= len(rules) * members(shared)
        if self._shared_parts < 0:
            most = self.rule_reader.constraints.limits.values
            message = f"Policies share too many parts with their rules. {most:,} are allowed."
            self.walker.add("J003", message, "", node)
            return ()
        return tuple(with_shared(rule, shared) for rule in rules) if members(shared) else rules

    def _hints(self, node: Node, profiles: tuple[str, ...]) -> Iterator[Problem]:
        if self._uses_profile(node) and not set(profiles) & _PROFILES:
            message = "The policy uses the MOSAICrOWN profile without naming it."
            place = self.walker.graph.later_place(node)
            fix = self.walker.first_member_fix(node, f'"profile": "{_MC}"')
            yield Problem("H001", message, f'Add "profile": "{_MC}".', place, fix)

    def _policy_type(self, node: Node) -> str:
        types = [terms.canonical(iri) for iri in node.data.get("@type", [])]
        allowed = _TYPES
        if self.walker.is_lenient:
            # What else it is, foreign classes too, changes nothing; that it is a policy is known.
            allowed = _LENIENT_TYPES
            types = [one for one in dict.fromkeys(types) if one in allowed]
            types = [one for one in types if one != _POLICY] or types or [SET]
        if len(types) == 1 and types[0] in allowed:
            return str(types[0])
        types_text = join_names(map(terms.compact, types)) if types else "nothing"
        names = sorted(map(terms.local_name, allowed))
        message = f"A policy has one type. Given: {types_text}. Allowed: {join_names(names)}."
        local_name = terms.local_name(types[0]) if len(types) == 1 else ""
        self.walker.add(
            "P001", message, "", node, "@type", of_key=not types, word=local_name, allowed=names
        )
        return ""

    def _uid(self, node: Node) -> str:
        uid = str(node.data.get("@id", ""))
        if self.walker.is_lenient:
            return self.walker.read_uid(node)
        if not uid or uid.startswith("_:"):
            hint = 'Add "uid": "http://...", an IRI of your own.'
            self.walker.add(
                "P002", "The policy has no uid (ODRL Information Model, 2.1).", hint, node
            )
        elif not is_absolute(uid):
            self.walker.add("L006", *relative_iri_problem(uid), node, "@id")
        return terms.canonical(uid)

    def _conflict(self, node: Node, *, is_in_profile: bool) -> Strategy:
        strategies = self.walker.iris(node, CONFLICT, terms_too=True)
        if not strategies:
            return "prohibit" if is_in_profile else "invalid"
        name = strategies[0][0].removeprefix(_ODRL)
        if len(strategies) == 1 and name in get_args(Strategy):
            return name  # type: ignore[return-value]
        names = [terms.compact(iri) for iri, _ in strategies]
        message = f"A policy has one conflict strategy. Given: {join_names(names)}."
        allowed = get_args(Strategy)
        hint = f"Allowed are {join_names(allowed)}."
        candidate = name if len(strategies) == 1 else ""
        self.walker.add(
            "P007",
            message,
            hint,
            node,
            CONFLICT,
            len(strategies) - 1,
            word=candidate,
            allowed=allowed,
        )
        return "invalid"

    # -- the profile --------------------------------------------------------------------------

    def _uses_profile(self, node: Node) -> bool:
        """Tell whether a policy uses the profile's terms, even where it does not name it."""
        context = self.walker.graph.context_at(node.pointer)
        return "belongsTo" in context.definitions or self.walker.mentions(node, _MC)

    def _unknown_profiles(self, node: Node, profiles: tuple[str, ...]) -> bool:
        """Note profiles that are not known: what their policies mean cannot be known either."""
        if self.walker.is_lenient:
            return False
        names = sorted((_MC, _PE, _CORE_PROFILE, *self.walker.vocabulary.profiles))
        unknown = [one for one in enumerate(profiles) if one[1] not in {*_PROFILES, *names}]
        for place, profile in unknown:
            message = f"The profile {profile!r} is not known. Known are {join_names(names)}."
            self.walker.add("P009", message, "", node, PROFILE, place, word=profile, allowed=names)
        return bool(unknown)

    def _refuse_own_terms(self, own: Sequence[tuple[str, Place]]) -> None:
        for iri, place in own:
            message = f"{iri!r} is not a term of ODRL, and the policy names no profile that has it."
            hint = f'Terms of your own may be used with "profile": "{_MC}".'
            self.walker.problems.append(Problem("P009", message, hint, place))

    def _check_actions(self, hierarchy: Hierarchy) -> None:
        """Every action is a way to use or to transfer (ODRL Information Model, 2.4).

        Where there are other problems, that may follow from them.
        """
        first = dict(reversed(self.rule_reader.own_actions))
        tops = TOPS | self.walker.vocabulary.actions.keys()
        is_open = bool(self.walker.problems) or self.walker.is_lenient
        for iri, place in () if is_open else reversed(first.items()):
            wider = hierarchy.wider("action", iri)
            is_dpv = any(terms.is_in_dpv(one, "Processing") for one in wider)
            if not is_dpv and wider.keys().isdisjoint(tops):
                name = terms.compact(iri)
                message = f"The action {name!r} is not included in use or transfer."
                hint = f'Write {{"uid": "{name}", "includedIn": "use"}}, or what it is a kind of, '
                hint += "or give the vocabulary that defines it: vocabularies=[FILE]."
                self.walker.problems.append(Problem("P016", message, hint, place))

    def replace_text(self, place: Place, text: str) -> Fix | None:
        """Return the fix that replaces the string at a place by a text."""
        return replacement_fix(self.walker.graph.document, place.pointer, text)

    def _check_uids(self, nodes: Sequence[Node]) -> None:
        """Note two policies of a text with one uid: nobody could tell which one is meant."""
        first_nodes: dict[str, Node] = {}
        for node in nodes:
            uid = terms.canonical(node.data.get("@id", ""))
            first = first_nodes.setdefault(uid, node)
            if uid and first is not node:
                line = self.walker.graph.place(first).line
                message = f"Two policies have the uid {uid!r}; the first is in line {line}."
                self.walker.add("D002", message, "Give each its own.", node)

    def _replaced(self, node: Node) -> Iterator[str]:
        """Yield the policies that replace one, which is then no longer in force (ODRL IM, 2.8)."""
        for data in node.data.get(_REPLACED, []):
            yield str(data.get("@id", data.get("@value", "")))
            if not self.keep_replaced:
                message = (
                    f"The policy was replaced by {format_value(data)}, and is no longer in force."
                )
                self.walker.add("P012", message, "Use that policy instead.", node, _REPLACED)

    def _note_own_properties(self, node: Node) -> None:
        """Note the properties of a policy that ODRL lacks, which need a profile that has them."""
        for prop in (ENDS_WITH, ACCEPTED, QUERIES, BUDGET):
            if prop in node.data:
                place = self.walker.graph.place(node, prop, of_key=True)
                self.rule_reader.constraints.own_terms.append((prop, place))

    def _ending(self, node: Node) -> tuple[tuple[str, ...], str]:
        """Return the policies that one ends with, and the digest of the offer it was made from."""
        names = self.walker.iris(node, ENDS_WITH)
        values = node.data.get(ACCEPTED, [])
        digests = [str(data.get("@value", "")) for data in values]
        invalid = [n for n, one in enumerate(digests) if not re.fullmatch("[0-9a-f]{64}", one)]
        if invalid or len(digests) > 1:
            message = f"{terms.compact(ACCEPTED)} is one sha-256 in hexadecimal. Given: "
            place = (invalid or [1])[0]
            message += f"{format_value(values[place]) if invalid else len(digests)}."
            self.walker.add("P007", message, "", node, ACCEPTED, place)
        return tuple(dict.fromkeys(iri for iri, _ in names)), digests[0] if digests else ""

    def _dated(self, node: Node) -> datetime | None:
        """Return when a policy was last modified, or issued, where it says so (2.8)."""
        for prop in (_MODIFIED, _ISSUED):
            moments = []
            for data in node.data.get(prop, []):
                with suppress(ValueError):
                    moments.append(read_moment(data.get("@value")))
            if moments:
                return max(moments)
        return None


def _is_policy(node: Node) -> bool:
    rules = {f"{_ODRL}{name}" for name in (*KINDS, "profile", "conflict", "inheritFrom")}
    return bool(rules & node.data.keys() or _TYPES & set(node.data.get("@type", [])))
