"""What an expansion of JSON-LD would drop, collide on or misplace: each is a problem here."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policy_engine import terms
from policy_engine.errors import Problem, did_you_mean, join_names, nearest
from policy_engine.policy.syntax.contexts import (
    Context,
    Definition,
    is_compact,
    name_like_text,
    replacement_fix,
    undeclared_prefix,
)
from policy_engine.policy.syntax.expanded_values import (
    NAMELESS_TEXT,
    PREFIXED_NAME,
    RIGHT,
    STRING_TYPE,
    operand_definition,
)
from policy_engine.policy.syntax.json_text import Document, escape
from policy_engine.policy.syntax.patience import check_awaited

_LANGUAGE = re.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")  # BCP 47, section 2.1, in outline
_KEYWORDS = ("@context", "@graph", "@id", "@language", "@list", "@set", "@type", "@value")
_TOP_ONLY = ("@context", "@graph")
_SHAPING = frozenset(("@graph", "@language", "@list", "@set", "@value"))
"""The keywords that say what an object is, or where it may be."""
_NAME_TYPES = frozenset(("@id", "@vocab", PREFIXED_NAME, NAMELESS_TEXT))
"""How strings are read in which something can be wrong."""


def value_problems(
    document: Document, value: Any, pointer: str, context: Context, definition: Definition
) -> Iterator[Problem]:
    """Yield what is wrong with a value of a term."""
    if value is None:
        message = "JSON-LD ignores a null, so a text may not hold one."
        hint = "Remove the key or give it a value."
        yield Problem("P007", message, hint, document.place(pointer))
    elif value == []:
        message = "An empty list says nothing, so a text may not hold one."
        hint = "Remove the key or give it a value."
        yield Problem("P007", message, hint, document.place(pointer))
    elif isinstance(value, list):
        for step, item in enumerate(value):
            yield from value_problems(document, item, f"{pointer}/{step}", context, definition)
    elif isinstance(value, dict):
        yield from object_problems(document, value, pointer, context, definition)
    elif isinstance(value, str) and definition.type == PREFIXED_NAME:
        if is_compact(value) and value.partition(":")[0] not in terms.PREFIXES:
            yield from name_problems(document, value, pointer, context)
    elif isinstance(value, str) and definition.type == NAMELESS_TEXT:
        yield from _name_like_problems(document, value, pointer, context)
    elif isinstance(value, str) and definition.type in ("@id", "@vocab"):
        yield from name_problems(document, value, pointer, context)


def name_problems(
    document: Document, name: str, pointer: str, context: Context, *, of_key: bool = False
) -> Iterable[Problem]:
    """Return what is wrong with a name: a character or its length, or that its prefix is not
    declared."""
    if not terms.name_problem(name, document.name_characters) and not context.undeclared(name):
        return ()
    return _problems_of_name(document, name, pointer, context, of_key=of_key)


def _problems_of_name(
    document: Document, name: str, pointer: str, context: Context, *, of_key: bool
) -> Iterator[Problem]:
    problem = terms.name_problem(name, document.name_characters)
    if problem:
        code, message = problem
        yield Problem(code, message, "", document.place(pointer, of_key=of_key))
        return
    prefix = context.undeclared(name)
    if prefix:
        prefixes = context.prefixes()
        nearest_prefix = nearest(prefix, prefixes)
        message, hint = undeclared_prefix(prefix, name, has_contexts=document.has_contexts)
        place = document.place(pointer, of_key=of_key)
        corrected = nearest_prefix and nearest_prefix + name.removeprefix(prefix)
        fix = replacement_fix(document, pointer, corrected, of_key=of_key)
        yield Problem("L007", message, did_you_mean(prefix, prefixes) or hint, place, fix)


def _name_like_problems(
    document: Document, text: str, pointer: str, context: Context
) -> Iterator[Problem]:
    """Yield what is wrong with a text that looks like a name with a prefix that is declared."""
    prefix = text.partition(":")[0]
    definition = context.definitions.get(prefix)
    namespace = definition.namespace if definition and is_compact(text) else ""
    if namespace and terms.PREFIXES.get(prefix) != namespace:
        yield Problem("L007", *name_like_text(text, prefix), document.place(pointer))


def _check_typed_text(
    document: Document,
    literal: Mapping[str, Any],
    pointer: str,
    context: Context,
    definition: Definition | None,
) -> Iterator[Problem]:
    """Yield what is wrong with a text of a type or a language where names are compared."""
    way, text = definition.type if definition else "", literal.get("@value")
    if isinstance(text, str) and way in (PREFIXED_NAME, NAMELESS_TEXT):
        untyped = "" if way == NAMELESS_TEXT else STRING_TYPE
        if "@language" in literal or context.term(literal.get("@type", untyped)) != STRING_TYPE:
            yield from _name_like_problems(document, text, pointer, context)


def object_problems(
    document: Document,
    value: Mapping[str, Any],
    pointer: str,
    context: Context,
    property_definition: Definition | None,
) -> Iterator[Problem]:
    """Yield what is wrong with an object: a value of a property, or one at the top."""
    check_awaited()
    definitions = [context.key(key) for key in value]
    iris = [definition.iri for definition in definitions]
    iris_once = set(iris)
    repeated = Counter(iris) if len(iris_once) < len(iris) else {}
    for iri in (iri for iri, times in repeated.items() if times > 1):
        names = [key for key in value if context.key(key).iri == iri]
        message = f"The keys {join_names(names)} mean the same, {iri}; one of them is allowed."
        place = document.place(f"{pointer}/{escape(names[1])}", of_key=True)
        yield Problem("L003", message, "", place)
    if not iris_once.isdisjoint(_SHAPING):
        yield from _check_shape(document, iris_once, pointer)
        yield from _check_graph(document, value, pointer, context)
    literal = dict(zip(iris, value.values(), strict=True)) if "@value" in iris else {}
    if not all(isinstance(literal.get(word, ""), str) for word in ("@type", "@language")):
        message = "A literal has one type or language, a name in a string."
        yield Problem("L003", message, "", document.place(pointer))
        return
    if not _LANGUAGE.fullmatch(literal.get("@language", "en")):
        message = f"{literal['@language']!r:.40} is not a language tag such as 'en'."
        yield Problem("L003", message, "", document.place(pointer))
    if literal:
        yield from _check_typed_text(document, literal, pointer, context, property_definition)
    is_name = "@value" not in iris_once
    for definition, (key, item) in zip(definitions, value.items(), strict=True):
        value_pointer = f"{pointer}/{escape(key)}"
        is_top = property_definition is None
        problem = _check_key(key, definition.iri, item, context, is_top=is_top)
        if problem:
            fix = replacement_fix(
                document, value_pointer, _nearest_key(key, context, problem), of_key=True
            )
            place = document.place(value_pointer, of_key=True)
            yield Problem(problem.code, problem.message, problem.hint, place, fix)
        elif key != "@context":
            yield from name_problems(document, key, value_pointer, context, of_key=True)
            if definition.iri == RIGHT:
                definition = operand_definition(value, definition, context)  # noqa: PLW2901
            inner = value_definition(definition, property_definition, is_name=is_name)
            yield from _item_problems(document, item, value_pointer, context, definition, inner)


def _item_problems(
    document: Document,
    item: Any,
    pointer: str,
    context: Context,
    definition: Definition,
    value_definition: Definition,
) -> Iterable[Problem]:
    """Return what is wrong with the value of a key; nothing is with a text, as most of them are."""
    if isinstance(item, str) and value_definition.type not in _NAME_TYPES:
        return ()
    return value_problems(
        document, item, pointer, context.value_scope(definition), value_definition
    )


def value_definition(
    definition: Definition, property_definition: Definition | None, *, is_name: bool
) -> Definition:
    """Return how the values of a key are to be read: those of a list as the property's."""
    if definition.iri in ("@list", "@set"):
        return property_definition or definition
    if definition.iri == "@type" or (definition.iri == "@id" and is_name):
        iri, _, is_list, namespace, scoped = definition
        return Definition(iri, "@vocab", is_list, namespace, scoped)
    return definition


