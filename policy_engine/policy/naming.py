"""Short names outside of policies, in requests, states of the world and tests, and their IRIs."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from policy_engine import terms
from policy_engine.errors import RequestError, did_you_mean, join_names
from policy_engine.policy.model import Policy
from policy_engine.policy.syntax.contexts import Context

_BLANK = re.compile(r"\s")

_Value = TypeVar("_Value")


def each_once(pairs: Iterable[tuple[str, _Value]]) -> dict[str, _Value]:
    """Return values by their names. Raises ValueError for a name that occurs twice."""
    values: dict[str, _Value] = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(f"{name} is given twice, under several names for it")
        values[name] = value
    return values


def _once(pairs: Iterable[tuple[str, _Value]]) -> dict[str, _Value]:
    try:
        return each_once(pairs)
    except ValueError as error:
        message = f"In the state of the world, {error}."
        raise RequestError.of("D003", message, "Leave out the one that does not hold.") from None


class Names:
    """Names as they are read in some policies, under the contexts that these name.

    What no policy has a name for is a term of their vocabularies, or of the bundled contexts.
    """

    def __init__(self, policies: Sequence[Policy] = ()) -> None:
        self.contexts = {policy.uid: policy.context for policy in policies}
        vocabularies = [policy.vocabulary for policy in policies if policy.vocabulary]
        self._others = {name: iri for one in vocabularies for name, iri in one.names.items()}
        self._policies = policies
        self._rules = [rule for policy in policies for rule in policy.rules]

    def full(self, name: str, key: str = "") -> str:
        """Return the IRI of a name that is a value of a key, such as `action`.

        A name without an IRI is returned as it is. Raises RequestError (D001) for one that no IRI
        can have, and where it is not the same in all policies that have it.
        """
        problem = terms.name_problem(name) if ":" in name else None
        if problem:
            raise RequestError.of("D001", problem[1])
        uids: dict[str, str] = {}
        is_whole = terms.has_known_scheme(name)
        for uid, context in self.contexts.items():
            iri = _named(context, name, key) or (terms.canonical(name) if is_whole else "")
            uids |= {iri: uid} if iri and iri not in uids else {}
        if len(uids) > 1:
            candidates = join_names(f"{iri} in {uid}" for iri, uid in uids.items())
            message = f"The name {name!r} does not mean the same in all policies: {candidates}."
            raise RequestError.of("D001", message, "Write the whole IRI.")
        if uids:
            return next(iter(uids))
        return self._others.get(name) or terms.expand_term(name)

    def world(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return a state of the world, as JSON has it, with the names in it in full.

        What is not of its form is left as it is, to be refused. Raises RequestError (D001) for a
        name that does not mean the same in all policies, for a rule by a prefix that none
        declares, and for one that is there under two names; D003 for a fact that is.
        """
        plain = dict(facts)
        readers: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "values": self._facts,
            "of": self._expand_relations,
            "counts": self._expand_rules,
            "duties": self._expand_rules,
            "memberships": self._edges,
        }
        for key, inner in readers.items():
            if isinstance(plain.get(key), Mapping):
                plain[key] = inner(plain[key])
        return plain

    def written(self, keys: Iterable[str], name: str) -> str:
        """Return the key of a state of the world that a full name has there; empty where it has
        none."""
        all_keys = list(keys)
        matches = [
            key for key in all_keys if name in (self.full(key), self.full(key, "leftOperand"))
        ]
        return name if name in all_keys else next(iter(matches), "")

    def _facts(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        return _once(
            (self.full(name, "leftOperand") if isinstance(name, str) else name, value)
            for name, value in facts.items()
        )

    def _expand_relations(self, facts_by_name: Mapping[str, Any]) -> dict[str, Any]:
        return _once(
            (
                self.full(name) if isinstance(name, str) else name,
                self._facts(facts) if isinstance(facts, Mapping) else facts,
            )
            for name, facts in facts_by_name.items()
        )

    def _expand_rules(self, values_by_rule: Mapping[str, Any], of: str = "") -> dict[str, Any]:
        """Return values by rule, or by policy and rule, under their uids or labels."""
        values: dict[str, Any] = {}
        for name, value in values_by_rule.items():
            uid = self._rule_uid(name, of) if isinstance(name, str) else name
            if uid in values:
                message = f"Of {uid!r} the state of the world speaks twice, under two names."
                raise RequestError.of("D001", message, "Leave out the one that does not hold.")
            values[uid] = self._expand_rules(value, uid) if isinstance(value, Mapping) else value
        return values

    @cached_property
    def _labels(self) -> frozenset[str]:
        return frozenset(one.label() for rule in self._rules for one in (rule, *rule.nested_rules))

    @cached_property
    def _places(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """The policy and the label of each rule without uid, by its position in the text."""
        places: dict[str, list[tuple[str, str]]] = {}
        for policy in self._policies:
            for rule in policy.rules:
                for one in (rule, *rule.all_nested_rules()):
                    if not one.uid:
                        places.setdefault(one.where(), []).append((policy.uid, one.label()))
        return places

    def _rule_uid(self, name: str, of: str = "") -> str:
        """Return the uid of the rule that a name is of; its label where it has no uid.

        That may be named by its position in the text of the policy `of`.
        """
        labels = {label for uid, label in self._places.get(name, ()) if of in ("", uid)}
        if len(labels) == 1:
            return next(iter(labels))
        prefix, colon, _ = name.partition(":")
        is_label = name in self._labels or not colon or _BLANK.search(prefix)
        if is_label or name in self.contexts:
            return name
        uid = self.full(name)
        if self.contexts and not terms.has_known_scheme(uid):
            message = f"The rule {name!r} is neither a whole IRI nor a term of the contexts."
            raise RequestError.of("D001", message, did_you_mean(name, sorted(self._labels)))
        return uid

    def _edges(self, edges_by_part: Mapping[str, Any]) -> dict[str, Any]:
        return {part: self._expand(edges, part) for part, edges in edges_by_part.items()}

    def _expand(self, edges: Any, part: str) -> Any:
        if isinstance(edges, list | tuple):
            return [self._expand(one, part) for one in edges]
        return self.full(edges, part) if isinstance(edges, str) else edges


def _named(context: Context, name: str, key: str) -> str:
    """Return the IRI that a context gives a name under a key; empty where it gives none."""
    definition = context.definitions.get(key)
    if definition and definition.type == "@vocab":
        term = context.value_scope(definition).definitions.get(name)
        if term:
            return term.iri
    prefix, colon, local = name.partition(":")
    prefix_definition = context.definitions.get(prefix)
    is_short = (
        colon and prefix_definition and prefix_definition.is_prefix and not local.startswith("//")
    )
    return context.reference(name) if is_short else ""
