"""A text of RDF as a graph that can be walked, whatever its format."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from policy_engine import terms
from policy_engine.data.rdf.statements import (
    FIRST,
    NIL,
    REST,
    TYPE,
    UNKNOWN,
    Literal,
    Spot,
    Term,
    is_blank,
)
from policy_engine.decision.compliance.parsing import statements
from policy_engine.errors import Place, PolicyEngineError, PolicyError, Problem
from policy_engine.policy.collecting.files import read_file
from policy_engine.policy.syntax.json_ld import MAX_PROBLEMS
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits

Source: TypeAlias = str | bytes | Path
"""An RDF text or its file. A string is a text if it has a line break, `<` or `{`."""


@dataclass(frozen=True)
class StatementGraph:
    """The statements of a text, by subject and predicate, in its order.

    Lists are replaced by their members. Blank nodes get names derived from the role of the text, so
    that those of two texts stay different.
    """

    about: Mapping[str, Mapping[str, tuple[Term, ...]]]
    text: bytes = b""
    source: str = ""
    spots: Mapping[tuple[Term, ...], Spot] = field(default_factory=dict, repr=False)
    """The first position of a subject, of a subject and predicate, or of a whole statement."""

    def objects(self, node: Term, *predicates: str) -> tuple[Term, ...]:
        """Return the values of a node under any of the predicates."""
        properties = self.about.get(node, {}) if isinstance(node, str) else {}
        return tuple(
            one
            for prop in predicates
            for value in properties.get(prop, ())
            for one in self._members(value)
        )

    def name(self, node: str) -> str:
        """Return the one spelling of a node's name; for a blank node, its `odrl:uid`, if any."""
        uids = self.nodes(node, f"{terms.ODRL}uid") if is_blank(node) else ()
        return terms.canonical(uids[0] if uids else node)

    def spot(self, *statement: Term) -> Spot:
        """Return the first position of a subject, of a subject and predicate, or of a statement."""
        return self.spots.get(statement, UNKNOWN)

    @cached_property
    def written(self) -> Mapping[str, str]:
        """The nodes of the text as first written, by name."""
        objects = (one for of in self.about.values() for values in of.values() for one in values)
        nodes = [*self.about, *(one for one in objects if isinstance(one, str))]
        return {self.name(node): node for node in reversed(nodes)}

    def is_list(self, node: str, predicate: str) -> bool:
        """Return whether the value of a node under a predicate is a single list."""
        values = self.about[node][predicate]
        return len(values) == 1 and self._is_list(values[0])

    def nodes(self, node: Term, *predicates: str) -> tuple[str, ...]:
        """Return the IRIs and blank nodes among the objects."""
        return tuple(one for one in self.objects(node, *predicates) if isinstance(one, str))

    def types(self, node: str) -> tuple[str, ...]:
        """Return the classes of a node."""
        return self.nodes(node, TYPE)

    def having(self, predicate: str) -> tuple[str, ...]:
        """Return the nodes that have a predicate."""
        return tuple(dict.fromkeys(node for node, _ in self._pairs.get(predicate, ())))

    def subjects(self, predicate: str, value: str) -> tuple[str, ...]:
        """Return the nodes with this value of a predicate."""
        return self._subjects.get((predicate, value), ())

    def typed(self, kinds: Iterable[str]) -> tuple[str, ...]:
        """Return the nodes of any of the classes."""
        nodes = (node for kind in kinds for node in self.subjects(TYPE, kind))
        return tuple(dict.fromkeys(nodes))

    def edges(self, *predicates: str) -> Iterator[tuple[str, str]]:
        """Yield the pairs of nodes joined by a predicate, in their canonical spelling."""
        for predicate in predicates:
            for node, other in self._pairs.get(predicate, ()):
                if isinstance(other, str):
                    yield terms.canonical(node), terms.canonical(other)

    @cached_property
    def _pairs(self) -> Mapping[str, list[tuple[str, Term]]]:
        pairs: dict[str, list[tuple[str, Term]]] = {}
        for node, properties in self.about.items():
            # Otherwise the rest of a list would be reported again at each of its nodes.
            for predicate in properties.keys() - {FIRST, REST}:
                node_pairs = ((node, value) for value in self.objects(node, predicate))
                pairs.setdefault(predicate, []).extend(node_pairs)
        return pairs

    @cached_property
    def _subjects(self) -> Mapping[tuple[str, Term], tuple[str, ...]]:
        subjects: dict[tuple[str, Term], list[str]] = {}
        for predicate, pairs in self._pairs.items():
            for node, value in pairs:
                subjects.setdefault((predicate, value), []).append(node)
        return {key: tuple(nodes) for key, nodes in subjects.items()}

    def broken_lists(self) -> Iterator[Spot]:
        """Yield the positions of lists that do not have one member and one rest at each node."""
        ends: dict[Term, bool] = {NIL: True}
        for node, properties in self.about.items():
            for predicate in properties.keys() - {REST}:
                for value in filter(self._is_list, properties[predicate]):
                    if not self._is_whole(value, ends):
                        yield self.spot(node, predicate, value)

    def _is_whole(self, value: Term, ends: dict[Term, bool]) -> bool:
        """Return whether a list ends; `ends` has the answers for cells already visited."""
        cells: list[Term] = []
        while value not in ends:
            ends[value] = False
            cells.append(value)
            properties = self.about.get(value, {}) if isinstance(value, str) else {}
            if any(len(properties.get(part, ())) != 1 for part in (FIRST, REST)):
                break
            [value] = properties[REST]
        ends.update(dict.fromkeys(cells, ends[value]))
        return ends[value]

    def _is_list(self, value: Term) -> bool:
        return value == NIL or (isinstance(value, str) and FIRST in self.about.get(value, {}))

    def _members(self, value: Term) -> Iterator[Term]:
        visited: set[Term] = set()
        if not self._is_list(value):
            yield value
            return
        while isinstance(value, str) and value != NIL and value not in visited:
            visited.add(value)
            properties = self.about.get(value, {})
            yield from properties.get(FIRST, ())
            [value] = properties.get(REST, (NIL,))[:1]


