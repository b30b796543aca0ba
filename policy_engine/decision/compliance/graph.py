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
"""A text of RDF: its file, or itself. A string is a text where it has a line break, `<` or `{`."""


@dataclass(frozen=True)
class StatementGraph:
    """The statements of a text, by subject and predicate, in its order.

    Lists stand for their members. Blank nodes are named after what the text is, so that those
    of two texts stay two.
    """

    about: Mapping[str, Mapping[str, tuple[Term, ...]]]
    text: bytes = b""
    source: str = ""
    spots: Mapping[tuple[Term, ...], Spot] = field(default_factory=dict, repr=False)
    """Where the statements of a subject stand first, or of it and a predicate, or with a value."""

    def objects(self, node: Term, *predicates: str) -> tuple[Term, ...]:
        """Return what is said of a node under any of the predicates."""
        said = self.about.get(node, {}) if isinstance(node, str) else {}
        return tuple(
            one
            for prop in predicates
            for value in said.get(prop, ())
            for one in self._members(value)
        )

    def name(self, node: str) -> str:
        """Return what a node goes by, in one spelling: a blank one by its `odrl:uid`, if any."""
        named = self.nodes(node, f"{terms.ODRL}uid") if is_blank(node) else ()
        return terms.canonical(named[0] if named else node)

    def spot(self, *statement: Term) -> Spot:
        """Return where a subject stands first, or it and a predicate, or with a value."""
        return self.spots.get(statement, UNKNOWN)

    @cached_property
    def written(self) -> Mapping[str, str]:
        """The nodes of the text as they are first written, by what they go by."""
        said = (one for of in self.about.values() for values in of.values() for one in values)
        nodes = [*self.about, *(one for one in said if isinstance(one, str))]
        return {self.name(node): node for node in reversed(nodes)}

    def is_list(self, node: str, predicate: str) -> bool:
        """Tell whether what is said of a node under a predicate is one list."""
        values = self.about[node][predicate]
        return len(values) == 1 and self._is_list(values[0])

    def nodes(self, node: Term, *predicates: str) -> tuple[str, ...]:
        """Return the IRIs and blank nodes among the objects."""
        return tuple(one for one in self.objects(node, *predicates) if isinstance(one, str))

    def types(self, node: str) -> tuple[str, ...]:
        """Return the classes that a node is said to be of."""
        return self.nodes(node, TYPE)

    def having(self, predicate: str) -> tuple[str, ...]:
        """Return the nodes of which something is said under a predicate."""
        return tuple(dict.fromkeys(node for node, _ in self._pairs.get(predicate, ())))

    def subjects(self, predicate: str, value: str) -> tuple[str, ...]:
        """Return the nodes that have a value under a predicate."""
        return self._subjects.get((predicate, value), ())

    def typed(self, kinds: Iterable[str]) -> tuple[str, ...]:
        """Return the nodes that are of one of the classes."""
        found = (node for kind in kinds for node in self.subjects(TYPE, kind))
        return tuple(dict.fromkeys(found))

    def edges(self, *predicates: str) -> Iterator[tuple[str, str]]:
        """Yield the pairs of nodes that a predicate joins, in their canonical spelling."""
        for predicate in predicates:
            for node, other in self._pairs.get(predicate, ()):
                if isinstance(other, str):
                    yield terms.canonical(node), terms.canonical(other)

    @cached_property
    def _pairs(self) -> Mapping[str, list[tuple[str, Term]]]:
        pairs: dict[str, list[tuple[str, Term]]] = {}
        for node, said in self.about.items():
            # The rest of a list would be told once more at each of its links.
            for predicate in said.keys() - {FIRST, REST}:
                found = ((node, value) for value in self.objects(node, predicate))
                pairs.setdefault(predicate, []).extend(found)
        return pairs

    @cached_property
    def _subjects(self) -> Mapping[tuple[str, Term], tuple[str, ...]]:
        found: dict[tuple[str, Term], list[str]] = {}
        for predicate, pairs in self._pairs.items():
            for node, value in pairs:
                found.setdefault((predicate, value), []).append(node)
        return {key: tuple(nodes) for key, nodes in found.items()}

    def broken_lists(self) -> Iterator[Spot]:
        """Yield where lists are given that have not one member and one rest at each place."""
        known: dict[Term, bool] = {NIL: True}
        for node, said in self.about.items():
            for predicate in said.keys() - {REST}:
                for value in filter(self._is_list, said[predicate]):
                    if not self._is_whole(value, known):
                        yield self.spot(node, predicate, value)

    def _is_whole(self, value: Term, known: dict[Term, bool]) -> bool:
        """Tell whether a list ends; `known` are the cells that were looked at, each once."""
        cells: list[Term] = []
        while value not in known:
            known[value] = False
            cells.append(value)
            said = self.about.get(value, {}) if isinstance(value, str) else {}
            if any(len(said.get(part, ())) != 1 for part in (FIRST, REST)):
                break
            [value] = said[REST]
        known.update(dict.fromkeys(cells, known[value]))
        return known[value]

    def _is_list(self, value: Term) -> bool:
        return value == NIL or (isinstance(value, str) and FIRST in self.about.get(value, {}))

    def _members(self, value: Term) -> Iterator[Term]:
        seen: set[Term] = set()
        if not self._is_list(value):
            yield value
            return
        while isinstance(value, str) and value != NIL and value not in seen:
            seen.add(value)
            said = self.about.get(value, {})
            yield from said.get(FIRST, ())
            [value] = said.get(REST, (NIL,))[:1]


def read_graph(
    given: Source,
    what: str,
    error: type[PolicyEngineError],
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> StatementGraph:
    """Read a text in Turtle, N-Triples, RDF/XML or JSON-LD, by its suffix or how it begins.

    `what` names the text (policy, request, world); it is in the names of its blank nodes.
    Raises DataError where there is no such file, and `error` for what cannot be read, or has a
    list that has no end or several, or none or several members at a place (F001).
    """
    path = _path(given)
    text = read_file(path) if path else given if isinstance(given, bytes) else _encoded(given)
    source = str(path) if path else ""
    try:
        found = statements(text, path, contexts or {}, limits)
    except PolicyError as problem:
        raise error(*problem.problems, source=source) from None
    about: dict[str, dict[str, list[Term]]] = {}
    spots: dict[tuple[Term, ...], Spot] = {}
    for one in found:
        subject = _named(one.subject, what)
        value = one.value if isinstance(one.value, Literal) else _named(one.value, what)
        about.setdefault(subject, {}).setdefault(one.predicate, []).append(value)
        spots.setdefault((subject,), one.key)
        spots.setdefault((subject, one.predicate), one.key)
        spots.setdefault((subject, one.predicate, value), one.spot)
    frozen = {node: {p: tuple(said) for p, said in of.items()} for node, of in about.items()}
    graph = StatementGraph(MappingProxyType(frozen), text, source, spots)
    broken = [Place("", *spot) for spot in islice(graph.broken_lists(), MAX_PROBLEMS)]
    if broken:
        message = "A list has one member and one rest at each place, and an end. This one has not."
        raise error(*(Problem("F001", message, place=place) for place in broken), source=source)
    return graph


def _path(given: Source) -> Path | None:
    if isinstance(given, Path):
        return given
    is_text = isinstance(given, bytes) or not given.strip() or any(c in given for c in "\n\r<{")
    return None if is_text else Path(str(given))


def _encoded(given: Source) -> bytes:
    return str(given).encode("utf-8", errors="surrogatepass")


def _named(node: str, what: str) -> str:
    return f"_:{what}-{node.removeprefix('_:')}" if node.startswith("_:") else node
