"""The values of JSON-LD, expanded as the JSON-LD 1.1 API says (section 5.1)."""

from collections.abc import Iterator, Mapping
from typing import Any

from policy_engine import terms
from policy_engine.policy.syntax.contexts import Context, Definition, is_compact
from policy_engine.policy.syntax.json_text import escape

POINTER = "@index"
"""The key under which an expanded object holds its place in the text, a JSON pointer."""
STRING_TYPE = f"{terms.XSD}string"
PREFIXED_NAME, NAMELESS_TEXT = "@prefixed", "@nameless"
"""How the strings of a property are read that are names where they have a declared prefix, and
those that may not look like one."""
_NAMING = ("@id", "@list", "@set", "@value")
_LEFT, RIGHT, _DATA_TYPE = (
    f"{terms.ODRL}{name}" for name in ("leftOperand", "rightOperand", "dataType")
)
OPERAND_PROPERTIES = frozenset((_LEFT, _DATA_TYPE))
"""What says how the values of a right operand are read."""


def expanded_node(source: Mapping[str, Any], pointer: str, context: Context) -> dict[str, Any]:
    """Return an object about one thing, expanded, with its place in the text."""
    node: dict[str, Any] = {POINTER: pointer}
    for key, value in source.items():
        definition = context.key(key)
        if definition.iri == "@id":
            node["@id"] = context.reference(value)
        elif definition.iri == "@type":
            names = value if isinstance(value, list) else [value]
            node["@type"] = [context.term(name) for name in names]
        elif not definition.iri.startswith("@"):
            if definition.iri == RIGHT:
                definition = operand_definition(source, definition, context)
            inner_context = context.value_scope(definition)
            at = f"{pointer}/{escape(key)}"
            if definition.is_list and not _has(value, "@list", context):
                values = [{"@list": _members(value, at, inner_context, definition)}]
            else:
                values = expanded_values(value, at, inner_context, definition)
            node.setdefault(definition.iri, []).extend(values)
    return node


def operand_definition(
    source: Mapping[str, Any], definition: Definition, context: Context
) -> Definition:
    """Return how the values of a right operand are read, by what is on its left.

    JSON-LD takes a string there for a text. A left operand that names things compares a text that
    is an IRI as one, so a name with a prefix has to mean there what it means elsewhere.
    """
    if definition.type:
        return definition
    names: dict[str, list[str]] = {
        iri: _terms_under(key, value, context)
        for key, value in source.items()
        if (iri := context.key(key).iri) in OPERAND_PROPERTIES
    }
    if STRING_TYPE in names.get(_DATA_TYPE, ()):
        return definition
    if not any(map(terms.takes_names, names.get(_LEFT, ()))):
        return definition
    return definition._replace(type=NAMELESS_TEXT if _DATA_TYPE in names else PREFIXED_NAME)


def _terms_under(key: str, value: Any, context: Context) -> list[str]:
    """Return the IRIs of the names that a key has as its value."""
    inner_context = context.value_scope(context.key(key))
    return [inner_context.term(name) for name in _written_names(value, inner_context)]


def _written_names(value: Any, context: Context) -> Iterator[str]:
    """Yield the names that a value is written with, however JSON-LD lets it be nested."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (name for one in value for name in _written_names(one, context))
    elif isinstance(value, dict):
        keys = (key for key in value if context.key(key).iri in _NAMING)
        yield from (name for key in keys for name in _written_names(value[key], context))


def expanded_values(
    value: Any, pointer: str, context: Context, definition: Definition
) -> list[dict[str, Any]]:
    """Return the expanded values of a property; sets in sets become one."""
    if isinstance(value, list):
        items = enumerate(value)
        return [
            v
            for n, item in items
            for v in expanded_values(item, f"{pointer}/{n}", context, definition)
        ]
    if not isinstance(value, dict):
        return [expanded_scalar(value, context, definition)]
    keys = {context.key(key).iri: key for key in value}
    if "@value" in keys:
        literal = {iri: value[key] for iri, key in keys.items()}
        kind = literal.get("@type")
        return [{**literal, "@type": context.term(kind)} if kind else literal]
    for keyword, read in (("@list", _members), ("@set", expanded_values)):
        if keyword in keys:
            at = f"{pointer}/{escape(keys[keyword])}"
            members = read(value[keys[keyword]], at, context, definition)
            return [{"@list": members}] if keyword == "@list" else members
    return [expanded_node(value, pointer, context)]


def _members(
    value: Any, pointer: str, context: Context, definition: Definition
) -> list[dict[str, Any]]:
    """Return the expanded members of a list; what are several in the place of one is a list."""
    if not isinstance(value, list):
        return expanded_values(value, pointer, context, definition)
    members: list[dict[str, Any]] = []
    for n, item in enumerate(value):
        values = expanded_values(item, f"{pointer}/{n}", context, definition)
        is_several = isinstance(item, list) or _has(item, "@set", context)
        members += [{"@list": values}] if is_several else values
    return members


def _has(value: Any, keyword: str, context: Context) -> bool:
    return isinstance(value, dict) and any(context.key(key).iri == keyword for key in value)


def expanded_scalar(value: Any, context: Context, definition: Definition) -> dict[str, Any]:
    """Return a string, a number or a truth value, expanded as a value of a term."""
    if isinstance(value, str) and definition.type == PREFIXED_NAME:
        is_name = is_compact(value) and not context.undeclared(value)
        return {"@id": context.reference(value)} if is_name else {"@value": value}
    if isinstance(value, str) and definition.type == "@id":
        return {"@id": context.reference(value)}
    if isinstance(value, str) and definition.type == "@vocab":
        return {"@id": context.term(value)}
    if definition.type and not definition.type.startswith("@"):
        return {"@value": value, "@type": definition.type}
    return {"@value": value}
