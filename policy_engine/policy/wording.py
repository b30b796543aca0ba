"""Parts of a policy in a few words: names, values and conditions, fit to be shown."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable

from policy_engine import terms
from policy_engine.policy.model import (
    Action,
    Asset,
    Condition,
    Constraint,
    LogicalConstraint,
    Party,
    Value,
)
from policy_engine.policy.xsd.literals import Literals, lexical

Naming = Callable[[str], str]

INCLUSION = {
    "party": "belongs to",
    "asset": "is part of",
    "action": "is included in",
    "purpose": "is a kind of",
    "implied": "needs",
}
"""What a narrower thing is to a wider one, by the part of a rule that they are in."""
_ODRL = terms.ODRL
_METHOD = f"{terms.MOSAICROWN}method"
_SIGNS = {
    f"{_ODRL}eq": "=",
    f"{_ODRL}neq": "≠",
    f"{_ODRL}lt": "<",
    f"{_ODRL}lteq": "≤",
    f"{_ODRL}gt": ">",
    f"{_ODRL}gteq": "≥",
    f"{_ODRL}isA": "is a",
    f"{_ODRL}hasPart": "has the part",
    f"{_ODRL}isPartOf": "is part of",
    f"{_ODRL}isAllOf": "is all of",
    f"{_ODRL}isAnyOf": "is any of",
    f"{_ODRL}isNoneOf": "is none of",
}
_JOINS = {"and": " and ", "or": " or ", "xone": " or else ", "andSequence": " and then "}
_PLAIN = re.compile(r"[\w.+@%-]+")


def short_name(iri: str) -> str:
    """Return a term of ODRL, MOSAICrOWN or ours without its prefix, any other IRI's last part."""
    compact = terms.compact(iri)
    prefix, colon, local = compact.partition(":")
    if colon and compact != iri:
        return local if prefix in ("odrl", "mosaicrown", "pe") else compact
    return terms.local_name(iri) or iri


def printable(text: str) -> str:
    """Return a text in one line: what is invisible or turns the text around, as its number."""
    return "".join(map(_visible, text))


def literal_text(value: Literals) -> str:
    """Return a literal as a policy could have it; a string in quotes unless it is one word."""
    text = printable(lexical(value))
    is_word = not isinstance(value, str) or _PLAIN.fullmatch(text)
    return text if is_word else json.dumps(text, ensure_ascii=False)


def value_text(value: Value, name: Naming = short_name, *, is_name: bool = False) -> str:
    """Return the right of a constraint: a name or a literal, with the settings of a column."""
    is_name = is_name or value.is_iri
    text = name(column_iri(value)) if is_name else literal_text(value.value)
    settings = [
        f"{printable(key)} {' and '.join(value_text(part, name) for part in one.all)}"
        for key, one in sorted(value.settings.items())
    ]
    return f"{text} ({', '.join(settings)})" if settings else text


def condition_text(condition: Condition, name: Naming = short_name) -> str:
    """Return a condition, such as `count ≤ 10`, or `(a = 1 or b = 2)`."""
    if isinstance(condition, LogicalConstraint):
        operator = terms.local_name(condition.operator)
        joined = _JOINS.get(operator, f" {printable(operator)} ")
        return f"({joined.join(condition_text(one, name) for one in condition.operands)})"
    return _constraint(condition, name)


def conditions_text(conditions: Iterable[Condition], name: Naming = short_name) -> str:
    """Return conditions that must all hold, with commas."""
    return ", ".join(condition_text(one, name) for one in conditions)


def part_text(part: Action | Party | Asset, name: Naming = short_name) -> str:
    """Return an action, a party or an asset with its refinements behind it."""
    refined = conditions_text(part.refinements, name)
    return f"{name(part.iri)} where {refined}" if refined else name(part.iri)


def _constraint(one: Constraint, name: Naming) -> str:
    columns = terms.names_columns(one.left_operand)
    values = [value_text(value, name, is_name=columns) for value in one.right_operands]
    values += [f"the value of {name(iri)}" for iri in one.references]
    unit = f" {name(one.unit)}" if one.unit else ""
    status = f" (now {value_text(one.status, name)})" if one.status else ""
    right = f"{', '.join(values)}{unit}{status}"
    if one.left_operand == _METHOD and one.operator in (f"{_ODRL}eq", f"{_ODRL}isAllOf"):
        return " and ".join(values)
    sign = _SIGNS.get(one.operator) or name(one.operator)
    return f"{name(one.left_operand)} {sign} {right}"


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] != "C" and category not in ("Zl", "Zp"):
        return character
    return " " if character in "\n\t" else f"\\u{ord(character):04x}"


def column_iri(value: Value) -> str:
    """Return the IRI of the column that a right operand names, be it as a text or as a name."""
    return terms.canonical(str(value.value))


def rule_name(label: str, policy: str) -> str:
    """Return the label of a rule, and whose it is where that is not a uid but a place in a text."""
    return f"{label} of {policy}" if " " in label else label
