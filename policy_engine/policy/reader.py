"""A policy's text to a Policy: strict, complete in its complaints, and offline."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from policy_engine import terms
from policy_engine.errors import (
    Place,
    PolicyError,
    Problem,
    by_place,
    did_you_mean,
    listed,
)
from policy_engine.policy.clashes import clashes
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.linked_data import POINTER, Node, expand
from policy_engine.policy.model import Action, Kind, Policy, Refinement, Rule, Strategy, Value
from policy_engine.policy.text import read_json
from policy_engine.policy.walker import Walker, is_absolute, relative, shown

_ODRL, _MC, _PE = terms.ODRL, terms.MOSAICROWN, terms.PE
_TYPES = {f"{_ODRL}{name}" for name in ("Policy", "Set", "Offer", "Agreement")}
_RULES: dict[Kind, str] = {"permission": f"{_ODRL}permission", "prohibition": f"{_ODRL}prohibition"}
_PROFILES = {_MC, _MC.rstrip("/"), _PE}
_OF_POLICY = {f"{_ODRL}{name}" for name in ("profile", "conflict", "permission", "prohibition")}
_OF_RULE = {
    *(f"{_ODRL}{name}" for name in ("assigner", "assignee", "target", "action", "output")),
    f"{_MC}purpose",
}
_OF_ACTION = {f"{terms.RDF}value", f"{_ODRL}refinement", f"{_ODRL}includedIn"}
_OF_REFINEMENT = {
    f"{_ODRL}{name}" for name in ("leftOperand", "operator", "rightOperand", "dataType")
}


def read_policy(
    text: str | bytes, *, source: str = "", contexts: Mapping[str, Any] | None = None
) -> Policy:
    """Read one policy: ODRL 2.2 in JSON-LD, with the MOSAICrOWN profile.

    `source` names the text in messages; `contexts` are JSON-LD contexts beyond the bundled
    ones, by URL. Raises PolicyError with every problem found, each with its place.
    """
    document = read_json(text, source)
    reader = _Reader(expand(document, contexts or {}))
    raw = text if isinstance(text, bytes) else text.encode()
    policy = reader.read(hashlib.sha256(raw).hexdigest(), source)
    if reader.problems or policy is None:
        raise PolicyError(*sorted(reader.problems, key=by_place), source=source)
    problems = [] if policy.conflict != "invalid" else list(clashes(policy))
    if problems:
        raise PolicyError(*problems, source=source)
    return policy


def read_hierarchy(
    text: str | bytes, *, source: str = "", contexts: Mapping[str, Any] | None = None
) -> Hierarchy:
    """Read what is part of what from a JSON-LD text, as strictly as a policy.

    Its nodes may say `belongsTo`, `partOf`, `includedIn`, `declinationOf` and
    `skos:broader`. Raises PolicyError with every problem found.
    """
    reader = _Reader(expand(read_json(text, source), contexts or {}))
    for node in reader.graph.nodes:
        reader.reference(node)
    reader.refuse_unread()
    if reader.problems:
        raise PolicyError(*sorted(reader.problems, key=by_place), source=source)
    return reader.hierarchy()


class _Reader(Walker):
    """Reads one policy off a graph."""

    def read(self, digest: str, source: str) -> Policy | None:
        if self.problems:
            return None
        nodes = self.graph.nodes
        policies = [node for node in nodes if len(nodes) == 1 or _is_policy(node)]
        if len(policies) != 1:
            self._no_single_policy(len(policies))
            return None
        for node in self.graph.nodes:
            if node is not policies[0]:
                self.reference(node)
        policy = self._policy(policies[0], digest, source)
        self.refuse_unread()
        return policy

    def _no_single_policy(self, found: int) -> None:
        message = f"A text holds one policy. This one holds {found}."
        hint = "Write each policy to a file of its own." if found else "Is it empty?"
        self.problems.append(Problem("P001", message, hint, self.graph.document.place("")))

    def _policy(self, node: Node, digest: str, source: str) -> Policy | None:
        self.known_properties(node, _OF_POLICY, "a policy")
        kind = self._policy_type(node)
        profiles = tuple(iri for iri, _ in self.iris(node, f"{_ODRL}profile"))
        for place, profile in enumerate(profiles):
            if profile not in _PROFILES:
                self.add("P009", *_unknown_profile(profile), node, f"{_ODRL}profile", place)
        rules = {name: tuple(self._rules(node, name)) for name in _RULES}
        if not any(rules.values()) and not self.problems:
            self.add("P003", "A policy needs a permission or a prohibition. It has none.", "", node)
        self._check_uids(rules["permission"] + rules["prohibition"])
        self._check_parties(kind, rules["permission"] + rules["prohibition"])
        uid = self._uid(node)
        conflict = self._conflict(node, profiles)
        if self.problems:
            return None
        return Policy(
            uid=uid,
            type=kind,
            profiles=profiles,
            conflict=conflict,
            permissions=rules["permission"],
            prohibitions=rules["prohibition"],
            hierarchy=self.hierarchy(),
            digest=digest,
            source=source,
            hints=tuple(self._hints(node, profiles)),
            place=self.graph.place(node),
        )

    def _hints(self, node: Node, profiles: tuple[str, ...]) -> Iterator[Problem]:
        if self._in_profile() and not set(profiles) & _PROFILES:
            message = "The policy uses the MOSAICrOWN profile without naming it."
            place = self.graph.place(node)
            yield Problem("H001", message, f'Add "profile": "{_MC}".', place)

    def _policy_type(self, node: Node) -> str:
        types = [terms.canonical(iri) for iri in node.data.get("@type", [])]
        if len(types) == 1 and types[0] in _TYPES:
            return str(types[0])
        given = listed(map(terms.compact, types)) if types else "nothing"
        known = listed(sorted(map(terms.local_name, _TYPES)))
        hint = (
            did_you_mean(terms.local_name(types[0]), map(terms.local_name, _TYPES)) if types else ""
        )
        message = f"A policy has one type. Given: {given}. Allowed: {known}."
        self.add("P001", message, hint, node, "@type", of_key=not types)
        return ""

    def _uid(self, node: Node) -> str:
        uid = str(node.data.get("@id", ""))
        if not uid:
            hint = 'Add "uid": "http://...", an IRI of your own.'
            self.add("P002", "The policy has no uid (ODRL Information Model, 2.1).", hint, node)
        elif not is_absolute(uid):
            self.add("L006", *relative(uid), node, "@id")
        return uid

    def _conflict(self, node: Node, profiles: tuple[str, ...]) -> Strategy:
        given = self.iris(node, f"{_ODRL}conflict", terms_too=True)
        if not given:
            return "prohibit" if set(profiles) & _PROFILES or self._in_profile() else "invalid"
        name = given[0][0].removeprefix(_ODRL)
        if len(given) == 1 and name in get_args(Strategy):
            return name  # type: ignore[return-value]
        message = f"A policy has one conflict strategy. Given: {listed(iri for iri, _ in given)}."
        hint = did_you_mean(name, get_args(Strategy))
        hint = hint or f"Allowed are {listed(get_args(Strategy))}."
        self.add("P007", message, hint, node, f"{_ODRL}conflict")
        return "invalid"

    def _in_profile(self) -> bool:
        """Tell whether the text uses the profile's terms, even where it does not name it."""
        return "belongsTo" in self.graph.context.definitions or any(
            _MC in str(node.data) for node in self.graph.nodes
        )

    def _check_uids(self, rules: tuple[Rule, ...]) -> None:
        seen: dict[str, Rule] = {}
        for rule in rules:
            if rule.uid and rule.uid in seen:
                first = seen[rule.uid].place.line
                message = f"Two rules have the uid {rule.uid!r}; the first is in line {first}."
                self.problems.append(Problem("P008", message, "", rule.place))
            seen.setdefault(rule.uid, rule)

    def _check_parties(self, kind: str, rules: tuple[Rule, ...]) -> None:
        """Offers and agreements name their parties (ODRL Information Model, 2.1.2, 2.1.3)."""
        name = terms.local_name(kind)
        for rule in rules:
            if name in ("Offer", "Agreement") and not rule.assigner:
                message = f"The rules of an {name} name their assigner."
                self.problems.append(Problem("P004", message, "", rule.place))
            if name == "Agreement" and not rule.assignees:
                message = "The rules of an Agreement name their assignee."
                self.problems.append(Problem("P004", message, "", rule.place))

    def _rules(self, node: Node, kind: Kind) -> Iterator[Rule]:
        for child in self.nodes(node, _RULES[kind]):
            self.known_properties(child, _OF_RULE, "a rule")
            for part in ("target", "action"):
                if f"{_ODRL}{part}" not in child.data:
                    self.add("P004", f"The {kind} has no {part}.", "", child)
            self._check_rule(child, kind)
            outputs = self.iris(child, f"{_ODRL}output", role="asset")
            if len(outputs) > 1:
                message = f"A rule has one output. Given: {listed(iri for iri, _ in outputs)}."
                self.add("P007", message, "", child, f"{_ODRL}output")
            yield Rule(
                kind=kind,
                uid=child.data.get("@id", ""),
                assigner=self.names(child, f"{_ODRL}assigner", "party"),
                assignees=self.names(child, f"{_ODRL}assignee", "party"),
                targets=self.names(child, f"{_ODRL}target", "asset"),
                actions=tuple(self._actions(child)),
                purposes=self.names(child, f"{_MC}purpose", "purpose"),
                output=outputs[0][0] if outputs else "",
                place=self.graph.place(child),
            )

    def _check_rule(self, node: Node, kind: Kind) -> None:
        uid, types = node.data.get("@id", "urn:none"), set(node.data.get("@type", []))
        if not is_absolute(uid):
            self.add("L006", *relative(uid), node, "@id")
        if types - {f"{_ODRL}{kind.capitalize()}", f"{_ODRL}Rule"}:
            message = f"A {kind} is of type {kind.capitalize()!r}."
            message += f" Given: {listed(map(terms.compact, sorted(types)))}."
            self.add("P007", message, "", node, "@type")

    def _actions(self, rule: Node) -> Iterator[Action]:
        for index, data in enumerate(rule.data.get(f"{_ODRL}action", [])):
            action = self._action(rule, index, Node(data, data.get(POINTER, "")))
            if action:
                yield action

    def _action(self, rule: Node, index: int, node: Node) -> Action | None:
        """Return an action: a term alone, or a node whose rdf:value is refined."""
        prop, value = f"{_ODRL}action", f"{terms.RDF}value"
        place = self.graph.place(rule, prop, index)
        if {"@value", "@list"} & node.data.keys():
            message = f"An action is a term or an object. Given: {shown(node.data)}."
            self.add("P007", message, "", rule, prop, index)
            return None
        if "@id" in node.data and not {value, f"{_ODRL}refinement"} & node.data.keys():
            self.known_properties(node, {f"{_ODRL}includedIn"}, "an action")
            iri = self._action_iri(node.data["@id"], rule, prop, index, node.data)
            return Action(iri=iri, place=place)
        self.known_properties(node, _OF_ACTION, "an action")
        named = self.iris(node, value)
        if len(named) != 1:
            hint = 'Add "rdf:value": {"@id": "odrl:anonymize"}.'
            self.add("P004", "A refined action needs one rdf:value.", hint, node)
            return None
        iri = self._action_iri(named[0][0], node, value, 0, node.data)
        refinements = tuple(self._refinements(node))
        if refinements and iri != f"{_ODRL}anonymize":
            message = f"Refinements of {terms.compact(iri)} are not evaluated."
            self.add("P006", message, "Refined may be odrl:anonymize.", node)
        return Action(iri=iri, refinements=refinements, place=self.graph.place(node))

    def _action_iri(
        self, given: str, node: Node, prop: str, place: int, data: Mapping[str, Any]
    ) -> str:
        iri = terms.canonical(given)
        known = terms.instances(f"{_ODRL}Action")
        if f"{_ODRL}includedIn" in data:
            self.reference(Node(data, data.get(POINTER, "")), role="action")
        if not is_absolute(iri) or (_is_ours(iri) and iri not in known):
            names = map(terms.local_name, known)
            hint = did_you_mean(terms.local_name(iri), names)
            message = f"{given!r} is not an action of ODRL or of the MOSAICrOWN profile."
            self.add("P005", message, hint, node, prop, place)
        return iri

    def _refinements(self, action: Node) -> Iterator[Refinement]:
        seen: dict[str, Place] = {}
        for node in self.nodes(action, f"{_ODRL}refinement"):
            self.known_properties(node, _OF_REFINEMENT, "a refinement")
            parameter = self._term(node, "leftOperand", _parameters())
            operator = self._term(node, "operator", terms.instances(f"{_ODRL}Operator"))
            values = tuple(self._right_operand(node, parameter))
            if not _operands(node):
                self.add("P004", "A refinement needs a rightOperand with a value.", "", node)
            if not parameter or not operator:
                continue
            self._check_operator(node, parameter, operator, len(values))
            if parameter in seen:
                first = seen[parameter].line
                message = f"{terms.compact(parameter)} is given twice, first in line {first}."
                self.add("P007", message, "", node)
            seen.setdefault(parameter, self.graph.place(node))
            place = self.graph.place(node, f"{_ODRL}rightOperand")
            yield Refinement(parameter=parameter, operator=operator, values=values, place=place)

    def _check_operator(self, node: Node, parameter: str, operator: str, values: int) -> None:
        allowed = terms.vocabulary()[parameter].iris("operator")
        name = terms.compact(parameter)
        if operator not in allowed:
            message = f"{name} takes the operator {listed(map(terms.local_name, allowed), 'or')}."
            message += f" Given: {terms.local_name(operator)!r}."
            self.add("P007", message, "", node, f"{_ODRL}operator")
        elif operator == f"{_ODRL}eq" and values > 1:
            several = f"{_ODRL}isAllOf" in allowed
            hint = "With the operator 'isAllOf' it takes several." if several else ""
            self.add("P007", f"{name} takes one value. Given: {values}.", hint, node)

    def _term(self, node: Node, part: str, known: Mapping[str, Any]) -> str:
        """Return the one known term that a refinement has as its operand or operator."""
        prop = f"{_ODRL}{part}"
        given = self.iris(node, prop, terms_too=True)
        if len(given) != 1:
            self.add("P004", f"A refinement needs one {part}. Given: {len(given)}.", "", node)
            return ""
        iri = given[0][0]
        if iri not in known:
            names = {terms.compact(term): term for term in known}
            hint = did_you_mean(terms.compact(iri), names)
            hint = hint or did_you_mean(terms.local_name(iri), map(terms.local_name, known))
            message = f"{terms.compact(iri)!r} is not a known {part}. Known are {listed(names)}."
            self.add("P005", message, hint, node, prop)
            return ""
        return iri

    def _right_operand(self, node: Node, parameter: str) -> Iterator[Value]:
        prop = f"{_ODRL}rightOperand"
        types = [iri for iri, _ in self.iris(node, f"{_ODRL}dataType")]
        for index, item in enumerate(_operands(node)):
            place = self.graph.place(node, prop, index)
            if "@id" in item:
                settings = self._settings(Node(item, item.get(POINTER, "")), parameter)
                yield Value(terms.canonical(item["@id"]), place, settings)
                continue
            if "@value" not in item:
                self.add("P007", "A rightOperand is a literal or an IRI.", "", node, prop, index)
                continue
            kind = item.get("@type") or (types[0] if types else "")
            value = self._read_literal(item["@value"], kind, node, prop, index)
            if value is not None:
                yield Value(value, place)

    def _read_literal(
        self, given: Any, kind: str, node: Node, prop: str, index: int
    ) -> str | bool | int | float | None:
        try:
            return _literal(given, kind)
        except ValueError:
            message = f"{given!r} is not a value of {terms.compact(kind)}."
            self.add("P007", message, "", node, prop, index)
            return None

    def _settings(self, node: Node, parameter: str) -> dict[str, Value]:
        """Return what is said of a column in its place: one literal, or IRI, a property."""
        known = {
            iri for iri, term in terms.vocabulary().items() if parameter in term.iris("domain")
        }
        is_column = parameter in _parameters() and _is_about_columns(parameter)
        what = f"a column under {terms.compact(parameter)}" if is_column else "a name"
        self.known_properties(node, known, what)
        settings = {}
        for prop in sorted(known & node.data.keys()):
            items, place = node.data[prop], self.graph.place(node, prop)
            if len(items) != 1 or not {"@value", "@id"} & items[0].keys():
                given = shown(items[0]) if len(items) == 1 else len(items)
                message = f"{terms.compact(prop)} takes one value. Given: {given}."
                self.add("P007", message, "", node, prop)
            elif "@id" in items[0]:
                iri = terms.canonical(items[0]["@id"])
                if not is_absolute(iri):
                    self.add("L006", *relative(iri), node, prop)
                self.known_properties(Node(items[0], items[0].get(POINTER, "")), set(), "a name")
                settings[terms.local_name(prop)] = Value(iri, place)
            else:
                kind = items[0].get("@type", "")
                value = self._read_literal(items[0]["@value"], kind, node, prop, 0)
                if value is not None:
                    settings[terms.local_name(prop)] = Value(value, place)
        return settings


