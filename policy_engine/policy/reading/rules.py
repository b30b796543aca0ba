"""Permissions, prohibitions and duties, with their parties, assets and actions."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

from policy_engine import terms
from policy_engine.errors import Place, join_names
from policy_engine.policy.hierarchy import Part
from policy_engine.policy.model import ANONYMIZE, Action, Asset, Kind, Party, Rule, RulePart
from policy_engine.policy.reading.constraints import ConstraintReader
from policy_engine.policy.reading.nodes import format_value, is_name_alone
from policy_engine.policy.reading.release_parameters import refuse_spent
from policy_engine.policy.structure import (
    ACTION,
    ACTION_PROPERTIES,
    ASSIGNEE,
    ASSIGNER,
    COLLECTION_PROPERTIES,
    CONSTRAINT,
    INNER_KINDS,
    OUTPUT,
    PART_OF,
    PURPOSE,
    REFINED_ACTION_PROPERTIES,
    REFINEMENT,
    SOURCE,
    TARGET,
    VALUE,
    missing_property_message,
    party_functions,
    rule_properties,
)
from policy_engine.policy.syntax.json_ld import Node
from policy_engine.policy.syntax.limits import MAX_PROBLEMS
from policy_engine.policy.syntax.patience import check_awaited
from policy_engine.terms import has_known_namespace, is_absolute

_ODRL, _MC = terms.ODRL, terms.MOSAICROWN
_KINDS_WITH_ARTICLE: Mapping[Kind, str] = {
    kind: f"An {kind}" if kind == "obligation" else f"A {kind}" for kind in INNER_KINDS
}
_DUTIES = frozenset(f"{_ODRL}{kind}" for kind in ("duty", "remedy", "consequence"))


class _Table(NamedTuple):
    """What a rule of a kind may have, and what it is called."""

    subject: str
    nested: Mapping[Kind, str]
    wrong_duties: frozenset[str]
    properties: frozenset[str]


@cache
def _table(kind: Kind) -> _Table:
    nested = {name: f"{_ODRL}{name}" for name in INNER_KINDS[kind]}
    wrong_duties = _DUTIES.difference(nested.values())
    return _Table(_KINDS_WITH_ARTICLE[kind].lower(), nested, wrong_duties, rule_properties(kind))


@cache
def _functions() -> frozenset[str]:
    return frozenset(party_functions())


_Member = TypeVar("_Member", Party, Asset)
_Part = TypeVar("_Part", Party, Asset, Action)


class RuleReader:
    """Reads rules (ODRL Information Model 2.2, section 2.6).

    `own_actions` are those that ODRL does not have, or no longer, with their places.
    """

    def __init__(self, constraints: ConstraintReader) -> None:
        self.walker = constraints.walker
        self.constraints = constraints
        self.own_actions: list[tuple[str, Place]] = []
        self._plain_members: dict[type[RulePart], dict[str, str]] = {Party: {}, Asset: {}}
        self._plain_actions: dict[str, str] = {}

    def rules(
        self, node: Node, kind: Kind, needed: Collection[str] = (ACTION,), policy_type: str = ""
    ) -> Iterator[Rule]:
        """Yield the rules of a kind that a node holds, each of which needs some properties."""
        for child in self.walker.nodes(node, f"{_ODRL}{kind}"):
            self.walker.check_unique(child, "P008", "Two rules have")
            for prop in needed:
                if prop not in child.data:
                    self.walker.add_strict(
                        "P004", missing_property_message(kind, prop, policy_type), "", child
                    )
            yield self._rule(child, kind)

    def shared(self, node: Node) -> Rule:
        """Return what a policy says of all its rules: a compact policy (section 2.7.1)."""
        return Rule(kind="permission", **self._parts(node))

    def _rule(self, node: Node, kind: Kind) -> Rule:
        check_awaited()
        table = _table(kind)
        wrong_duties = sorted(table.wrong_duties & node.data.keys())
        for prop in wrong_duties:
            allowed = (
                f"It may have a {next(iter(table.nested))}."
                if table.nested
                else "It has no duties."
            )
            message = (
                f"{_KINDS_WITH_ARTICLE[kind]} has no {terms.local_name(prop)} of its own. {allowed}"
            )
            self.walker.add("P013", message, "", node, prop, of_key=True)
        properties = table.properties.union(wrong_duties) if wrong_duties else table.properties
        self.walker.check_properties(node, properties, table.subject)
        self._check_rule(node, kind)
        nested = {
            name: tuple(self.rules(node, name))
            for name, prop in table.nested.items()
            if prop in node.data
        }
        constraints = self.constraints.conditions(node, CONSTRAINT)
        is_duty = kind not in ("permission", "prohibition")
        if is_duty:
            refuse_spent(self.walker, node, CONSTRAINT, constraints)
        return Rule(
            kind=kind,
            uid=self.walker.read_uid(node),
            purposes=() if is_duty else self.walker.names(node, PURPOSE, "purpose"),
            output="" if is_duty else self._output(node),
            constraints=constraints,
            duties=nested.get("duty", ()),
            remedies=nested.get("remedy", ()),
            consequences=nested.get("consequence", ()),
            place=self.walker.graph.later_place(node),
            **self._parts(node),
        )

    def _parts(self, node: Node) -> dict[str, Any]:
        """Return the parts that a policy may share with its rules."""
        parties_by_function = {
            prop: self._members(node, prop, Party)
            for prop in (() if _functions().isdisjoint(node.data) else party_functions())
            if prop in node.data
        }
        return {
            "targets": self._members(node, TARGET, Asset),
            "actions": tuple(self._actions(node)),
            "assigners": self._members(node, ASSIGNER, Party),
            "assignees": self._members(node, ASSIGNEE, Party),
            "functions": {
                prop: parties for prop, parties in parties_by_function.items() if parties
            },
        }

    def _output(self, node: Node) -> str:
        outputs = self.walker.iris(node, OUTPUT, role="asset")
        if len(outputs) > 1:
            message = f"A rule has one output. Given: {join_names(iri for iri, _ in outputs)}."
            self.walker.add("P007", message, "", node, OUTPUT)
        return outputs[0][0] if outputs else ""

    def _check_rule(self, node: Node, kind: Kind) -> None:
        if "@type" not in node.data:
            return
        name = kind.capitalize() if kind in ("permission", "prohibition") else "Duty"
        types = set(node.data["@type"]) - {f"{_ODRL}{name}", f"{_ODRL}Rule"}
        if self.walker.is_lenient:
            types = {one for one in types if one.startswith(_ODRL)}
        if types:
            message = f"{_KINDS_WITH_ARTICLE[kind]} is of type {name!r}."
            message += f" Given: {join_names(map(terms.compact, sorted(types)))}."
            self.walker.add("P007", message, "", node, "@type")

    # -- parties and assets -------------------------------------------------------------------

    def _members(self, node: Node, prop: str, kind: type[_Member]) -> tuple[_Member, ...]:
        values = node.data.get(prop)
        if not values:
            return ()
        plain_names = self._plain_members[kind]
        members = []
        for index, data in enumerate(values):
            iri = plain_names.get(data.get("@id", "")) if len(data) == 1 else None
            if iri is None:
                member = self._member(node, prop, index, kind)
            else:
                member = kind(iri, (), self.walker.graph.later_place(node, prop, index))
            if member is not None:
                members.append(member)
        return tuple(members)

    def _member(self, node: Node, prop: str, index: int, kind: type[_Member]) -> _Member | None:
        data, problem_count = node.data[prop][index], len(self.walker.problems)
        resolved = self.walker.resolve(data)
        if _is_described(resolved):
            return self._collection(resolved, kind)
        iri = self.walker.iri(node, prop, index, role=_ROLES[kind])
        if iri is None:
            return None
        if self._is_plain(data, resolved, problem_count):
            self._plain_members[kind][data["@id"]] = iri
        return kind(iri, (), self.walker.graph.later_place(node, prop, index))

    def _is_plain(self, data: Mapping[str, Any], resolved: Node, problem_count: int) -> bool:
        """Tell whether a value is a name of which nothing is said anywhere, and nothing was wrong
        with it: as it was read it may be read again."""
        is_same = resolved.data is data and is_name_alone(data)
        return is_same and len(self.walker.problems) == problem_count < MAX_PROBLEMS

    def _collection(self, node: Node, kind: type[_Member]) -> _Member | None:
        """Return the members of a collection that meet its refinements (section 2.5.3)."""
        is_lenient = self.walker.is_lenient
        properties = COLLECTION_PROPERTIES | {PART_OF} if is_lenient else COLLECTION_PROPERTIES
        uid = self.walker.read_uid(node)
        check = (
            self.walker.check_odrl_properties if is_absolute(uid) else self.walker.check_properties
        )
        check(node, properties, "a collection")
        self.walker.check_types(node, _ROLES[kind])
        self.walker.check_unique(node, "P015", "Two collections have")
        sources: list[str] = [iri for iri, _ in self.walker.iris(node, SOURCE)]
        refinements = self.constraints.conditions(node, REFINEMENT)
        count = len(node.data.get(SOURCE, []))
        if is_lenient and (is_absolute(uid) or count < 2):
            name = uid if is_absolute(uid) else [*sources, uid][0]
            return kind(name, refinements, self.walker.graph.later_place(node))
        if uid and not is_lenient:
            message = "A collection with refinements is named by its source, not by a uid."
            message += f" Given: {uid!r}."
            self.walker.add("P015", message, "Write its uid as its source.", node, "@id")
        elif count != 1:
            message = f"A collection with refinements has one source. Given: {count}."
            self.walker.add("P015", message, 'Add "source": "http://...".', node)
        return (
            kind(sources[0], refinements, self.walker.graph.later_place(node)) if sources else None
        )

    # -- actions ------------------------------------------------------------------------------

    def _actions(self, rule: Node) -> Iterator[Action]:
        for index, data in enumerate(rule.data.get(ACTION, [])):
            iri = self._plain_actions.get(data.get("@id", "")) if len(data) == 1 else None
            if iri is not None:
                yield Action(iri, (), self.walker.graph.later_place(rule, ACTION, index))
            elif action := self._action(rule, index, data):
                yield action

    def _action(self, rule: Node, index: int, data: Mapping[str, Any]) -> Action | None:
        """Return an action: a term alone, or a node whose rdf:value is refined."""
        place = self.walker.graph.later_place(rule, ACTION, index)
        if {"@value", "@list"} & data.keys():
            message = f"An action is a term or an object. Given: {format_value(data)}."
            self.walker.add("P007", message, "", rule, ACTION, -1 if "@list" in data else index)
            return None
        problem_count, own = len(self.walker.problems), self._own
        node = self.walker.resolve(data)
        self.walker.check_types(node, "action")
        if "@id" in node.data and not REFINED_ACTION_PROPERTIES & node.data.keys():
            self.walker.check_odrl_properties(node, ACTION_PROPERTIES, "an action")
            iri = self._action_iri(node.data["@id"], rule, ACTION, index)
            if ACTION_PROPERTIES & node.data.keys() and is_absolute(iri):
                self.walker.read_membership(node, role="action")
            if self._is_plain(data, node, problem_count) and own == self._own:
                self._plain_actions[data["@id"]] = iri
            return Action(iri=iri, place=place)
        return self._refined(node)

    @property
    def _own(self) -> tuple[int, int]:
        """How many names were noted that are not of the language, each with its place."""
        return len(self.constraints.own_terms), len(self.own_actions)

    def _refined(self, node: Node) -> Action | None:
        uid = self.walker.read_uid(node)
        name = uid if self.walker.is_lenient else ""
        properties = (
            REFINED_ACTION_PROPERTIES | ACTION_PROPERTIES if name else REFINED_ACTION_PROPERTIES
        )
        check = (
            self.walker.check_odrl_properties if is_absolute(name) else self.walker.check_properties
        )
        check(node, properties, "a refined action")
        if not self._has_own_name(node, uid):
            self.walker.check_unique(node, "P006", "Two refined actions have")
        actions = self.walker.iris(node, VALUE, role="action")
        count = len(node.data.get(VALUE, []))
        if name and not count:
            actions = [(name, 0)]
        elif count != 1:
            hint = 'Add "rdf:value": {"@id": "odrl:read"}, say.'
            message = f"A refined action needs one rdf:value, the action. Given: {count}."
            self.walker.add("P004", message, hint, node)
        if len(actions) != 1:
            return None
        iri = self._action_iri(actions[0][0], node, VALUE)
        place = self.walker.graph.later_place(node)
        if iri == ANONYMIZE:
            return Action(iri, tuple(self.constraints.parameters(node)), place)
        return Action(iri, self.constraints.conditions(node, REFINEMENT), place)

    def _has_own_name(self, node: Node, uid: str) -> bool:
        """Note a name beside the rdf:value: a rule about the one would not be about the other."""
        if not is_absolute(uid) or VALUE not in node.data:
            return False
        message = f"A refined action is named by its rdf:value, not by a uid. Given: {uid!r}."
        hint = "Remove its uid, or write one that begins with '_:'."
        self.walker.add("P006", message, hint, node, "@id")
        return True

    def _action_iri(self, name: str, node: Node, prop: str, index: int = 0) -> str:
        iri = self.walker.canonical_action(terms.canonical(name))
        actions = terms.instances(f"{_ODRL}Action")
        is_foreign = (
            is_absolute(iri) and not has_known_namespace(iri) and not iri.startswith(terms.DPV)
        )
        if iri in self.walker.vocabulary.actions or terms.is_in_dpv(iri, "Processing"):
            return iri
        is_foreign = is_foreign or (self.walker.is_lenient and not iri.startswith(_ODRL))
        if not is_foreign and iri not in actions:
            self._unknown_action(iri, node, prop, index)
            return iri
        if iri not in actions:
            self.constraints.own_terms.append(
                (iri, self.walker.graph.later_place(node, prop, index))
            )
        if iri not in actions or "deprecated" in actions[iri].facts:
            self.own_actions.append((iri, self.walker.graph.later_place(node, prop, index)))
        return iri

    def _unknown_action(self, iri: str, node: Node, prop: str, index: int) -> None:
        scheme = "ODRL or of the MOSAICrOWN profile"
        candidates = {**terms.instances(f"{_ODRL}Action"), **self.walker.vocabulary.actions}
        if iri.startswith(terms.DPV):
            scheme, candidates = "the Data Privacy Vocabulary", {**terms.dpv_terms("Processing")}
        message = f"{terms.compact(iri)!r} is not an action of {scheme}."
        local_name = terms.local_name(iri)
        same_name = [one for one in candidates if terms.local_name(one) == local_name]
        hint = f"Write {terms.compact(same_name[0])!r}." if same_name else ""
        local_names = [] if hint else map(terms.local_name, candidates)
        self.walker.add(
            "P005", message, hint, node, prop, index, word=local_name, allowed=local_names
        )


_ROLES: Mapping[type[Party] | type[Asset], Part] = {Party: "party", Asset: "asset"}


def with_shared(rule: Rule, shared: Rule) -> Rule:
    """Return a rule with the parts that its policy shares with all its rules."""
    if not members(shared):
        return rule
    all_functions = {*rule.functions, *shared.functions}
    functions = {
        prop: _merge_members(rule.functions.get(prop, ()), shared.functions.get(prop, ()))
        for prop in sorted(all_functions)
    }
    return replace(
        rule,
        targets=_merge_members(rule.targets, shared.targets),
        actions=_merge_members(rule.actions, shared.actions),
        assigners=_merge_members(rule.assigners, shared.assigners),
        assignees=_merge_members(rule.assignees, shared.assignees),
        functions=functions,
    )


def members(rule: Rule) -> int:
    """Return how many parties, assets and actions a rule names."""
    parts = (rule.targets, rule.actions, rule.assigners, rule.assignees, *rule.functions.values())
    return sum(map(len, parts))


def _merge_members(some: tuple[_Part, ...], others: tuple[_Part, ...]) -> tuple[_Part, ...]:
    return tuple(dict.fromkeys(some + others)) if some and others else some or others


def _is_described(node: Node) -> bool:
    """Tell whether a node is a collection rather than a name."""
    is_nameless = node.data.get("@id", "_:").startswith("_:")
    return REFINEMENT in node.data or (is_nameless and SOURCE in node.data)
