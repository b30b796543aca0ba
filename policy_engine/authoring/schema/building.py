"""The building blocks of schemas for JSON-LD: single values and lists, objects, names of terms."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from policy_engine import terms
from policy_engine.policy.vocabulary import Vocabulary

Schema = dict[str, Any]

NAMES = ("@id", "uid")
"""The keys for the name of an object."""

TYPES = ("@type", "type")
"""The keys for its class."""

_SPACES = (terms.ODRL, terms.MOSAICROWN, terms.PE)
_UNTOLD = ("odrl:", terms.ODRL, terms.RDF)


def ref(name: str) -> Schema:
    """Return a reference to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def when(test: Schema, then: Schema, otherwise: Schema | None = None) -> Schema:
    """Return a schema that requires one thing or another, depending on a test."""
    return {"if": test, "then": then} | ({} if otherwise is None else {"else": otherwise})


def one_or_more(name: str, item: Schema, *, most: int | None = None) -> dict[str, Schema]:
    """Return the definition of a value or a list of values, also in a JSON-LD set or list."""
    count = {"minItems": 1} | ({"maxItems": most} if most else {})
    is_list_object = {"type": "object", "anyOf": [{"required": ["@set"]}, {"required": ["@list"]}]}
    inner = {"properties": {"@set": ref(name), "@list": ref(name)}, "maxProperties": 1}
    single = when(is_list_object, inner, item)
    return {name: when({"type": "array"}, {**count, "items": ref(name)}, single)}


def object_schema(keys: Mapping[str, str], *rules: Schema) -> Schema:
    """Return the schema of an object with these properties, by IRI, each with its definition.

    A key may be a term of the contexts, a compact IRI, or a full IRI; keys in other namespaces are
    not checked. `rules` are further requirements.
    """
    properties: Schema = {"@id": {"description": "The IRI that names it.", **ref("anyName")}}
    properties |= {"uid": properties["@id"]}
    properties |= {key: {"description": "The class that it belongs to."} for key in TYPES}
    for iri, definition in keys.items():
        if not is_deprecated(iri):
            properties |= {
                name: {**term_description(iri), **ref(definition)} for name in spellings(iri)
            }
    patterns: Schema = {}
    for definition in dict.fromkeys(keys.values()):
        same_definition = [iri for iri, one in keys.items() if one == definition]
        for text_too in (False, True):
            iris = [iri for iri in same_definition if _takes_text(iri) is text_too]
            no_text: Schema = {} if text_too else {"not": {"type": "string"}}
            compact = [iri for iri in iris if terms.compact(iri) in _names_by_iri().get(iri, ())]
            others = [iri for iri in iris if iri not in compact]
            schema = {**no_text, **ref(definition)}
            patterns |= {term_pattern(others): schema} if others else {}
            # What a context says of the compact name, it says of that alone.
            patterns |= {f"^({'|'.join(map(_escape, compact))})$": schema} if compact else {}
    return {
        "type": "object",
        "properties": properties,
        "patternProperties": {**patterns, foreign_pattern(terms.RDF + "value"): True},
        "additionalProperties": False,
        "dependentSchemas": excludes("uid", "@id") | excludes("type", "@type"),
        **({"allOf": list(rules)} if rules else {}),
    }


def odrl_properties(**keys: str) -> dict[str, str]:
    """Return properties of ODRL by IRI, each with the definition of its values."""
    return {f"{terms.ODRL}{name}": definition for name, definition in keys.items()}


def excludes(key: str, *others: str) -> Schema:
    """Return the rule that a key excludes some others, in the form of dependent schemas."""
    return {key: {"properties": dict.fromkeys(others, False)}}


def requires(*keys: str) -> Schema:
    """Return the rule that an object has these keys.

    An object with nothing but a name may refer to a node elsewhere in the text, and where keys are
    full IRIs, the terms do not tell.
    """
    return when(described_object(), {"required": list(keys)})


def described_object() -> Schema:
    """Return the schema of an object with more than a name, and whose keys are terms."""
    return {
        "type": "object",
        "propertyNames": {"not": {"pattern": f"^({'|'.join(map(_escape, _UNTOLD))})"}},
        "not": {"propertyNames": {"enum": list(NAMES)}},
    }


# -- terms ----------------------------------------------------------------------------------------


