"""Conditions that nothing can meet together."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
_JOINED = {f"{terms.ODRL}and", f"{terms.ODRL}andSequence"}
_SINGLE = {f"{terms.ODRL}{name}" for name in ("dateTime", "count", "percentage", "payAmount")}

_Line = tuple[str, str, str]
"""A left operand, its unit, and the line that its values lie on."""
_Point = tuple[Any, int]
"""A place on a line: a value, or what lies right before (-1) or behind it (1)."""
_BEGINS = {_GT: 1, _GTEQ: 0, _EQ: 0}
_ENDS = {_LT: -1, _LTEQ: 0, _EQ: 0}


class Apart:
    """Which of several sets of conditions nothing meets together with those of another.

    Only what is certain counts: two bounds on one left operand of ODRL that has a single value,
    in ways that no value meets. All else may be met together, as far as can be known here.
    """

    def __init__(self, sets: Iterable[Iterable[Condition]]) -> None:
        self._bounds: dict[_Line, _Bounds] = defaultdict(_Bounds)
        for number, conditions in enumerate(sets):
            for line, operator, value in _atoms(conditions):
                self._bounds[line].add(operator, value, 1 << number)

    def of(self, conditions: Iterable[Condition]) -> int:
        """Return the sets, as bits: the nth bit is the nth of them."""
        found = 0
        for line, operator, value in _atoms(conditions) if self._bounds else ():
            if line in self._bounds:
                found |= self._bounds[line].apart_from(operator, value)
        return found


@dataclass
class _Bounds:
    """The bounds of several sets on one line, by their points and the bits of the sets."""

    begins: dict[_Point, int] = field(default_factory=dict)
    ends: dict[_Point, int] = field(default_factory=dict)
    equal: dict[Any, int] = field(default_factory=dict)
    unequal: dict[Any, int] = field(default_factory=dict)

    def add(self, operator: str, value: Any, bit: int) -> None:
        if operator in _BEGINS:
            _add(self.begins, (value, _BEGINS[operator]), bit)
        if operator in _ENDS:
            _add(self.ends, (value, _ENDS[operator]), bit)
        if operator in (_EQ, _NEQ):
            _add(self.equal if operator == _EQ else self.unequal, value, bit)

    def apart_from(self, operator: str, value: Any) -> int:
        """Return the sets that hold a bound which no value meets together with this one."""
        found = 0
        if operator in _ENDS:
            points, bits = self._begin_behind
            found |= bits[bisect_right(points, (value, _ENDS[operator]))]
        if operator in _BEGINS:
            points, bits = self._end_before
            found |= bits[bisect_left(points, (value, _BEGINS[operator]))]
        if operator in (_EQ, _NEQ):
            found |= (self.unequal if operator == _EQ else self.equal).get(value, 0)
        return found

    @cached_property
    def _begin_behind(self) -> tuple[list[_Point], Sequence[int]]:
        """The points that bounds begin at, sorted, and what begins at each or behind it."""
        points = sorted(self.begins)
        bits = accumulate((self.begins[one] for one in reversed(points)), or_, initial=0)
        return points, [*bits][::-1]

    @cached_property
    def _end_before(self) -> tuple[list[_Point], Sequence[int]]:
        """The points that bounds end at, sorted, and what ends before each."""
        points = sorted(self.ends)
        return points, [*accumulate((self.ends[one] for one in points), or_, initial=0)]


def _add(to: dict[Any, int], key: Any, bit: int) -> None:
    to[key] = to.get(key, 0) | bit


def _atoms(conditions: Iterable[Condition]) -> Iterator[tuple[_Line, str, Any]]:
    """Yield the bounds, each of which must hold for all the conditions to hold."""
    for condition in conditions:
        if isinstance(condition, LogicalConstraint):
            yield from _atoms(condition.operands) if condition.operator in _JOINED else ()
        elif condition.left_operand in _SINGLE and len(condition.right_operands) == 1:
            yield from _atom(condition)


def _atom(one: Constraint) -> Iterator[tuple[_Line, str, Any]]:
    place = place_of(one.right_operands[0].value)
    if place is not None:
        yield (one.left_operand, one.unit, place[0]), one.operator, place[1]
