"""Literals: as JSON, with an XML Schema type, and of the types that an operand accepts."""

from collections.abc import Iterable

from policy_engine import terms
from policy_engine.authoring.schema.building import Schema, one_or_more, ref, term_pattern, when
from policy_engine.policy.vocabulary import Vocabulary

HAS_VALUE: Schema = {"type": "object", "required": ["@value"]}
DECIMAL = r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_ZONE = "(Z|[-+][0-9]{2}:[0-9]{2})?"
_DATE = "-?[0-9]{4,}-[0-9]{2}-[0-9]{2}"
_LEXICAL = {
    "integer": "[-+]?[0-9]+",
    "decimal": DECIMAL,
    "double": rf"{DECIMAL}([eE][-+]?[0-9]+)?",
    "boolean": "true|false|1|0",
    "dateTime": rf"{_DATE}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]+)?{_ZONE}",
    "date": f"{_DATE}{_ZONE}",
    "duration": r"-?P(?=[0-9T])([0-9]+Y)?([0-9]+M)?([0-9]+D)?"
    r"(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?",
}
"""The patterns of literals (XSD 1.1 part 2, section 3.3), by the name of their type."""


def values(vocabulary: Vocabulary) -> dict[str, Schema]:
    """Return the definitions of literals, and of everything allowed in their place."""
    scalar = {"type": ["string", "number", "boolean"]}
    literal = {
        "type": "object",
        "required": ["@value"],
        "properties": {
            "@value": {**scalar, "description": "The literal itself."},
            "@type": {**ref("anyName"), "description": "Its data type, such as xsd:integer."},
            "type": ref("anyName"),
        },
        "additionalProperties": False,
        "allOf": [_typed_literal(name) for name in _LEXICAL],
    }
    either = when(HAS_VALUE, ref("literal"), when({"type": "object"}, ref("name"), scalar))
    return {
        "literal": literal,
        "value": either,
        **one_or_more("values", ref("value")),
        **one_or_more("oneValue", ref("value"), most=1),
        **{
            name: one
            for kinds in _operand_types(vocabulary)
            for name, one in _values_of_types(kinds).items()
        },
    }


def values_definition(term: terms.Term) -> str:
    """Return the name of the definition of values that a left operand accepts."""
    return _name(tuple(map(terms.local_name, term.iris("takes"))))


def _typed_literal(name: str) -> Schema:
    """Return the rule that a literal of this type has its form."""
    kind = {"pattern": term_pattern([f"{terms.XSD}{name}"])}
    typed = {"required": ["@type"], "properties": {"@type": kind, "@value": {"type": "string"}}}
    return when(typed, {"properties": {"@value": {"pattern": literal_pattern(_LEXICAL[name])}}})


def literal_pattern(*patterns: str) -> str:
    """Return the pattern of literals, with the surrounding space that XSD drops."""
    return f"^[ \\t\\r\\n]*({'|'.join(patterns)})[ \\t\\r\\n]*$"


def has_literal_form(term: terms.Term) -> bool:
    """Return whether a left operand accepts literals of types with a known form."""
    kinds = term.iris("takes")
    return bool(kinds) and all(terms.local_name(kind) in _LEXICAL for kind in kinds)


def _operand_types(vocabulary: Vocabulary) -> Iterable[tuple[str, ...]]:
    own = filter(has_literal_form, vocabulary.operands.values())
    operands = (*terms.instances(f"{terms.ODRL}LeftOperand").values(), *own)
    return {tuple(map(terms.local_name, one.iris("takes"))) for one in operands} - {()}


def _name(kinds: tuple[str, ...]) -> str:
    return f"{'Or'.join(kinds)}Values"


def _values_of_types(kinds: tuple[str, ...]) -> dict[str, Schema]:
    """Return the definition of values of some types; names are left to the reader."""
    plain: list[Schema] = [
        {"type": "string", "pattern": literal_pattern(*(_LEXICAL[kind] for kind in kinds))}
    ]
    plain += [{"type": "integer"}] if "integer" in kinds else []
    plain += [{"type": "number"}] if "decimal" in kinds else []
    scalar = {"anyOf": plain} if len(plain) > 1 else plain[0]
    # A JSON number becomes a double in other syntaxes, and is read back with that type.
    double = [{"type": "string", "pattern": literal_pattern(_LEXICAL["double"])}]
    typed = {"anyOf": [*plain, *double]} if "decimal" in kinds else scalar
    literal = {"properties": {"@value": typed}, **ref("literal")}
    item = when(HAS_VALUE, literal, when({"type": "object"}, ref("name"), scalar))
    return one_or_more(_name(kinds), item)
