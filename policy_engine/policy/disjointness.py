"""Conditions that nothing can meet together."""

from collections.abc import Iterable, Iterator
from datetime import UTC

from policy_engine import terms
from policy_engine.policy.literals import equal, order
from policy_engine.policy.model import Condition, Constraint, LogicalConstraint, Value

_LT, _LTEQ, _GT, _GTEQ, _EQ, _NEQ = (
    f"{terms.ODRL}{name}" for name in ("lt", "lteq", "gt", "gteq", "eq", "neq")
)
_JOINED = {f"{terms.ODRL}and", f"{terms.ODRL}andSequence"}
_SINGLE = {f"{terms.ODRL}{name}" for name in ("dateTime", "count", "percentage", "payAmount")}


def exclude_one_another(some: Iterable[Condition], others: Iterable[Condition]) -> bool:
    """Tell whether nothing can meet all of two sets of conditions.

    Only what is certain counts: two bounds on one left operand of ODRL that has a single value,
    in ways that no value meets. All else may be met together, as far as can be known here.
    """
    ours, theirs = list(_atoms(some)), list(_atoms(others))
    return any(_apart(one, other) for one in ours for other in theirs)


def _atoms(conditions: Iterable[Condition]) -> Iterator[Constraint]:
    """Yield the constraints each of which must hold for all the conditions to hold."""
    for condition in conditions:
        if isinstance(condition, LogicalConstraint):
            yield from _atoms(condition.operands) if condition.operator in _JOINED else ()
        elif condition.left_operand in _SINGLE and len(condition.right_operands) == 1:
            yield condition


def _apart(one: Constraint, other: Constraint) -> bool:
    same = (one.left_operand, one.unit) == (other.left_operand, other.unit)
    return same and (_ends_before(one, other) or _ends_before(other, one) or _differ(one, other))


def _ends_before(one: Constraint, other: Constraint) -> bool:
    """Tell whether all that meets one constraint is less than all that meets the other."""
    if one.operator not in (_LT, _LTEQ, _EQ) or other.operator not in (_GT, _GTEQ, _EQ):
        return False
    order_of = _order(one.right_operands[0], other.right_operands[0])
    is_open = one.operator == _LT or other.operator == _GT
    return order_of == -1 or (order_of == 0 and is_open)


def _differ(one: Constraint, other: Constraint) -> bool:
    if {one.operator, other.operator} != {_EQ, _NEQ}:
        return False
    values = one.right_operands[0].value, other.right_operands[0].value
    return equal(*values, UTC) is True


def _order(one: Value, other: Value) -> int | None:
    if type(one.value) is not type(other.value):
        return None
    return order(one.value, other.value, UTC)