def read_graph(
    given: Source,
    what: str,
    error: type[PolicyEngineError],
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> StatementGraph:
    """Read a text in Turtle, N-Triples, RDF/XML or JSON-LD, told by its suffix or its beginning.

    `what` names the text (policy, request, world) and is part of the names of its blank nodes.
    Raises DataError if there is no such file, and `error` for a text that cannot be read or has a
    broken list: no end or several ends, or not exactly one member at each node (F001).
    """
    path = _path(given)
    text = read_file(path) if path else given if isinstance(given, bytes) else _encoded(given)
    source = str(path) if path else ""
    try:
        statements_read = statements(text, path, contexts or {}, limits)
    except PolicyError as problem:
        raise error(*problem.problems, source=source) from None
    about: dict[str, dict[str, list[Term]]] = {}
    spots: dict[tuple[Term, ...], Spot] = {}
    for one in statements_read:
        subject = _named(one.subject, what)
        value = one.value if isinstance(one.value, Literal) else _named(one.value, what)
        about.setdefault(subject, {}).setdefault(one.predicate, []).append(value)
        spots.setdefault((subject,), one.key)
        spots.setdefault((subject, one.predicate), one.key)
        spots.setdefault((subject, one.predicate, value), one.spot)
    frozen = {node: {p: tuple(objects) for p, objects in of.items()} for node, of in about.items()}
    graph = StatementGraph(MappingProxyType(frozen), text, source, spots)
    broken = [Place("", *spot) for spot in islice(graph.broken_lists(), MAX_PROBLEMS)]
    if broken:
        message = "A list needs one rdf:first and one rdf:rest at each node, and an end."
        raise error(*(Problem("F001", message, place=place) for place in broken), source=source)
    return graph


def _path(source: Source) -> Path | None:
    if isinstance(source, Path):
        return source
    is_text = isinstance(source, bytes) or not source.strip() or any(c in source for c in "\n\r<{")
    return None if is_text else Path(str(source))


def _encoded(source: Source) -> bytes:
    return str(source).encode("utf-8", errors="surrogatepass")


def _named(node: str, role: str) -> str:
    return f"_:{role}-{node.removeprefix('_:')}" if node.startswith("_:") else node
