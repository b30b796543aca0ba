"""Conditions that no value satisfies together."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from operator import or_
from typing import Any

from policy_engine import terms
from policy_engine.policy.model import Condition, Constraint, LogicalConstraint
from policy_engine.policy.xsd.ordering import place_of

_LT, _LTEQ, _GT, _GTEQ, _EQ, _NEQ = (
    f"{terms.ODRL}{name}" for name in ("lt", "lteq", "gt", "gteq", "eq", "neq")
)
_CONJUNCTIONS = {f"{terms.ODRL}and", f"{terms.ODRL}andSequence"}
_SINGLE_VALUED = {
    f"{terms.ODRL}{name}" for name in ("dateTime", "count", "percentage", "payAmount")
}

_ValueLine = tuple[str, str, str]
"""A left operand, its unit, and the line that its values lie on."""
_Point = tuple[Any, int]
"""A place on a line: a value, or what lies right before (-1) or behind it (1)."""
_BEGINS = {_GT: 1, _GTEQ: 0, _EQ: 0}
_ENDS = {_LT: -1, _LTEQ: 0, _EQ: 0}


class DisjointConditions:
    """Which of several sets of conditions cannot be satisfied together with those of another.

    Only what is certain counts: two bounds that no value satisfies, on one left operand of ODRL
    that has a single value. All other conditions are taken to be satisfiable together.
    """

    def __init__(self, sets: Iterable[Iterable[Condition]]) -> None:
        self._bounds: dict[_ValueLine, _Bounds] = defaultdict(_Bounds)
        for number, conditions in enumerate(sets):
            for line, operator, value in _bounds(conditions):
                self._bounds[line].add(operator, value, 1 << number)

    def disjoint_sets(self, conditions: Iterable[Condition]) -> int:
        """Return the sets that are disjoint from conditions: the nth bit for the nth set."""
        bits = 0
        for line, operator, value in _bounds(conditions) if self._bounds else ():
            if line in self._bounds:
                bits |= self._bounds[line].disjoint_from(operator, value)
        return bits


class _Bounds:
    """The bounds of several sets on one line, by their points and the bits of the sets."""

    def __init__(self) -> None:
        self.begins: dict[_Point, int] = {}
        self.ends: dict[_Point, int] = {}
        self.equal: dict[Any, int] = {}
        self.unequal: dict[Any, int] = {}

    def add(self, operator: str, value: Any, bit: int) -> None:
        if operator in _BEGINS:
            _add_bit(self.begins, (value, _BEGINS[operator]), bit)
        if operator in _ENDS:
            _add_bit(self.ends, (value, _ENDS[operator]), bit)
        if operator in (_EQ, _NEQ):
            _add_bit(self.equal if operator == _EQ else self.unequal, value, bit)

    def disjoint_from(self, operator: str, value: Any) -> int:
        """Return the sets with a bound that no value satisfies together with this one."""
        disjoint_bits = 0
        if operator in _ENDS:
            points, bits_by_point = self._beginning_at_or_after
            disjoint_bits |= bits_by_point[bisect_right(points, (value, _ENDS[operator]))]
        if operator in _BEGINS:
            points, bits_by_point = self._ending_before
            disjoint_bits |= bits_by_point[bisect_left(points, (value, _BEGINS[operator]))]
        if operator in (_EQ, _NEQ):
            disjoint_bits |= (self.unequal if operator == _EQ else self.equal).get(value, 0)
        return disjoint_bits

    @cached_property
    def _beginning_at_or_after(self) -> tuple[list[_Point], Sequence[int]]:
        """The points that bounds begin at, sorted, and what begins at each or behind it."""
        points = sorted(self.begins)
        bits = accumulate((self.begins[one] for one in reversed(points)), or_, initial=0)
        return points, [*bits][::-1]

    @cached_property
    def _ending_before(self) -> tuple[list[_Point], Sequence[int]]:
        """The points that bounds end at, sorted, and what ends before each."""
        points = sorted(self.ends)
        return points, [*accumulate((self.ends[one] for one in points), or_, initial=0)]


def _add_bit(bits_by_key: dict[Any, int], key: Any, bit: int) -> None:
    bits_by_key[key] = bits_by_key.get(key, 0) | bit


def _bounds(conditions: Iterable[Condition]) -> Iterator[tuple[_ValueLine, str, Any]]:
    """Yield the bounds, each of which must hold for all the conditions to hold."""
    for condition in conditions:
        if isinstance(condition, LogicalConstraint):
            yield from _bounds(condition.operands) if condition.operator in _CONJUNCTIONS else ()
        elif condition.left_operand in _SINGLE_VALUED and len(condition.right_operands) == 1:
            yield from _constraint_bounds(condition)


def _constraint_bounds(constraint: Constraint) -> Iterator[tuple[_ValueLine, str, Any]]:
    position = place_of(constraint.right_operands[0].value)
    if position is not None:
        yield (
            (constraint.left_operand, constraint.unit, position[0]),
            constraint.operator,
            position[1],
        )
