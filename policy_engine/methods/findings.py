"""What is wrong with the parameters that a policy gives, and what they may be, in words."""

import math
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
)

from pydantic import BaseModel

from policy_engine.errors import did_you_mean, join_names


class Finding(NamedTuple):
    """One thing that is wrong with parameters, and with which of them."""

    code: str
    parameter: str
    message: str


class Proportion(NamedTuple):
    """Marks a parameter that is a share of a whole, where users often give a percentage."""


class Texts(NamedTuple):
    """Marks a parameter that takes several texts, and not columns."""


@cache
def parameters(kind: type[BaseModel]) -> Mapping[str, Any]:
    """Return the fields of a model of parameters by the names that policies use."""
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    return MappingProxyType(fields)


def format_value(value: Any) -> str:
    """Return a value as a policy writes it, for a message."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal | date | time):
        return str(value)
    return "infinite" if value in (math.inf, -math.inf) else repr(value)


def is_text(field: Any) -> bool:
    """Tell whether a parameter takes any text, so that digits are text too, and not a number."""
    return _unwrap(field.annotation)[0] is str


def words_of(annotation: Any) -> tuple[str, ...]:
    """Return the words that a parameter of a type may be, none where it takes other values."""
    kind, _ = _unwrap(annotation)
    return get_args(kind) if get_origin(kind) is Literal else ()


def takes_several(field: Any) -> bool:
    """Tell whether a parameter takes several values."""
    return get_origin(_unwrap(field.annotation)[0]) is tuple


def describe_allowed(field: Any) -> str:
    """Return what a parameter may be, in words."""
    kind, limits = _unwrap(field.annotation)
    if get_origin(kind) is Literal:
        return join_names(get_args(kind), "or")
    if kind is bool:
        return "true or false"
    limits = {**limits, **_limits(field.metadata)}
    if kind is str:
        return "a text of one character" if limits.get("max_length") == 1 else "a text"
    if kind in (int, float, Decimal):
        return f"{'an integer' if kind is int else 'a number'} {_format_limits(limits)}".strip()
    if words := [word for one in get_args(kind) for word in words_of(one)]:
        return f"one or more of {join_names(words)}"
    return "texts" if _is_marked(field, Texts()) else "columns"


def allowed_texts(field: Any) -> tuple[str, ...]:
    """Return the texts that a parameter may be, none where it may be something else."""
    kind, _ = _unwrap(field.annotation)
    return get_args(kind) if get_origin(kind) is Literal else ()


_FEW = 3
"""Names among which the one that is meant is found at a glance."""

_LIMITS = ("ge", "gt", "le", "lt", "max_length")


def _format_limits(limits: Mapping[str, Any]) -> str:
    """Return limits in words, such as `from 0 to 1` and `above 0 and below 1`."""
    low = [f"{word} {limits[name]}" for name, word in _LOW.items() if name in limits]
    high = [f"{word} {limits[name]}" for name, word in _HIGH.items() if name in limits]
    if "ge" in limits and high:
        return f"{low[0]} to {high[0].removeprefix('up to ')}"
    return " and ".join(low + high)


_LOW = {"ge": "from", "gt": "above"}


_HIGH = {"le": "up to", "lt": "below"}


def _unwrap(annotation: Any) -> tuple[Any, dict[str, Any]]:
    """Return the type behind Annotated and `| None`, and the limits found on the way."""
    limits: dict[str, Any] = {}
    while get_origin(annotation) in (Annotated, Union, UnionType):
        if get_origin(annotation) is Annotated:
            annotation, *metadata = get_args(annotation)
            limits |= _limits(metadata)
        else:
            [annotation] = [one for one in get_args(annotation) if one is not NoneType]
    return annotation, limits


def _limits(metadata: Any) -> dict[str, Any]:
    parts = [part for one in metadata for part in getattr(one, "metadata", [one])]
    return {n: getattr(p, n) for p in parts for n in _LIMITS if getattr(p, n, None) is not None}


def missing_parameter(notation: str, name: str) -> Finding:
    """Return that a method lacks a parameter (M002)."""
    return Finding("M002", name, f"{notation} needs the parameter {name!r}.")


def parameter_finding(kind: type[BaseModel], notation: str, detail: Mapping[str, Any]) -> Finding:
    """Return one of pydantic's error details as a finding about a policy's parameter."""
    name, problem = str(detail["loc"][0]), detail["type"]
    if problem in ("missing", "too_short"):
        return missing_parameter(notation, name)
    if problem == "extra_forbidden":
        own = [one for one in parameters(kind) if one != "name"]  # the column that has them
        names = join_names(own) if own else "none"
        return Finding("M004", name, f"{notation} has no parameter {name!r}. It has {names}.")
    if problem == "value_error":
        return Finding("M003", name, str(detail["ctx"]["error"]))
    value = format_value(detail["input"])
    field = parameters(kind)[name]
    message = f"{name} is not allowed to be {value}. Allowed is {describe_allowed(field)}."
    texts = allowed_texts(field)
    near = did_you_mean(str(detail["input"]), texts) if len(texts) > _FEW else ""
    message += f" {near}" if near else ""
    if _is_percentage(field, detail["input"]):
        message += f" It is a share: {value}% is {Decimal(str(detail['input'])) / 100}."
    return Finding("M003", name, message)


def _is_percentage(field: Any, value: Any) -> bool:
    """Tell whether a value is refused as a share, and may have been meant as a percentage."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 1 < value < 100 and _is_share(field)


def _is_share(field: Any) -> bool:
    return _is_marked(field, Proportion())


def _is_marked(field: Any, mark: NamedTuple) -> bool:
    optional = (part for kind in get_args(field.annotation) for part in get_args(kind))
    marks = (*field.metadata, *optional)
    return any(type(one) is type(mark) for one in marks)