def term_description(iri: str) -> Schema:
    """Return the definition of a term for editors."""
    term = terms.vocabulary().get(iri)
    return {"description": term.definition} if term and term.definition else {}


def is_deprecated(iri: str) -> bool:
    """Return whether policies should no longer use a term."""
    term = terms.vocabulary().get(iri)
    return bool(term and term.facts.get("deprecated"))


def spellings(iri: str) -> tuple[str, ...]:
    """Return the best spellings of a term: its names in the contexts, else its compact IRI."""
    return _names_by_iri().get(iri) or (terms.compact(iri),)


@cache
def _names_by_iri() -> Mapping[str, tuple[str, ...]]:
    names_by_iri: dict[str, dict[str, None]] = {}
    for document in terms.bundled_contexts().values():
        for name, entry in document["@context"].items():
            if not name.startswith("@"):
                iri = terms.expand(entry if isinstance(entry, str) else entry["@id"])
                names_by_iri.setdefault(iri, {})[name] = None
    return {iri: tuple(names) for iri, names in names_by_iri.items()}


def _takes_text(iri: str) -> bool:
    """Return whether a text under a property, given by its IRI, may be more than a literal.

    Only a term of a context can say that its texts are names; a compact IRI cannot.
    """
    entries = [
        document["@context"][name]
        for document in terms.bundled_contexts().values()
        for name in spellings(iri)
        if name in document["@context"]
    ]
    return not any(isinstance(entry, dict) and "@type" in entry for entry in entries)


def term_pattern(iris: Iterable[str]) -> str:
    """Return the pattern of terms as compact IRIs and as full IRIs."""
    by_space: dict[str, list[str]] = {}
    for iri in iris:
        space = next((one for one in terms.PREFIXES.values() if iri.startswith(one)), "")
        by_space.setdefault(space, []).append(_escape(iri.removeprefix(space)))
    parts = [f"{_space(space)}({'|'.join(names)})" for space, names in by_space.items()]
    return f"^({'|'.join(parts)})$"


def one_of_terms(*iris: str) -> Schema:
    """Return the schema of the name of one of these terms, in any spelling."""
    names = [_escape(name) for iri in iris for name in spellings(iri)]
    return {"type": "string", "pattern": f"^({'|'.join(names)})$|{term_pattern(iris)}"}


def foreign_pattern(*others: str) -> str:
    """Return the pattern of IRIs in namespaces with unknown terms.

    The given terms are excluded.
    """
    ours = [_space(space) for space in _SPACES]
    ours += [f"{term_pattern([iri])[1:]}" for iri in others]
    return f"^(?!_:|{'|'.join(ours)})[^:/?#]+:"


def term_schema(
    iris: Iterable[str], *, or_foreign: bool = False, own: Iterable[Schema] = ()
) -> Schema:
    """Return the schema of the name of one of these terms, each with its description.

    `own` are the names of terms beyond the language, as `vocabulary_terms` returns them.
    """
    terms_ = list(iris)
    options: list[Schema] = [
        {"const": name, **term_description(iri)} for iri, name in _current_names(terms_)
    ]
    options += own
    options.append({"type": "string", "pattern": term_pattern(terms_)})
    if or_foreign:
        options.append({"type": "string", "pattern": foreign_pattern()})
    return {"anyOf": options}


def vocabulary_terms(own: Mapping[str, terms.Term], vocabulary: Vocabulary) -> list[Schema]:
    """Return the schemas of names of a vocabulary's terms, each with its description."""
    return [
        {"const": name, **({"description": term.definition} if term.definition else {})}
        for iri, term in own.items()
        for name in own_names(iri, vocabulary)
    ]


def own_names(iri: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the spellings of a vocabulary's term: short, compact and full."""
    short = [name for name, one in vocabulary.names.items() if one == iri]
    return tuple(dict.fromkeys((*short, terms.compact(iri), iri)))


def _current_names(iris: Iterable[str]) -> Iterator[tuple[str, str]]:
    for iri in iris:
        if not is_deprecated(iri):
            yield from ((iri, name) for name in spellings(iri))


def _space(space: str) -> str:
    prefix = next((name for name, one in terms.PREFIXES.items() if one == space), "")
    return f"({prefix}:|{_escape(space)})" if space else ""


def _escape(text: str) -> str:
    """Return a text as a pattern; ECMA-262 has no escape for characters that need none."""
    return re.sub(r"([.*+?^${}()|\[\]\\])", r"\\\1", text)
