"""A text of RDF as a graph that can be walked, whatever its format."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

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
from policy_engine.decision.compliance.names import ISSUED, REPLACED
from policy_engine.decision.compliance.parsing import statements
from policy_engine.errors import (
    Place,
    PolicyEngineError,
    PolicyError,
    Problem,
    RequestError,
    join_names,
)
from policy_engine.policy.collecting.files import read_file
from policy_engine.policy.structure import PURPOSE_PROPERTIES, VALUE, odrl_properties
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, MAX_PROBLEMS, Limits

UID = f"{terms.ODRL}uid"
_READ_BESIDE_ODRL = (terms.MOSAICROWN, terms.SOTW, terms.REPORT, VALUE, *PURPOSE_PROPERTIES)
_READ = (terms.ODRL, *_READ_BESIDE_ODRL)
"""The properties whose values are read, or the namespaces of those."""

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
            for one in self.members(value)
        )

    def name(self, node: str) -> str:
        """Return the one spelling of a node's name; for a blank node, its `odrl:uid`, if any."""
        return terms.canonical(self.written_name(node))

    def written_name(self, node: str) -> str:
        """Return a node's name as it is written; for a blank node, its `odrl:uid`, if any."""
        uids = self.nodes(node, UID) if is_blank(node) else ()
        return uids[0] if uids else node

    def values(self, node: str, *predicates: str) -> tuple[Term, ...]:
        """Return the values of a node, each once, with its nodes by their names as written."""
        return tuple(
            dict.fromkeys(
                one if isinstance(one, Literal) else self.written_name(one)
                for one in self.objects(node, *predicates)
            )
        )

    def spot(self, *statement: Term) -> Spot:
        """Return the first position of a subject, of a subject and predicate, or of a statement."""
        return self.spots.get(statement, UNKNOWN)

    @cached_property
    def written(self) -> Mapping[str, str]:
        """The names of the text as first written, by their one spelling."""
        objects = (one for of in self.about.values() for values in of.values() for one in values)
        nodes = [*self.about, *(one for one in objects if isinstance(one, str))]
        return {self.name(node): self.written_name(node) for node in reversed(nodes)}

    @cached_property
    def named(self) -> Mapping[str, tuple[str, ...]]:
        """The subjects of the text, in its order, by name."""
        nodes: dict[str, list[str]] = {}
        for node in self.about:
            nodes.setdefault(self.name(node), []).append(node)
        return {name: tuple(subjects) for name, subjects in nodes.items()}

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
        """Yield the names of the pairs of nodes joined by a predicate."""
        for predicate in predicates:
            for node, other in self._pairs.get(predicate, ()):
                if isinstance(other, str):
                    yield self.name(node), self.name(other)

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

    def has_more_members(self, most: int) -> bool:
        """Return whether the statements have more members of lists than that many together.

        A list that several have is written once, and read for each of them.
        """
        statements = (pair for of in self.about.values() for pair in of.items())
        values = (value for prop, values in statements if prop != REST for value in values)
        cells = (cell for value in values for cell in self._cells(value))
        return next(islice(cells, most, None), None) is not None

    def broken_lists(self) -> Iterator[Spot]:
        """Yield the positions of lists that do not have one member and one rest at each node."""
        ends: dict[Term, bool] = {NIL: True}
        for node, properties in self.about.items():
            for predicate in properties.keys() - {REST}:
                for value in filter(self.is_list, properties[predicate]):
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

    def name_problems(self) -> Iterator[Problem]:
        """Yield the problems of nodes that `odrl:uid` does not give exactly one name, an IRI."""
        for node in (one for one, of in self.about.items() if UID in of):
            uids = self.objects(node, UID)
            names = {terms.canonical(one) for one in uids if isinstance(one, str)}
            is_iri = all(isinstance(one, str) and not is_blank(one) for one in uids)
            is_name = is_iri and len(names) == 1
            if is_name and (is_blank(node) or self.name(node) in names):
                continue
            whose, allowed = "a nameless object", "one IRI"
            if not is_blank(node):
                whose, allowed = repr(node), "its own name"
            names_text = join_names(dict.fromkeys(map(format_term, uids))) if uids else "nothing"
            message = f"The odrl:uid of {whose} must be {allowed}. Given: {names_text}."
            yield Problem("P007", message, place=Place("", *self.spot(node, UID)))

    def class_problems(self) -> Iterator[Problem]:
        """Yield the problems of classes that are not IRIs: texts, which no reader would see."""
        for node, properties in self.about.items():
            for kind in properties.get(TYPE, ()):
                if isinstance(kind, Literal) or self.is_list(kind):
                    class_text = "a list" if self.is_list(kind) else repr(format_term(kind))
                    message = f"The class of {node!r} must be an IRI. Given: {class_text:.40}."
                    yield Problem("P007", message, place=Place("", *self.spot(node, TYPE, kind)))

    def empty_lists(self) -> Iterator[Problem]:
        """Yield the problems of empty lists as values of properties that are read."""
        for node, properties in self.about.items():
            for prop in properties:
                if NIL in properties[prop] and prop != UID and _is_read(prop):
                    message = f"{terms.compact(prop)} may not be an empty list."
                    place = Place("", *self.spot(node, prop, NIL))
                    yield Problem("P007", message, place=place)

    def nested_lists(self) -> Iterator[Problem]:
        """Yield the problems of lists in lists, as values of properties that are read."""
        for properties in self.about.values():
            for prop in (one for one in properties if one.startswith(_READ)):
                cells = (cell for value in properties[prop] for cell in self._cells(value))
                for cell in cells:
                    for member in filter(self.is_list, self.about[cell][FIRST]):
                        message = f"{terms.compact(prop)} may not have a list in a list."
                        place = Place("", *self.spot(cell, FIRST, member))
                        yield Problem("P007", message, place=place)

    def is_list(self, value: Term) -> bool:
        """Return whether a value is a list."""
        return value == NIL or (isinstance(value, str) and FIRST in self.about.get(value, {}))

    def members(self, value: Term) -> Iterator[Term]:
        """Yield the members of a list, or what is not a list itself."""
        if not self.is_list(value):
            yield value
        for cell in self._cells(value):
            yield from self.about[cell].get(FIRST, ())

    def _cells(self, value: Term) -> Iterator[str]:
        """Yield the nodes of a list; nothing for a value that is not one."""
        visited: set[Term] = {NIL}
        while isinstance(value, str) and value not in visited and self.is_list(value):
            visited.add(value)
            yield value
            [value] = self.about[value].get(REST, (NIL,))[:1]


