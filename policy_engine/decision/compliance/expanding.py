"""A graph of statements as the expanded nodes that policies are read from: each at the top."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policy_engine import terms
from policy_engine.data.rdf.statements import FIRST, STRING, TYPE, UNKNOWN, Literal, Spot, Term
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.errors import Place
from policy_engine.policy.model import LOGICAL
from policy_engine.policy.structure import (
    INVERSE,
    KINDS,
    OTHER_POLICY_TYPES,
    POLICY_TYPES,
    RIGHT,
)
from policy_engine.policy.syntax.contexts import Context
from policy_engine.policy.syntax.json_ld import POINTER, Graph, Node
from policy_engine.policy.syntax.json_text import Document, escape

_UID, _DUTY = f"{terms.ODRL}uid", f"{terms.ODRL}duty"
_OBLIGATION = f"{terms.ODRL}obligation"
_OF_POLICIES = {f"{terms.ODRL}{name}" for name in (*KINDS, *POLICY_TYPES, *OTHER_POLICY_TYPES)}
"""What a policy has, or is."""
_IN_ORDER = {*LOGICAL, RIGHT}
"""What takes a list as a list; of other properties the members are values."""

_Expanded = dict[str, Any]


@dataclass(frozen=True)
class _Spotted(Document):
    """Nodes in the place of a JSON text; `spots` are where they stand in their own text."""

    spots: Mapping[str, Spot] = field(default_factory=dict, repr=False)

    def place(self, pointer: str, *, of_key: bool = False) -> Place:
        """Return where the statement stands that a value was made of, or else its subject."""
        del of_key
        node = "/".join(pointer.split("/")[:3])
        return Place("", *(self.spots.get(pointer) or self.spots.get(node, UNKNOWN)))


def expanded(graph: StatementGraph) -> Graph:
    """Return the nodes of a graph, those that have one name as one, in its order.

    Names are in one spelling. What is said by a property's inverse is said by that property
    (`odrl:assigneeOf`, of what it names), a policy's `odrl:duty` is an obligation, and a node that
    has no name but an `odrl:uid` goes by that; else `odrl:uid` says nothing.
    """
    flat = _Flat(graph)
    for subject in (one for one, said in graph.about.items() if FIRST not in said):
        flat.take(subject)
    for node in flat.nodes.values():
        flat.turn(node)
    found = tuple(Node(node, node[POINTER]) for node in flat.nodes.values())
    document = _Spotted({"@graph": [*flat.nodes.values()]}, "", {}, {}, (), [0], flat.spots)
    return Graph(found, (), document, (Context({}),))


class _Flat:
    """Takes up nodes one after another; `spots` are where they and their values stand."""

    def __init__(self, graph: StatementGraph) -> None:
        self.nodes: dict[str, _Expanded] = {}
        self.spots: dict[str, Spot] = {}
        self._graph = graph

    def take(self, subject: str) -> None:
        """Take up what is said of a node."""
        name = self._graph.name(subject)
        node = self.nodes.setdefault(name, {POINTER: f"/@graph/{len(self.nodes)}", "@id": name})
        self.spots.setdefault(node[POINTER], self._graph.spots.get((subject,), UNKNOWN))
        for prop in self._graph.about[subject]:
            if prop == TYPE:
                node.setdefault("@type", []).extend(
                    map(terms.canonical, self._graph.types(subject))
                )
            elif prop != _UID:
                self._values(node, subject, prop)

    def turn(self, node: _Expanded) -> None:
        """Say of a node by a property what it, or another one, says by another name for it."""
        if not _OF_POLICIES.isdisjoint((*node, *node.get("@type", ()))):
            self._add(node, _OBLIGATION, node.pop(_DUTY, []))
        for prop in INVERSE.keys() & node.keys():
            for other in node.pop(prop):
                known = self.nodes.get(other.get("@id", ""), {})
                self._add(known, INVERSE[prop], [{"@id": node["@id"]}])

    def _values(self, node: _Expanded, subject: str, predicate: str) -> None:
        prop = terms.canonical(predicate)
        said = self._graph.objects(subject, predicate)
        values = [self._value(one) for one in said]
        if prop in _IN_ORDER and self._graph.is_list(subject, predicate):
            values = [{"@list": values}]
        at = f"{node[POINTER]}/{escape(prop)}"
        self.spots.setdefault(at, self._graph.spots.get((subject, predicate), UNKNOWN))
        start = len(node.get(prop, ()))
        for step, one in enumerate(said, start):
            spot = self._graph.spots.get((subject, predicate, one), UNKNOWN)
            self.spots.setdefault(f"{at}/{step}", spot)
        self._add(node, prop, values)

    def _add(self, node: _Expanded, prop: str, values: list[_Expanded]) -> None:
        known = node.setdefault(prop, []) if values else []
        known += [one for one in values if one not in known]

    def _value(self, term: Term) -> _Expanded:
        if not isinstance(term, Literal):
            return {"@id": self._graph.name(term)}
        if term.language:
            return {"@value": term.text, "@language": term.language}
        return {"@value": term.text} | ({} if term.type == STRING else {"@type": term.type})
