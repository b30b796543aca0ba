"""The meaning of the keys and names of a JSON-LD text, as far as SKOS needs it.

Contexts at the top of the text are read: prefixes, terms with an IRI, a language
or a language map, `@vocab`, `@base`, `@language` and other names of keywords (JSON-LD 1.1,
section 4). Nothing is fetched: of contexts named by their IRI, that of SKOS is known.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

from policy_engine.data.taxonomy.concepts import CLASSES, SKOS, TERMS
from policy_engine.data.taxonomy.json_text import (
    Pointer,
    is_text,
    note_duplicate_key,
    place_at,
    pointer_text,
)
from policy_engine.data.taxonomy.problems import Problems, quote

IGNORED = "@null"
"""The meaning of a key that its context sets to null."""

_SKOS_CONTEXT = re.compile(r"https?://www\.w3\.org/2004/02/skos/core(\.jsonld)?#?")
_NAMES = TERMS | CLASSES
_MAX_IRI = 1_000
_HOPS = 3
_PARTS = {"@id", "@type", "@container", "@language", "@prefix", "@protected", "@index"}
_CONTAINERS = (None, "@language", "@list", "@set")
_SETTINGS = {"@base", "@vocab", "@language"}
_PLAIN = {"@version", "@protected"}
_READ = "A term is an IRI, or an object with @id, @type, @container or @language."


@dataclass
class ContextTerms:
    """The terms of a text: `terms` by name, with `languages` and those that are language maps.

    The values of `naming` are terms themselves (`"@type": "@vocab"`).
    """

    terms: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    maps: set[str] = field(default_factory=set)
    naming: set[str] = field(default_factory=set)
    settings: dict[str, str] = field(default_factory=dict)
    has_skos: bool = False
    _meanings: dict[str, str] = field(default_factory=dict)

    def key(self, name: str) -> str:
        """Return the keyword or the IRI that a key means, empty where it is unknown.

        Where a prefix of SKOS is declared, the names of SKOS need not be terms of their own.
        """
        if name not in self._meanings:
            self._meanings[name] = self._meaning(name)
        return self._meanings[name]

    def resource(self, name: str, key: str = "") -> str:
        """Return the IRI of a resource, of the value of a key if any is given.

        A relative one stays as it is where no `@base` is given.
        """
        if key in self.naming and (iri := self.key(name)) and not iri.startswith("@"):
            return iri
        if ":" in name:
            return self._expand(name)
        try:
            return urljoin(self.settings.get("@base", ""), name)
        except ValueError:
            return name

    def _meaning(self, name: str) -> str:
        if name in self.terms or name.startswith("@"):
            return self.terms.get(name, name)
        if ":" in name:
            return self._expand(name)
        if "@vocab" in self.settings:
            return self.settings["@vocab"] + name
        return SKOS + name if name in _NAMES and self.has_skos else ""

    def _expand(self, name: str) -> str:
        prefix, _, local = name.partition(":")
        is_prefix = prefix in self.terms and not local.startswith("//")
        return self.terms[prefix] + local if is_prefix else name


def read_context(context: Any, pointer: Pointer, problems: Problems) -> ContextTerms:
    """Return what a context, or a list of them, declares; note what cannot be read in it."""
    vocabulary = ContextTerms()
    several = isinstance(context, list)
    for index, one in enumerate(context if several else [context]):
        place = (pointer, str(index)) if several else pointer
        if isinstance(one, str):
            _add_skos_context(vocabulary, one, place, problems)
        elif isinstance(one, dict):
            note_duplicate_key(one, place, problems)
            _add(vocabulary, one, place, problems)
        elif one is not None:
            message = f"The context at {pointer_text(place)} is not an object: {quote(one)}."
            problems.add("T001", message, "", place_at(place))
    vocabulary.has_skos = SKOS in vocabulary.terms.values()
    return vocabulary


def _add_skos_context(
    vocabulary: ContextTerms, iri: str, pointer: Pointer, problems: Problems
) -> None:
    if _SKOS_CONTEXT.fullmatch(iri):
        vocabulary.terms |= {"skos": SKOS, **{name: SKOS + name for name in _NAMES}}
        return
    message = f"The context {quote(iri)} is not known, and nothing is fetched."
    hint = f'Write it out, as in {{"skos": "{SKOS}"}}.'
    problems.add("L001", message, hint, place_at(pointer))


def _add(
    vocabulary: ContextTerms, context: Mapping[str, Any], pointer: Pointer, problems: Problems
) -> None:
    iris = dict(_declared_terms(vocabulary, context, pointer, problems))
    every = {**vocabulary.terms, **iris}
    vocabulary.terms |= {name: _resolve(iri, every) for name, iri in iris.items()}


def _declared_terms(
    vocabulary: ContextTerms, context: Mapping[str, Any], pointer: Pointer, problems: Problems
) -> Iterator[tuple[str, str]]:
    """Yield every term with its IRI as written; settings go to the vocabulary at once."""
    for name, value in context.items():
        place = (pointer, name)
        parts = value if isinstance(value, dict) else {"@id": value}
        note_duplicate_key(parts, place, problems)
        if name in _PLAIN:
            continue
        if value is None:
            yield name, IGNORED
        elif name in _SETTINGS and is_text(value) and len(value) <= _MAX_IRI:
            vocabulary.settings[name] = value
        elif name.startswith("@") or not _is_readable(parts, name):
            message = (
                f"The definition at {pointer_text(place)} cannot be read here: {quote(value)}."
            )
            problems.add("T001", message, _READ, place_at(place))
        else:
            _note_values(vocabulary, name, parts)
            yield name, parts.get("@id", name)


def _is_readable(parts: Mapping[str, Any], name: str) -> bool:
    iri = parts.get("@id", name)
    return (
        parts.keys() <= _PARTS
        and is_text(iri)
        and len(iri) <= _MAX_IRI
        and parts.get("@container") in _CONTAINERS
        and isinstance(parts.get("@language") or "", str)
    )


def _note_values(vocabulary: ContextTerms, name: str, parts: Mapping[str, Any]) -> None:
    if parts.get("@container") == "@language":
        vocabulary.maps.add(name)
    vocabulary.naming.discard(name)
    if parts.get("@type") == "@vocab":
        vocabulary.naming.add(name)
    if "@language" in parts:
        vocabulary.languages[name] = parts["@language"] or ""


def _resolve(iri: str, terms: Mapping[str, str]) -> str:
    """Return the IRI that a definition resolves to, empty where there is none."""
    for _ in range(_HOPS):
        prefix, colon, local = iri.partition(":")
        if prefix not in terms or local.startswith("//") or terms[prefix] == iri:
            break
        iri = terms[prefix] + local if colon else terms[iri]
    return iri if ":" in iri or iri.startswith("@") else ""
