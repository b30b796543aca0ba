"""A graph of statements as the expanded nodes that policies are read from, all at the top level."""

import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from policy_engine import terms
from policy_engine.data.rdf.statements import (
    FIRST,
    REST,
    STRING,
    TYPE,
    UNKNOWN,
    Literal,
    Spot,
    Term,
)
from policy_engine.decision.compliance.graph import UID, StatementGraph
from policy_engine.errors import Place, Problem
from policy_engine.policy.model import LOGICAL
from policy_engine.policy.reading.nodes import format_value
from policy_engine.policy.structure import (
    ACTION,
    CONSTRAINT,
    INNER_KINDS,
    INVERSE,
    KINDS,
    OTHER_POLICY_TYPES,
    POLICY_TYPES,
    REFINEMENT,
    RIGHT,
    VALUE,
)
from policy_engine.policy.syntax.contexts import Context
from policy_engine.policy.syntax.json_ld import POINTER, Graph, Node
from policy_engine.policy.syntax.json_text import Document, escape
from policy_engine.policy.syntax.limits import MAX_PROBLEMS

_DUTY, _OBLIGATION = f"{terms.ODRL}duty", f"{terms.ODRL}obligation"
_OF_POLICIES = {f"{terms.ODRL}{kind}" for kind in KINDS}
_POLICIES = {f"{terms.ODRL}{name}" for name in (*POLICY_TYPES, *OTHER_POLICY_TYPES)}
"""The properties of a policy, and its class."""
_RULES = {f"{terms.ODRL}{kind}" for kind in INNER_KINDS}
_CONDITIONS = {CONSTRAINT, REFINEMENT, *LOGICAL}
_OF_INNER = _RULES | _CONDITIONS | {ACTION}
"""The properties that lead to the rules, actions and constraints of policies."""
_OF_LISTS = {FIRST, REST, TYPE}
"""The properties of list cells."""

_Expanded = dict[str, Any]


@dataclass(frozen=True)
class _Spotted(Document):
    """Nodes in place of a JSON text; `spots` are their positions in their own text."""

    name_characters: int = field(
        default=sys.maxsize, kw_only=True
    )  # counted when its statements were read
    spots: Mapping[str, Spot] = field(default_factory=dict, repr=False)

    def place(self, pointer: str, *, of_key: bool = False) -> Place:
        """Return the position of the statement that a value comes from, or else of its subject."""
        del of_key
        steps = pointer.split("/")
        ways = ("/".join(steps[:size]) for size in range(len(steps), 2, -1))
        spots = (self.spots.get(way, UNKNOWN) for way in ways)
        return Place("", *next((spot for spot in spots if spot != UNKNOWN), UNKNOWN))


def expanded(graph: StatementGraph) -> Graph:
    """Return the nodes of a graph in its order, merged by name.

    Names have one spelling each. The inverse of a property is replaced by the property
    (`odrl:assigneeOf`, on the rule that it names), a policy's `odrl:duty` becomes an
    obligation, and a node without a name takes its `odrl:uid`. Its problems are what this would
    lose or widen: inverses of a literal, two parts with one uid.
    """
    flat = _Flat(graph)
    for subject, statements in graph.about.items():
        if FIRST not in statements or not statements.keys() <= _OF_LISTS:
            flat.take(subject)
    flat.turn_inverse()
    flat.refuse_shared_names()
    nodes = tuple(Node(node, node[POINTER]) for node in flat.nodes.values())
    document = _Spotted({"@graph": [*flat.nodes.values()]}, "", {}, {}, (), [0], flat.spots)
    return Graph(nodes, (*flat.problems,), document, (Context({}),))