def read_graph(
    text_or_path: Source,
    what: str,
    error: type[PolicyEngineError],
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> StatementGraph:
    """Read a text in Turtle, N-Triples, RDF/XML or JSON-LD, told by its suffix or its beginning.

    `what` names the text (policy, request, world) and is part of the names of its blank nodes.
    The names of properties and classes have one spelling. Raises DataError if there is no such
    file, and `error` for a text that cannot be read, for a broken list: no end or several ends, or
    not exactly one member at each node (F001), too many members of lists (J003), and for a node
    with several names, a class that is not an IRI, and an empty list or a list in a list (P007).
    """
    path = _path(text_or_path)
    text = (
        read_file(path)
        if path
        else text_or_path
        if isinstance(text_or_path, bytes)
        else _encoded(text_or_path)
    )
    source = str(path) if path else ""
    try:
        statements_read = statements(text, path, contexts or {}, limits)
    except PolicyError as problem:
        raise error(*problem.problems, source=source) from None
    about: dict[str, dict[str, list[Term]]] = {}
    spots: dict[tuple[Term, ...], Spot] = {}
    for one in statements_read:
        subject, predicate = _named(one.subject, what), terms.canonical(one.predicate)
        value = one.value if isinstance(one.value, Literal) else _named(one.value, what)
        if predicate == TYPE and isinstance(value, str):
            value = terms.canonical(value)
        if (subject, predicate, value) in spots:
            continue
        about.setdefault(subject, {}).setdefault(predicate, []).append(value)
        spots.setdefault((subject,), one.key)
        spots.setdefault((subject, predicate), one.key)
        spots[subject, predicate, value] = one.spot
    frozen = {node: {p: tuple(objects) for p, objects in of.items()} for node, of in about.items()}
    graph = StatementGraph(MappingProxyType(frozen), text, source, spots)
    broken = [Place("", *spot) for spot in islice(graph.broken_lists(), MAX_PROBLEMS)]
    if broken:
        message = "A list needs one rdf:first and one rdf:rest at each node, and an end."
        raise error(*(Problem("F001", message, place=place) for place in broken), source=source)
    if graph.has_more_members(limits.values):
        message = f"The lists have too many values. {limits.values:,} are allowed."
        raise error(Problem("J003", message), source=source)
    wrong = chain(
        *(graph.name_problems(), graph.class_problems()),
        *(graph.empty_lists(), graph.nested_lists()),
    )
    if problems := [*islice(wrong, MAX_PROBLEMS)]:
        raise error(*problems, source=source)
    return graph


def refuse(graph: StatementGraph, message: str, hint: str = "") -> NoReturn:
    """Refuse a request or a state of the world. Raises RequestError (D003)."""
    raise RequestError.of("D003", message, hint, graph.source)


def _is_read(prop: str) -> bool:
    """Return whether a property is one that policies, requests or worlds use."""
    is_odrl = prop.startswith(terms.ODRL) and prop.removeprefix(terms.ODRL) in odrl_properties()
    return is_odrl or prop in (ISSUED, REPLACED) or prop.startswith(_READ_BESIDE_ODRL)


def format_term(term: Term) -> str:
    """Return a term as a message shows it."""
    return term.text if isinstance(term, Literal) else term


def _path(source: Source) -> Path | None:
    if isinstance(source, Path):
        return source
    is_text = isinstance(source, bytes) or not source.strip() or any(c in source for c in "\n\r<{")
    return None if is_text else Path(str(source))


def _encoded(source: Source) -> bytes:
    return str(source).encode("utf-8", errors="surrogatepass")


def _named(node: str, role: str) -> str:
    return f"_:{role}-{node.removeprefix('_:')}" if node.startswith("_:") else node