def _check_shape(document: Document, iris: set[str], pointer: str) -> Iterator[Problem]:
    """Yield what keeps an object from being a node, a literal, a list or a set, and no other."""
    keys_by_keyword = {
        "@value": {"@value", "@type", "@language"},
        "@list": {"@list"},
        "@set": {"@set"},
        "@graph": {"@graph", "@context"},
    }
    for keyword, allowed_keys in keys_by_keyword.items():
        if keyword in iris and not iris <= allowed_keys:
            message = (
                f"An object with {keyword!r} may have only {join_names(sorted(allowed_keys))}."
            )
            yield Problem("L003", message, "", document.place(pointer))
            return
    if {"@type", "@language"} <= iris and "@value" in iris:
        message = "A literal has a '@type' or a '@language', not both."
        yield Problem("L003", message, "", document.place(pointer))
    if "@language" in iris and "@value" not in iris:
        message = "'@language' is allowed only beside '@value'."
        yield Problem("L003", message, "", document.place(pointer))


def _check_key(key: str, iri: str, value: Any, context: Context, *, is_top: bool) -> Problem | None:
    """Return what is wrong with a key and its value, if anything."""
    if iri[:1] != "@":
        if ":" in iri:
            return None
        hint = (
            did_you_mean(key, _candidate_keys(key, context))
            or "Declare a context for it, or remove it."
        )
        return Problem("L002", f"No context defines the key {key!r}; JSON-LD would drop it.", hint)
    if iri not in _KEYWORDS or (iri in _TOP_ONLY and not is_top):
        message = f"The JSON-LD keyword {key!r} is not allowed here."
        hint = "It is allowed only at the top." if iri in _TOP_ONLY else ""
        allowed = [word for word in _KEYWORDS if is_top or word not in _TOP_ONLY]
        return Problem("L004", message, hint or f"Allowed are {join_names(allowed)}.")
    return _check_keyword_value(key, iri, value)