def _is_policy(node: Node) -> bool:
    return bool(_OF_POLICY & node.data.keys() or _TYPES & set(node.data.get("@type", [])))


def _parameters() -> dict[str, terms.Term]:
    """Return the left operands that refine an action: those with a range of their own."""
    operands = terms.instances(f"{_ODRL}LeftOperand").items()
    return {iri: term for iri, term in operands if "range" in term.facts}


def _is_about_columns(parameter: str) -> bool:
    return terms.vocabulary()[parameter].iris("range") == (f"{_ODRL}Asset",)


def _literal(value: Any, kind: str) -> str | bool | int | float:
    """Return a typed literal as a Python value (XSD 1.1 part 2, the lexical spaces)."""
    name = kind.removeprefix(terms.XSD)
    if not kind or not isinstance(value, str):
        return value  # type: ignore[no-any-return]
    if name in ("integer", "int", "long", "short", "nonNegativeInteger", "positiveInteger"):
        return int(_matched(r"[-+]?[0-9]{1,400}", value))
    if name in ("decimal", "double", "float"):
        return float(_matched(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", value))
    if name == "boolean":
        return _matched("true|false|1|0", value) in ("true", "1")
    if kind not in ("", f"{terms.XSD}string", f"{terms.XSD}anyURI"):
        raise ValueError(kind)
    return value


def _matched(pattern: str, value: str) -> str:
    """Return a literal without the space around it. Raises ValueError where it is another's."""
    if not re.fullmatch(pattern, value.strip(" \t\r\n")):
        raise ValueError(value)
    return value.strip(" \t\r\n")


def _operands(node: Node) -> list[dict[str, Any]]:
    """Return the values of a refinement, those of a list as they are."""
    items: list[dict[str, Any]] = node.data.get(f"{_ODRL}rightOperand", [])
    return items[0]["@list"] if len(items) == 1 and "@list" in items[0] else items


def _is_ours(iri: str) -> bool:
    return iri.startswith((_ODRL, _MC, _PE))


def _unknown_profile(profile: str) -> tuple[str, str]:
    message = f"The profile {profile!r} is not known. Known are {listed(sorted(_PROFILES))}."
    return message, did_you_mean(profile, _PROFILES)
