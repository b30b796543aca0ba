"""Whether a changed condition holds more often or less often."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from policy_engine import terms
from policy_engine.authoring.diff.meaning import value_key
from policy_engine.authoring.diff.model import Way
from policy_engine.policy.model import Condition, Constraint, LogicalConstraint

_ODRL = terms.ODRL
_UPPER = {f"{_ODRL}lt": False, f"{_ODRL}lteq": True}
_LOWER = {f"{_ODRL}gt": False, f"{_ODRL}gteq": True}
_AT_LEAST_A_DAY = timedelta(days=1)


def way_of(old: Condition, new: Condition) -> Way:
    """Return whether the new condition holds for more, for less, or for both than the old one.

    It recognises bounds that moved and lists that grew or shrank; anything else can be both.
    """
    if isinstance(old, LogicalConstraint) or isinstance(new, LogicalConstraint):
        return Way.BOTH
    if not _have_same_operand(old, new):
        return Way.BOTH
    for ends, up in ((_UPPER, Way.GROWS), (_LOWER, Way.SHRINKS)):
        if old.operator in ends and new.operator in ends:
            return _bound_way(old, new, ends, up)
    if old.operator == new.operator == f"{_ODRL}isAnyOf":
        return _list_way(old, new)
    if old.operator == new.operator == f"{_ODRL}isNoneOf":
        return _list_way(old, new).flipped()
    return Way.BOTH


def _have_same_operand(old: Constraint, new: Constraint) -> bool:
    def operand_key(one: Constraint) -> tuple[Any, ...]:
        status = value_key(one.status) if one.status else ()
        return (one.left_operand, one.unit, one.data_type, status, sorted(one.references))

    return operand_key(old) == operand_key(new) and not old.references


def _bound_way(old: Constraint, new: Constraint, ends: Mapping[str, bool], up: Way) -> Way:
    """Return the effect of a bound that moved, where `up` is the effect of a greater one.

    `ends` say whether the bound itself is allowed.
    """
    if not len(old.right_operands) == len(new.right_operands) == 1:
        return Way.BOTH
    [one], [other] = old.right_operands, new.right_operands
    order = _order(one.value, other.value)
    if one.is_iri or other.is_iri or order is None:
        return Way.BOTH
    if order == 0:
        was_met, is_met = ends[old.operator], ends[new.operator]
        return Way.SAME if was_met == is_met else Way.GROWS if is_met else Way.SHRINKS
    return up if order < 0 else up.flipped()


def _order(one: Any, other: Any) -> int | None:
    """Return how two bounds compare; None if that depends on a time zone, or on anything else."""
    if type(one) is not type(other) or type(one) not in (int, float, Decimal, date, datetime):
        return None
    if isinstance(one, datetime):
        return _order_of_moments(one, other)
    if one != one or other != other:  # noqa: PLR0124 (not a number)
        return None
    return int(one > other) - int(one < other)


def _order_of_moments(one: datetime, other: datetime) -> int | None:
    if one.utcoffset() is None and other.utcoffset() is None:
        # When clocks are set forward or back, times of one day may change order.
        near = abs(one - other) < _AT_LEAST_A_DAY and one != other
        return None if near else (one > other) - (one < other)
    if one.utcoffset() is None or other.utcoffset() is None:
        return None
    return (one > other) - (one < other)


def _list_way(old: Constraint, new: Constraint) -> Way:
    before, after = set(map(value_key, old.right_operands)), set(map(value_key, new.right_operands))
    if not before or not after:
        return Way.BOTH
    grows = Way.GROWS if after - before else Way.SAME
    return grows | (Way.SHRINKS if before - after else Way.SAME)