def _check_keyword_value(key: str, iri: str, value: Any) -> Problem | None:
    """Return what is wrong with the value of a key that means a keyword, if anything."""
    if iri == "@id" and not isinstance(value, str):
        return Problem("P007", f"{key!r} is an IRI in a string. Given: {value!r:.40}.")
    if iri == "@value" and isinstance(value, dict | list):
        return Problem("L003", f"{key!r} is a string, a number or a truth value.")
    names = value if isinstance(value, list) else [value]
    if iri == "@type" and not all(isinstance(name, str) for name in names):
        return Problem("P007", f"{key!r} is the name of a type. Given: {value!r:.40}.")
    return None


def _candidate_keys(key: str, context: Context) -> list[str]:
    """Return the keys that may be meant by one that no context defines."""
    settings = terms.instances("owl:DatatypeProperty")
    keys = [terms.compact(iri) for iri in settings if terms.local_name(iri) == key]
    return keys or [name for name in context.definitions if not name[:1].isupper()]


def _nearest_key(key: str, context: Context, problem: Problem) -> str:
    return nearest(key, _candidate_keys(key, context)) if problem.code == "L002" else ""


def _check_graph(
    document: Document, value: Mapping[str, Any], pointer: str, context: Context
) -> Iterator[Problem]:
    """Yield the members of a graph that are not objects about one thing."""
    for key, item in value.items():
        parts = item if isinstance(item, list) else [item]
        if context.key(key).iri == "@graph" and not all(_is_node(part, context) for part in parts):
            message = f"{key!r} holds objects, each about one thing. Given: {item!r:.40}."
            yield Problem("L003", message, "", document.place(f"{pointer}/{escape(key)}"))


def _is_node(value: Any, context: Context) -> bool:
    if not isinstance(value, dict):
        return False
    return not {"@value", "@list", "@set"} & {context.key(key).iri for key in value}
