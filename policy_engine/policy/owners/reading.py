"""Owners from what a person writes: a JSON object, or a catalog in a syntax of RDF."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from policy_engine import terms
from policy_engine.errors import (
    Place,
    PolicyError,
    Problem,
    RequestError,
    did_you_mean,
    join_names,
    place_order,
)
from policy_engine.policy import Policy, read_file
from policy_engine.policy.naming import Names
from policy_engine.policy.owners.described import catalog_of, read_catalog
from policy_engine.policy.owners.model import Owners, OwnerStatement
from policy_engine.policy.syntax.detection import syntax_of
from policy_engine.policy.syntax.json_text import Document, escape, read_valid_json

OwnersSource = str | Path | Mapping[str, Any] | Owners
"""Owners: the path of their file, their JSON as Python has it, or read already."""

_KEYS = ("owner", "delegates", "regulators", "partOf")


def load_owners(
    source: OwnersSource | None,
    policies: Sequence[Policy] = (),
    contexts: Mapping[str, Any] | None = None,
) -> Owners:
    """Return owners from their source; without one, nobody is stated to own anything.

    Raises as `read_owners`, and DataError where the file does not exist.
    """
    if source is None:
        return Owners()
    if isinstance(source, Owners):
        return source
    if isinstance(source, Mapping):
        return read_owners(source, policies=policies, contexts=contexts)
    return read_owners(read_file(Path(source)), str(source), policies, contexts)


def read_owners(
    content: str | bytes | Mapping[str, Any],
    source: str = "",
    policies: Sequence[Policy] = (),
    contexts: Mapping[str, Any] | None = None,
) -> Owners:
    """Return who owns which asset from JSON, as text or as Python has it, or from a catalog.

    The JSON is an object of owners by asset: {asset: party}, or {asset: {"owner": party,
    "delegates": [...], "regulators": [...], "partOf": [...]}}, where each but one may be left
    out. Names are IRIs, or short names as they are in the policies. A text with a `@context`, or
    in another syntax of RDF, is a catalog (`read_catalog`). Raises RequestError (D004) with all
    that is wrong, each with its place: what is not a whole IRI, and what is stated of one asset
    twice.
    """
    if not isinstance(content, Mapping):
        raw = content.encode() if isinstance(content, str) else content
        syntax = syntax_of(source, raw)
        document = _document(raw, source) if syntax == "json-ld" else None
        if document is None or _is_linked(document.value):
            return read_catalog(raw, source, contexts, syntax)
        return _Reader(document.value, source, policies, document).owners()
    if _is_linked(content):
        return catalog_of(content, contexts)
    return _Reader(content, source, policies, None).owners()


def _is_linked(value: Any) -> bool:
    tops = value if isinstance(value, list) else [value]
    return any(isinstance(top, Mapping) and {"@context", "@graph"} & top.keys() for top in tops)


def _document(raw: bytes, source: str) -> Document:
    try:
        return read_valid_json(raw, source)
    except PolicyError as error:
        document = (
            replace(one, code="D004", message=f"{_NOT_JSON} {one.message}")
            for one in error.problems
        )
        raise RequestError(*document, source=source) from None


_NOT_JSON = "The owners are not JSON."


class _Reader:
    """Reads one object of owners; `problems` grow on the way."""

    def __init__(
        self, value: Any, source: str, policies: Sequence[Policy], document: Document | None
    ) -> None:
        self.value = value
        self.source = source
        self.names = Names(policies)
        self.document = document
        self.problems: list[Problem] = []

    def owners(self) -> Owners:
        if not isinstance(self.value, Mapping) or not self.value:
            message = "Owners are an object that says of some asset who owns it, {asset: party}."
            self._add(message, f"Given: {'an empty one' if self.value == {} else 'none'}.")
        else:
            statements = {one.asset: one for one in self._statements(self.value)}
        if self.problems:
            raise RequestError(*sorted(self.problems, key=place_order), source=self.source)
        return Owners(tuple(statements.values()), self.source)

    def _statements(self, statements: Mapping[Any, Any]) -> Iterator[OwnerStatement]:
        first: dict[str, Any] = {}
        for name, value in statements.items():
            asset = self._iri(name, "target", name, of_key=True)
            if not asset:
                continue
            if asset in first:
                hint = f"It is {first[asset]!r} before."
                self._add(f"{asset!r} is described twice.", hint, name, of_key=True)
                continue
            first[asset] = name
            yield from self._statement(asset, name, value)

    def _statement(self, asset: str, name: str, value: Any) -> Iterator[OwnerStatement]:
        place = self._place(name, of_key=True)
        if isinstance(value, str):
            owner = self._iri(value, "assignee", name)
            yield OwnerStatement(asset, (owner,) if owner else (), place=place)
            return
        if not isinstance(value, Mapping) or not value:
            message = f"What is stated of {asset!r} is the IRI of its owner, or an object."
            self._add(message, f"The object has {join_names(_KEYS)}.", name)
            return
        for key in (key for key in value if key not in _KEYS):
            message = f"Of an asset, {join_names(_KEYS)} are stated. Given: {key!r}."
            self._add(message, did_you_mean(str(key), _KEYS), name, key, of_key=True)
        owners, delegates, regulators, within = (self._several(value, name, key) for key in _KEYS)
        if len(owners) > 1 or isinstance(value.get("owner"), list | tuple):
            self._add(f"{asset!r} has one owner, a party.", "", name, "owner")
        yield OwnerStatement(asset, owners, "", delegates, regulators, within, place=place)

    def _several(self, members: Mapping[str, Any], name: str, key: str) -> tuple[str, ...]:
        if key not in members:
            return ()
        value, role = members[key], "target" if key == "partOf" else "assignee"
        if not isinstance(value, list | tuple):
            iris = [self._iri(value, role, name, key)]
        else:
            iris = [self._iri(one, role, name, key, n) for n, one in enumerate(value)]
        return tuple(dict.fromkeys(filter(None, iris)))

    def _iri(self, name: Any, role: str, *way: str | int, of_key: bool = False) -> str:
        """Return a name in full; note a problem and return an empty text where it is not one."""
        if not isinstance(name, str):
            self._add("A name here is a text, an IRI.", f"Given: a {type(name).__name__}.", *way)
            return ""
        problem = terms.name_problem(name)
        if problem:
            self._add(problem[1], "", *way, of_key=of_key)
            return ""
        iri = self.names.full(name, role)
        if not terms.has_known_scheme(iri):
            message = f"{name!r} is neither a whole IRI nor a term of the contexts."
            self._add(message, "Write the whole IRI, such as http://...", *way, of_key=of_key)
            return ""
        if role == "target" and terms.count_levels(iri) > terms.MOST_LEVELS:
            message = f"The IRI of an asset has {terms.count_levels(iri):,} levels."
            self._add(message, f"Allowed are {terms.MOST_LEVELS}.", *way, of_key=of_key)
            return ""
        return iri

    def _place(self, *way: str | int, of_key: bool = False) -> Place:
        pointer = "".join(f"/{escape(str(step))}" for step in way)
        return self.document.place(pointer, of_key=of_key) if self.document else Place(pointer)

    def _add(self, message: str, hint: str, *way: str | int, of_key: bool = False) -> None:
        self.problems.append(Problem("D004", message, hint, self._place(*way, of_key=of_key)))
