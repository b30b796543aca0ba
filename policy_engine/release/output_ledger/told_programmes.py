"""Equations in numbers of units and of owners that are told, and what follows from them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_bounds import (
    KnownSums,
    Terms,
    fixed_ends,
    never_reached,
)
from policy_engine.release.output_ledger.judging_time import TimeLimit

SECONDS = 10.0

_Counts = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Masks = NDArray[np.bool_]
_Terms = Sequence[tuple[int, float]]


class Programme(NamedTuple):
    """Equations over numbers of units and of owners, which are of populations, (equations,): of a
    place among these, -1 for what holds by itself. One equation alone tells nothing of the numbers
    that are open (`is_open`); those of them at an end (`is_asked`) must not be known to be so."""

    sums: KnownSums
    solution: _Floats
    of_rows: _Counts
    of_chosen: _Counts
    is_asked: _Masks
    is_open: _Masks

    def fixed(
        self, is_known: tuple[_Masks, _Masks], is_end: _Masks, limit: TimeLimit
    ) -> _Masks | None:
        """Return which of some numbers at an end stay there, by the equations of some populations
        and all that hold by themselves; None where that is not found."""
        if not is_end.any():
            return is_end
        sums = self._known(is_known)
        fixed = fixed_ends(sums, self.solution, is_end, min(SECONDS, limit.left))
        limit.check_found(is_found=fixed is not None)
        return None if fixed is None else fixed.atoms

    def never_nothing(
        self, is_known: tuple[_Masks, _Masks], targets: _Masks, limit: TimeLimit, *, of_rest: bool
    ) -> _Masks | None:
        """Return of which sets of numbers, (sets, numbers), it is known by the equations of some
        populations that one is more than nothing or, `of_rest`, less than the largest; None where
        that is not found."""
        sign = -1.0 if of_rest else 1.0
        largest = np.where(targets, self.sums.most, 0.0).sum(axis=1)
        ends = -largest if of_rest else np.zeros(len(targets))
        seconds = min(SECONDS, limit.left)
        signed: _Floats = np.where(targets, sign, 0.0)
        is_told = never_reached(self._known(is_known), signed, ends, seconds)
        limit.check_found(is_found=is_told is not None)
        return is_told

    def _known(self, is_known: tuple[_Masks, _Masks]) -> KnownSums:
        of_rows, of_chosen = (np.append(one, np.True_) for one in is_known)
        own = of_rows[self.of_rows] & of_chosen[self.of_chosen]
        assert isinstance(self.sums.rows, Terms)  # noqa: S101 (programme() makes no others)
        return self.sums._replace(rows=self.sums.rows.chosen(own), values=self.sums.values[own])


class ToldEquations:
    """Equations as they are added, of numbers that are added before."""

    def __init__(self, most: int) -> None:
        """Begin with none, of so many terms at most."""
        self.most = most
        self.count = 0
        self.solution: list[float] = []
        self.largest: list[float] = []
        self.asked: list[bool] = []
        self.rows: list[_Terms] = []
        self.of_rows: list[int] = []
        self.of_chosen: list[int] = []

    @property
    def is_too_large(self) -> bool:
        """Whether there are too many terms."""
        return self.count > self.most

    def numbers(self, values: _Floats, largest: _Floats, *, is_asked: bool = True) -> _Counts:
        """Add numbers between nothing and the largest, and return their places."""
        first = len(self.solution)
        self.solution += values.tolist()
        self.largest += largest.tolist()
        self.asked += [is_asked] * len(values)
        return np.arange(first, len(self.solution))

    def add(self, terms: _Terms, *, of_rows: int = -1, of_chosen: int = -1) -> None:
        """Add that the sum of some terms, numbers times factors, is what it is."""
        self.rows.append([*terms])
        self.count += len(terms)
        self.of_rows.append(of_rows)
        self.of_chosen.append(of_chosen)

    def add_told(self, numbers: _Counts, *, of_rows: int = -1, of_chosen: int = -1) -> None:
        """Add that the sum of some numbers is told. What it says by itself, that all of it is there
        or nothing, is not asked about."""
        own = numbers.tolist()
        self.add([(one, 1.0) for one in own], of_rows=of_rows, of_chosen=of_chosen)
        value, most = (sum(some[one] for one in own) for some in (self.solution, self.largest))
        if value in (0.0, most):
            self.leave(numbers)

    def leave(self, numbers: _Counts) -> None:
        """Ask no more about some numbers."""
        for one in numbers.tolist():
            self.asked[one] = False

    def add_at_least(self, terms: _Terms, least: float, *, is_equal: bool = False) -> None:
        """Add that some terms are at least so much, or just so much."""
        if is_equal:
            self.add(terms)
            return
        beyond = np.array([self._value(terms) - least])
        [slack] = self.numbers(beyond, np.array([np.inf]), is_asked=False).tolist()
        self.add([*terms, (slack, -1.0)])

    def programme(self) -> Programme:
        """Return all equations."""
        row = np.repeat(np.arange(len(self.rows)), [len(terms) for terms in self.rows])
        numbers, factors = zip(*(one for terms in self.rows for one in terms), strict=True)
        shape = len(self.rows), len(self.solution)
        matrix = Terms.summed(row, np.array(numbers), np.array(factors, np.float64), shape)
        solution, largest = np.array(self.solution), np.array(self.largest)
        values = np.array([self._value(terms) for terms in self.rows])
        is_end = (solution <= 0) | (solution >= largest)
        sums = KnownSums(matrix, values, np.zeros(len(solution)), largest)
        places = np.array(self.of_rows, np.int64), np.array(self.of_chosen, np.int64)
        is_open = np.array(self.asked, np.bool_)
        return Programme(sums, solution, *places, is_open & is_end, is_open)

    def _value(self, terms: _Terms) -> float:
        return sum(factor * self.solution[one] for one, factor in terms)
