"""The result of a condition, with a short reason, and as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal, get_args

from pydantic_core import core_schema

from policy_engine import terms
from policy_engine.policy.model import (
    READ_SO_FAR,
    SPENT,
    Condition,
    Constraint,
    LogicalConstraint,
    Value,
)
from policy_engine.policy.xsd.literals import Literals, lexical, read_literal, type_of

State = Literal["satisfied", "unsatisfied", "unknown"]

_ODRL = terms.ODRL
_PHRASES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        f"{_ODRL}eq": ("equal to", "included in"),
        f"{_ODRL}lt": ("less than", "before"),
        f"{_ODRL}lteq": ("at most", "at or before"),
        f"{_ODRL}gt": ("greater than", "after"),
        f"{_ODRL}gteq": ("at least", "at or after"),
        f"{_ODRL}isA": ("a kind of", "a kind of"),
        f"{_ODRL}isPartOf": ("part of", "part of"),
        f"{_ODRL}hasPart": ("inclusive of", "inclusive of"),
        f"{_ODRL}isAllOf": ("all of", "all of"),
        f"{_ODRL}isAnyOf": ("one of", "one of"),
    }
)
"""How operators are worded: for numbers and texts, and for names and times."""
_DENIED: Mapping[str, str] = MappingProxyType(
    {f"{_ODRL}neq": f"{_ODRL}eq", f"{_ODRL}isNoneOf": f"{_ODRL}isAnyOf"}
)
_WITHIN: Mapping[State, str] = MappingProxyType({"satisfied": "within", "unsatisfied": "beyond"})
_NEEDS: Mapping[str, str] = MappingProxyType(
    {READ_SO_FAR: " without a decision log"} | dict.fromkeys(SPENT, " without a budget ledger")
)
"""What tells the values of operands that cannot be known otherwise."""
_MOST_SHOWN = 3
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a condition: its state, and the value of its left operand.

    `parts` are those of a logical constraint, in its order.
    """

    condition: Condition
    state: State
    seen: tuple[Literals, ...] | None = None
    parts: tuple["Verdict", ...] = ()

    @property
    def reason(self) -> str:
        """A short reason; for a logical constraint, the first parts that decided it."""
        if isinstance(self.condition, Constraint):
            return _constraint_reason(self, self.condition)
        reasons = [part.reason for part in islice(_decisive(self), _MOST_SHOWN + 1)]
        if not reasons:
            return "it has no operands"
        prefix = "more than one holds: " if _is_one_too_many(self) else ""
        more = "; ..." if len(reasons) > _MOST_SHOWN else ""
        return prefix + "; ".join(reasons[:_MOST_SHOWN]) + more

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON; `reason` is for people and is not read back."""
        seen = None if self.seen is None else [_literal_json(value) for value in self.seen]
        facts = _condition_json(self.condition) | {"state": self.state, "seen": seen}
        parts = [part.to_json() for part in self.parts]
        return facts | {"reason": self.reason} | ({"parts": parts} if parts else {})

    @classmethod
    def from_json(cls, document: Any) -> "Verdict":
        """Return the verdict from the JSON of `to_json`. Raises ValueError for anything else."""
        try:
            return document if isinstance(document, Verdict) else _read(document)
        except (KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            raise ValueError("this is not a verdict on a condition") from error

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        written = core_schema.plain_serializer_function_ser_schema(cls.to_json)
        return core_schema.no_info_after_validator_function(
            cls.from_json, core_schema.any_schema(), serialization=written
        )


def unknown_operands(verdict: Verdict) -> Iterator[str]:
    """Yield the left operands in a verdict whose values are unknown."""
    for part in verdict.parts:
        yield from unknown_operands(part)
    is_unknown = verdict.state == "unknown"
    if isinstance(verdict.condition, Constraint) and not verdict.seen and is_unknown:
        yield verdict.condition.left_operand


# -- why --------------------------------------------------------------------------------------


def _constraint_reason(verdict: Verdict, constraint: Constraint) -> str:
    name = terms.compact(constraint.left_operand).removeprefix("odrl:")
    if not verdict.seen:
        if constraint.left_operand in SPENT and verdict.state != "unknown":
            return f"{name} is {_WITHIN[verdict.state]} the budget"
        return f"{name} is not known{_NEEDS.get(constraint.left_operand, '')}"
    value_text = _join_values([_format_value(value) for value in verdict.seen])
    rights = [_format_value(value.value) for value in constraint.right_operands]
    rights += [f"what {terms.compact(iri)} stands for" for iri in constraint.references]
    if not rights:
        return f"{name} is {value_text}, compared with nothing"
    phrase = f"{_phrase(constraint)} {_join_values(rights)}"
    if constraint.unit:
        phrase += f" (in {terms.compact(constraint.unit)})"
    if verdict.state == "unknown":
        return f"{name} is {value_text}; whether that is {phrase} is not known"
    is_affirmed = (verdict.state == "satisfied") != (constraint.operator in _DENIED)
    return f"{name} is {value_text}, {'' if is_affirmed else 'not '}{phrase}"


def _phrase(constraint: Constraint) -> str:
    operator = _DENIED.get(constraint.operator, constraint.operator)
    plain, special = _PHRASES.get(operator, ("", ""))
    times = (f"{terms.XSD}dateTime", f"{terms.XSD}date", f"{terms.XSD}time")
    is_special = bool(constraint.right_operands) and all(
        value.is_iri if operator == f"{_ODRL}eq" else type_of(value.value) in times
        for value in constraint.right_operands
    )
    return (special if is_special else plain) or terms.compact(constraint.operator)


def _format_value(value: Literals) -> str:
    text = terms.compact(lexical(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _join_values(texts: list[str]) -> str:
    texts_shown = (
        texts
        if len(texts) <= _MOST_SHOWN
        else [*texts[:_MOST_SHOWN], f"{len(texts) - _MOST_SHOWN} more"]
    )
    *head, last = texts_shown
    return f"{', '.join(head)} and {last}" if head else last


def _decisive(verdict: Verdict) -> Iterator[Verdict]:
    """Yield the verdicts on single constraints that decided a verdict."""
    if isinstance(verdict.condition, Constraint):
        yield verdict
    for part in _decisive_parts(verdict):
        yield from _decisive(part)


def _decisive_parts(verdict: Verdict) -> Iterator[Verdict]:
    states: set[State] = {verdict.state}
    if _is_one_too_many(verdict):
        states = {"satisfied"}
    elif verdict.condition.operator == f"{_ODRL}xone" and verdict.state == "unknown":
        states = {"satisfied", "unknown"}
    return (part for part in verdict.parts if part.state in states)


def _is_one_too_many(verdict: Verdict) -> bool:
    xone = verdict.condition.operator == f"{_ODRL}xone"
    return xone and [part.state for part in verdict.parts].count("satisfied") > 1


# -- as JSON ----------------------------------------------------------------------------------


def _condition_json(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, LogicalConstraint):
        return _without_empty({"operator": condition.operator, "uid": condition.uid})
    facts = _without_empty(
        {
            "left_operand": condition.left_operand,
            "operator": condition.operator,
            "right_operands": [_value_json(value) for value in condition.right_operands],
            "references": list(condition.references),
            "data_type": condition.data_type,
            "unit": condition.unit,
            "uid": condition.uid,
        }
    )
    return facts | ({"status": _value_json(condition.status)} if condition.status else {})


def _without_empty(entries: dict[str, Any]) -> dict[str, Any]:
    return {name: entry for name, entry in entries.items() if entry}


def _value_json(value: Value) -> dict[str, Any]:
    settings = {name: _value_json(setting) for name, setting in value.settings.items()}
    more = [_value_json(one) for one in value.more]
    rest = _without_empty({"type": value.type, "settings": settings, "more": more})
    return {"value": _literal_json(value.value)} | rest


def _literal_json(value: Literals) -> Any:
    """Return a value that JSON has as it is, and any other as its text with its data type."""
    if isinstance(value, str | int) or (isinstance(value, float) and isfinite(value)):
        return value
    return {"@value": lexical(value), "@type": type_of(value)}


def _read(document: Any) -> Verdict:
    if document["state"] not in get_args(State):
        raise ValueError(f"{document['state']!r} is not a state of a condition")
    parts = tuple(map(_read, document.get("parts", ())))
    seen = document["seen"]
    values = None if seen is None else tuple(map(_read_literal, seen))
    return Verdict(_read_condition(document, parts), document["state"], values, parts)


def _read_condition(document: Any, parts: tuple[Verdict, ...]) -> Condition:
    uid = document.get("uid", "")
    if "left_operand" not in document:
        return LogicalConstraint(document["operator"], tuple(part.condition for part in parts), uid)
    status = document.get("status")
    return Constraint(
        left_operand=document["left_operand"],
        operator=document["operator"],
        right_operands=tuple(map(_read_value, document.get("right_operands", ()))),
        references=tuple(document.get("references", ())),
        data_type=document.get("data_type", ""),
        unit=document.get("unit", ""),
        status=None if status is None else _read_value(status),
        uid=uid,
    )


def _read_value(document: Any) -> Value:
    settings = {name: _read_value(value) for name, value in document.get("settings", {}).items()}
    return Value(_read_literal(document["value"]), settings=settings, type=document.get("type", ""))


def _read_literal(document: Any) -> Literals:
    if not isinstance(document, dict):
        return read_literal(document, "")
    if document["@type"] == f"{terms.XSD}decimal":
        return Decimal(document["@value"])
    return read_literal(document["@value"], document["@type"])
