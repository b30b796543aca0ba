"""One constraint on a column as a comparison in SQL, its literals read by the column's type."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import isfinite
from types import MappingProxyType
from typing import Any

import pyarrow as pa
from sqlglot import exp

from policy_engine import terms
from policy_engine.decision.query.logic import NotUnderstood, nan_to_null
from policy_engine.errors import PolicyEngineError, QueryError
from policy_engine.policy.model import Constraint, Value
from policy_engine.policy.xsd.literals import read_literal

_ORDERED: Mapping[str, type[exp.Binary]] = MappingProxyType(
    {
        f"{terms.ODRL}lt": exp.LT,
        f"{terms.ODRL}lteq": exp.LTE,
        f"{terms.ODRL}gt": exp.GT,
        f"{terms.ODRL}gteq": exp.GTE,
    }
)
_EQUAL: Mapping[str, type[exp.Binary]] = MappingProxyType(
    {f"{terms.ODRL}eq": exp.EQ, f"{terms.ODRL}isAllOf": exp.EQ, f"{terms.ODRL}neq": exp.NEQ}
)
_LISTS = (f"{terms.ODRL}isAnyOf", f"{terms.ODRL}isNoneOf")
_LONGEST_FRACTION = 6  # digits of a second, as SQL has them
_MOST_SINGLE = float.fromhex("0x1.fffffep+127")


def comparison(
    column: exp.Column, constraint: Constraint, kind: pa.DataType, zone: tzinfo
) -> exp.Expr:
    """Return a constraint on a column as SQL: NULL if the column is missing or NaN.

    The literals are nodes of the tree, of the column's type. Raises NotUnderstood for an operator
    that columns do not support, and QueryError (Q007) for a literal that is not a value of the
    column's type.
    """
    operator, values = constraint.operator, constraint.right_operands
    if constraint.references or constraint.unit or constraint.status is not None:
        raise NotUnderstood("a reference, a unit or a status is not supported on a column")
    if any(value.is_iri for value in values):
        raise NotUnderstood("a column can be compared with literals only, not with IRIs")
    if operator not in (*_ORDERED, *_EQUAL, *_LISTS) or not values:
        raise NotUnderstood(f"{terms.compact(operator)} is not supported on a column")
    if operator not in _LISTS and len(values) > 1:
        raise NotUnderstood(f"{terms.compact(operator)} is not supported with several values")
    if pa.types.is_null(kind):
        return _always(column)  # a column without values never satisfies it
    compare = _comparer(kind, zone, constraint)
    values_known = nan_to_null(column) if may_be_nan(kind) else column
    if operator in _LISTS:
        return _any_or_none(values_known, values, compare, is_none=operator == _LISTS[1])
    return compare(values_known, {**_ORDERED, **_EQUAL}[operator], values[0])


def may_be_nan(kind: pa.DataType) -> bool:
    """Return whether a column of this type may contain NaN, in this engine or in another one."""
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


Comparer = Callable[[exp.Expr, type[exp.Binary], Value], exp.Expr]


def _any_or_none(
    column: exp.Expr, values: Sequence[Value], compare: Comparer, *, is_none: bool
) -> exp.Expr:
    """Return `column IN (...)`, or NOT IN, of the values that the column can have."""
    equals = [compare(column, exp.EQ, value) for value in values]
    literals = [one.expression for one in equals if isinstance(one, exp.EQ)]
    if not literals:
        return _always(column) if is_none else _never(column)
    contained = exp.In(this=column.copy(), expressions=literals)
    return exp.Not(this=contained) if is_none else contained


def _comparer(kind: pa.DataType, zone: tzinfo, constraint: Constraint) -> Comparer:
    """Return the function that compares a column of a type."""
    ends = _value_range(kind)
    if ends:
        return lambda column, operator, value: _exact(column, operator, _number(value), *ends)
    literal = _literals(kind, zone)
    if literal is None:
        raise NotUnderstood(f"a column of type {kind} is not supported")
    if constraint.operator in _ORDERED and literal in (_boolean, _text):
        raise NotUnderstood(f"{terms.compact(constraint.operator)} is not supported on {kind}")
    return lambda column, operator, value: operator(this=column.copy(), expression=literal(value))


def _literals(kind: pa.DataType, zone: tzinfo) -> Callable[[Value], exp.Expr] | None:
    """Return the function that makes literals of a column's type."""
    ways: dict[Callable[[pa.DataType], bool], Callable[[Value], exp.Expr]] = {
        pa.types.is_float32: partial(_float, is_single=True),
        pa.types.is_float64: partial(_float, is_single=False),
        pa.types.is_date: _date,
        pa.types.is_timestamp: partial(_timestamp, zone=zone, is_zoned=_is_zoned(kind)),
        pa.types.is_time: _time,
        pa.types.is_boolean: _boolean,
        pa.types.is_string: _text,
        pa.types.is_large_string: _text,
        pa.types.is_string_view: _text,
    }
    return next((way for is_kind, way in ways.items() if is_kind(kind)), None)


def _is_zoned(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) and kind.tz is not None


# -- whole and decimal numbers ------------------------------------------------------------------


