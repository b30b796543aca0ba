"""RDF statements, each with its place in the text (RDF 1.1 Concepts, section 3)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from policy_engine import terms
from policy_engine.errors import DataError, Place, PolicyEngineError, Problem
from policy_engine.terms import is_absolute, relative_iri_problem

STRING = f"{terms.XSD}string"
TYPE = f"{terms.RDF}type"
FIRST, REST, NIL = (f"{terms.RDF}{name}" for name in ("first", "rest", "nil"))

Spot = tuple[int, int]
"""A line and a column, from 1; 0 is unknown."""
UNKNOWN: Spot = (0, 0)

_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)


class Literal(NamedTuple):
    """A literal: its text as it is written, the IRI of its type, and its language if any."""

    text: str
    type: str = STRING
    language: str = ""


Term = str | Literal
"""An IRI, a blank node (`_:b0`), or a literal."""


class Statement(NamedTuple):
    """One triple; `key` and `spot` are the places of its predicate and its object."""

    subject: str
    predicate: str
    value: Term
    key: Spot = UNKNOWN
    spot: Spot = UNKNOWN


@dataclass(frozen=True)
class Statements:
    """The statements of one text, each once, in its order.

    `spots` is where each subject first comes up, `prefixes` the namespaces by prefix. `repeated`
    are the statements that the text makes again, where it first does.
    """

    items: tuple[Statement, ...]
    spots: Mapping[str, Spot]
    prefixes: Mapping[str, str]
    text: str
    source: str = ""
    repeated: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Bounds:
    """How deep a text may be nested, how many statements it may have, how long its bases and the
    namespaces of its prefixes may be, which every name repeats, and how long a name may be."""

    depth: int
    statements: int
    namespace_characters: int = 2_000
    name_characters: int = terms.MOST_CHARACTERS


class Collector:
    """Collects the statements of a text; blank nodes are numbered in their order.

    A problem with the text is raised as an `error`.
    """

    def __init__(
        self,
        text: str,
        source: str,
        bounds: Bounds,
        error: type[PolicyEngineError] = DataError,
    ) -> None:
        self.text = text
        self.source = source
        self.bounds = bounds
        self.error = error
        self.prefixes: dict[str, str] = {}
        self.spots: dict[str, Spot] = {}
        self._statements: dict[tuple[str, str, Term], Statement] = {}
        self._repeated: dict[tuple[str, str, Term], Statement] = {}
        self._labels: dict[str, str] = {}
        self._iris: dict[str, str] = {}
        self._blanks = 0

    def statements(self) -> Statements:
        """Return the collected statements."""
        items, repeated = tuple(self._statements.values()), tuple(self._repeated.values())
        return Statements(items, self.spots, self.prefixes, self.text, self.source, repeated)

    def add_statement(
        self, subject: str, predicate: str, value: Term, key: Spot, spot: Spot
    ) -> None:
        """Add one statement. Raises the error (J003) where there are too many."""
        triple = (subject, predicate, value)
        there = self._repeated if triple in self._statements else self._statements
        there.setdefault(triple, Statement(*triple, key, spot))
        self.check_count(len(self._statements), spot)

    def check_count(self, count: int, spot: Spot) -> None:
        """Raise the error (J003) where there are more statements than are allowed."""
        if count > self.bounds.statements:
            allowed = f"{self.bounds.statements:,} are allowed."
            self.fail("J003", f"The text has too many statements. {allowed}", spot)

    def note_subject(self, subject: str, spot: Spot) -> None:
        """Note the place of a subject, if it is its first."""
        self.spots.setdefault(subject, spot)

    def blank(self, label: str = "") -> str:
        """Return a blank node: a new one, or the one of a label in the text."""
        if label in self._labels:
            return self._labels[label]
        node = f"_:b{self._blanks}"
        self._blanks += 1
        if label:
            self._labels[label] = node
        return node

    def iri(self, reference: str, base: str, spot: Spot) -> str:
        """Return an IRI in full, the same object each time: it may be long, and repeated often.

        Raises the error for a malformed (F001) or relative (L006) one.
        """
        iri = self._whole(reference, base, spot)
        return self._iris.setdefault(iri, iri)

    def _whole(self, reference: str, base: str, spot: Spot) -> str:
        character = _FORBIDDEN.search(reference)
        if character:
            reference_text = f"Given: {reference!r:.80}."
            message = f"The character {character[0]!r} is not allowed in an IRI. {reference_text}"
            self.fail("F001", message, spot)
        self.check_name(reference, spot)
        if is_absolute(reference):
            return reference
        if ":" in re.split("[/?#]", reference, maxsplit=1)[0]:
            self.fail("F001", f"{reference!r:.80} is not an IRI: its scheme is malformed.", spot)
        self.check_namespace(base, spot)
        iri = resolve(base, reference) if base else reference
        if not is_absolute(iri):
            message, hint = relative_iri_problem(iri)
            self.fail("L006", message, spot, hint)
        return iri

    def check_name(self, iri: str, spot: Spot) -> None:
        """Raise the error for a character that no IRI has (F001), and for a name that is too long
        or has too many combining marks in a row (J003)."""
        problem = terms.name_problem(iri, self.bounds.name_characters)
        if problem:
            code, message = problem
            self.fail(code, message, spot)

    def check_namespace(self, iri: str, spot: Spot) -> None:
        """Raise the error (J003) where a base or a namespace is too long to be repeated."""
        allowed = self.bounds.namespace_characters
        if len(iri) > allowed:
            message = f"The base or namespace {iri[:40] + '...'!r} is too long."
            self.fail("J003", f"{message} {allowed:,} characters are allowed.", spot)

    def check_depth(self, depth: int, spot: Spot) -> None:
        """Raise the error (J003) where a text is nested too deeply."""
        if depth > self.bounds.depth:
            message = f"The text is nested too deeply. {self.bounds.depth} levels are allowed."
            self.fail("J003", message, spot)

    def fail(self, code: str, message: str, spot: Spot, hint: str = "") -> NoReturn:
        """Raise the error with one problem at a spot."""
        raise self.error(Problem(code, message, hint, Place("", *spot)), source=self.source)


def is_blank(term: Term) -> bool:
    """Tell whether a term is a blank node."""
    return isinstance(term, str) and term.startswith("_:")


def resolve(base: str, reference: str) -> str:
    """Return what a relative reference means (RFC 3986, section 5.2.2), without a network."""
    scheme, host, path, query, _ = _parts(base)
    _, own_host, own_path, own_query, fragment = _parts(reference)
    if own_host is not None:
        host, path, query = own_host, terms.remove_dot_segments(own_path), own_query
    elif own_path.startswith("/"):
        path, query = terms.remove_dot_segments(own_path), own_query
    elif own_path:
        folder = path.rpartition("/")[0] + "/" if "/" in path or host else ""
        path, query = terms.remove_dot_segments(folder + own_path), own_query
    else:
        query = own_query or query
    authority = "" if host is None else f"//{host}"
    return f"{scheme}:{authority}{path}{query}{fragment}"


def _parts(iri: str) -> tuple[str, str | None, str, str, str]:
    scheme, host, path, query, fragment = _PARTS.fullmatch(iri).groups()  # type: ignore[union-attr]
    return scheme or "", host, path, query or "", fragment or ""