class _Flat:
    """Collects nodes one after another; `spots` are the positions of the nodes and their values.

    `problems` are those of nodes that cannot be read as they are.
    """

    def __init__(self, graph: StatementGraph) -> None:
        self.nodes: dict[str, _Expanded] = {}
        self.spots: dict[str, Spot] = {}
        self.problems: list[Problem] = []
        self._graph = graph
        self._subjects: dict[str, list[str]] = {}

    def take(self, subject: str) -> None:
        """Add the statements about a node."""
        name = self._graph.name(subject)
        node = self._node(name, self._graph.spot(subject))
        if self._graph.about[subject].keys() - {UID, TYPE}:
            self._subjects.setdefault(name, []).append(subject)
        for prop in self._graph.about[subject]:
            if prop == TYPE:
                node.setdefault("@type", []).extend(self._graph.types(subject))
            elif prop != UID:
                self._values(node, subject, prop)

    def turn_inverse(self) -> None:
        """Replace other names of a property, and its inverse, by the property.

        Inverses between policies, rules and their parts are not replaced: they mean nothing there.
        """
        inner = self._held(_OF_INNER)
        for node in [*self.nodes.values()]:
            is_policy = _is_policy(node)
            if is_policy and _DUTY in node:
                self._add(node, _OBLIGATION, node.pop(_DUTY))
            elif not is_policy and node["@id"] not in inner:
                self._turn_inverse(node)

    def _turn_inverse(self, node: _Expanded) -> None:
        for prop in (one for one in INVERSE if one in node):
            at = f"{node[POINTER]}/{escape(prop)}"
            for step, other in enumerate(node.pop(prop)):
                spot = self.spots.get(f"{at}/{step}", UNKNOWN)
                if "@id" in other:
                    target = self._node(other["@id"], spot)
                    self._add(target, INVERSE[prop], [{"@id": node["@id"]}])
                else:
                    text = format_value(other)
                    self._fail("P007", f"{terms.compact(prop)} takes an IRI. Given: {text}.", spot)

    def refuse_shared_names(self) -> None:
        """Report separate parts of policies with the same uid: merged, they would be wider."""
        rules, conditions, actions = map(self._held, (_RULES, _CONDITIONS, {ACTION}))
        for name, subjects in self._subjects.items():
            node = self.nodes[name]
            kinds = (
                (_is_policy(node), "D002", "policies"),
                (name in rules, "P008", "rules"),
                (name in conditions, "P007", "constraints"),
                (name in actions and not {REFINEMENT, VALUE}.isdisjoint(node), "P006", "actions"),
                (REFINEMENT in node, "P015", "collections"),
            )
            for _, code, parts in [one for one in kinds if one[0] and len(subjects) > 1][:1]:
                line = self._graph.spot(subjects[0])[0]
                message = f"Two {parts} have the uid {name!r}; the first is in line {line}."
                self._fail(code, message, self._graph.spot(subjects[1]))

    def _held(self, props: AbstractSet[str]) -> set[str]:
        """Return the names that some properties lead to."""
        return {
            value["@id"]
            for node in self.nodes.values()
            for prop in props & node.keys()
            for one in node[prop]
            for value in one.get("@list", [one])
            if "@id" in value
        }

    def _node(self, name: str, spot: Spot) -> _Expanded:
        """Return the node of a name, created if it does not exist yet."""
        node = self.nodes.setdefault(name, {POINTER: f"/@graph/{len(self.nodes)}", "@id": name})
        self.spots.setdefault(node[POINTER], spot)
        return node

    def _fail(self, code: str, message: str, spot: Spot) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(code, message, place=Place("", *spot)))

    def _values(self, node: _Expanded, subject: str, predicate: str) -> None:
        prop = terms.canonical(predicate)
        own_objects = self._graph.about[subject][predicate]
        if prop in LOGICAL or (prop == RIGHT and len(own_objects) == 1):
            objects, values = own_objects, [self._ordered(one) for one in own_objects]
        else:
            objects = self._distinct(self._graph.objects(subject, predicate))
            values = [self._value(one) for one in objects]
        at = f"{node[POINTER]}/{escape(prop)}"
        self.spots.setdefault(at, self._graph.spot(subject, predicate))
        start = len(node.get(prop, ()))
        for step, one in enumerate(objects, start):
            spot = self._graph.spot(subject, predicate, one)
            self.spots.setdefault(f"{at}/{step}", spot)
        self._add(node, prop, values)

    def _add(self, node: _Expanded, prop: str, values: list[_Expanded]) -> None:
        present = node.setdefault(prop, [])
        # The reader refuses an operand that is there twice, so it has to see both.
        present += values if prop in LOGICAL else [one for one in values if one not in present]

    def _distinct(self, objects: tuple[Term, ...]) -> tuple[Term, ...]:
        """Return terms without those that go by the name of an earlier one."""
        first_by_name: dict[Term, Term] = {}
        for one in objects:
            first_by_name.setdefault(
                one if isinstance(one, Literal) else self._graph.name(one), one
            )
        return tuple(first_by_name.values())

    def _ordered(self, term: Term) -> _Expanded:
        """Return a value, a list as one."""
        if not self._graph.is_list(term):
            return self._value(term)
        return {"@list": [self._value(one) for one in self._graph.members(term)]}

    def _value(self, term: Term) -> _Expanded:
        if not isinstance(term, Literal):
            return {"@id": self._graph.name(term)}
        if term.language:
            return {"@value": term.text, "@language": term.language}
        return {"@value": term.text} | ({} if term.type == STRING else {"@type": term.type})


def _is_policy(node: _Expanded) -> bool:
    return bool(_OF_POLICIES & node.keys() or _POLICIES & {*node.get("@type", ())})