def _value_range(kind: pa.DataType) -> tuple[int, int, int] | None:
    """Return the range of an exact type, in units of its last digit, and its decimals."""
    if pa.types.is_signed_integer(kind):
        return -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1, 0
    if pa.types.is_unsigned_integer(kind):
        return 0, 2**kind.bit_width - 1, 0
    if pa.types.is_decimal(kind) and kind.precision <= 38 and kind.scale >= 0:
        most = 10**kind.precision - 1
        return -most, most, kind.scale
    return None


def _exact(
    column: exp.Expr,
    operator: type[exp.Binary],
    number: Fraction,
    low: int,
    high: int,
    scale: int,
) -> exp.Expr:
    """Compare a column of exact numbers with any number, without a cast that could round.

    A number between two values of the column is replaced by the lower of them.
    """
    units = number * 10**scale
    below, is_value = units.numerator // units.denominator, units.denominator == 1
    if operator in (exp.EQ, exp.NEQ) and not (is_value and low <= below <= high):
        return _never(column) if operator is exp.EQ else _always(column)
    if not low <= below <= high:
        is_less = operator in (exp.LT, exp.LTE)
        return _always(column) if is_less == (below > high) else _never(column)
    if not is_value:
        operator = exp.LTE if operator in (exp.LT, exp.LTE) else exp.GT
    return operator(this=column.copy(), expression=_digits(below, scale))


def _digits(units: int, scale: int) -> exp.Expr:
    text = format(Decimal(abs(units)).scaleb(-scale), "f") if scale else str(abs(units))
    literal = exp.Literal.number(text)
    return exp.Neg(this=literal) if units < 0 else literal


def _always(column: exp.Expr) -> exp.Expr:
    return exp.EQ(this=column.copy(), expression=column.copy())


def _never(column: exp.Expr) -> exp.Expr:
    return exp.NEQ(this=column.copy(), expression=column.copy())


# -- literals by the type of the column -----------------------------------------------------------


def _number(value: Value) -> Fraction:
    number = value.value
    if isinstance(number, str):
        number = _read(value, "decimal", "double")
    if isinstance(number, bool) or not isinstance(number, int | float | Decimal):
        raise _mismatch(value, "a number")
    if isinstance(number, int):  # which may be too large to be told from infinity as a float
        return Fraction(number)
    if not isfinite(number):
        raise _mismatch(value, "a number")
    return Fraction(Decimal(str(number)))


def _float(value: Value, *, is_single: bool) -> exp.Expr:
    number = _number(value)
    try:
        near = number.numerator / number.denominator
    except OverflowError:
        raise _mismatch(value, "a number in the column's range") from None
    if is_single and abs(near) > _MOST_SINGLE:
        raise _mismatch(value, "a number in the column's range")
    return _cast(repr(near), exp.DType.FLOAT if is_single else exp.DType.DOUBLE)


def _boolean(value: Value) -> exp.Expr:
    truth = value.value
    truth = _read(value, "boolean") if isinstance(truth, str) else truth
    if not isinstance(truth, bool):
        raise _mismatch(value, "true or false")
    return exp.Boolean(this=truth)


def _date(value: Value) -> exp.Expr:
    day = value.value
    day = _read(value, "date") if isinstance(day, str) else day
    if type(day) is not date:
        raise _mismatch(value, "a date such as 2020-02-19, without a time zone")
    return _cast(day.isoformat(), exp.DType.DATE)


def _timestamp(value: Value, *, zone: tzinfo, is_zoned: bool) -> exp.Expr:
    moment_given = value.value
    moment_given = _read(value, "dateTime") if isinstance(moment_given, str) else moment_given
    if not isinstance(moment_given, datetime):
        raise _mismatch(value, "a date and time such as 2020-02-19T00:00:00")
    try:
        moment = moment_given if moment_given.tzinfo else moment_given.replace(tzinfo=zone)
        if is_zoned:
            text = moment.astimezone(UTC).isoformat(" ")
            return _cast(text, exp.DType.TIMESTAMPTZ)
        local = moment.astimezone(zone) if moment_given.tzinfo else moment_given
    except OverflowError:
        raise _mismatch(value, "a date and time in the years 1 to 9999") from None
    return _cast(local.replace(tzinfo=None).isoformat(" "), exp.DType.TIMESTAMP)


def _time(value: Value) -> exp.Expr:
    time_of_day = value.value
    time_of_day = _read(value, "time") if isinstance(time_of_day, str) else time_of_day
    if not isinstance(time_of_day, time) or time_of_day.tzinfo:
        raise _mismatch(value, "a time of day such as 14:30:00, without a time zone")
    return _cast(time_of_day.isoformat(), exp.DType.TIME)


def _text(value: Value) -> exp.Expr:
    if not isinstance(value.value, str) or "\0" in value.value:
        raise _mismatch(value, "a text")
    return exp.Literal.string(value.value)


def _read(value: Value, *kinds: str) -> Any:
    """Return a text of the policy as a value of one of the XSD types; the text if it has none."""
    text = str(value.value)
    fraction = text.rpartition(".")[2].rstrip("Zz") if ":" in text and "." in text else ""
    if len(fraction) > _LONGEST_FRACTION:
        return text
    for kind in kinds:
        try:
            return read_literal(text, f"{terms.XSD}{kind}")
        except ValueError:
            continue
    return text


def _cast(text: str, kind: exp.DType) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType(this=kind))


def _mismatch(value: Value, needed: str) -> PolicyEngineError:
    message = f"A constraint compares a column with {value.value!r}. It needs {needed}."
    return QueryError.of("Q007", message)
