"""Whether figures of a column leave enough unknown: totals, and what is told beside them.

To who knows all other columns, each figure of a column x is an equation in what units have in it.
Near what they have, it is a linear one, whose weights are its gradient: 1 for a total; x less its
mean for a variance; squares of that, and constants, for a skewness; y less its mean for a
covariance with a column y. So what all figures tell of a column is a span: of ones, x, its powers
and each y over the populations that figures are of. Within a set of units, as many equations follow
as there are combinations in which all other units vanish; each power or y is a linear system of its
own over atoms, for in an atom all units are weighted alike, but for x, its powers or y:

    equations(S) = sum over kinds k of dim { combinations of rows of kind k that vanish outside S }

Of u units in S who have something in the column, u - equations(S) degrees of freedom are left. They
are to be as many as are left by a total of as many units as a cell needs, m - 1: a variance beside
its mean is of m + 1 units then. A single person's value is an equation of his own, so that none
follows while any degree is left but his.

Sets are looked at that equations other than totals are about: populations of these, what two of
them differ by or have in common, all together, and where the reduced form of each kind has
anything. That a figure rests on a mean which is not known itself is counted as if it were.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_span import echelon, random_prime
from policy_engine.kernels.output_checks.sparse_span import Combinations, SparseRows, WholeForm
from policy_engine.release.output_ledger.amounts import contributing_table
from policy_engine.release.output_ledger.answers import (
    EQUATIONS,
    ToldFigures,
    column_of,
    pair_of,
    product_columns,
    spread_column,
    statistic_columns,
    systems_of,
    told_columns,
)
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import AtomTable, Knowledge
from policy_engine.release.output_ledger.linear_systems import LinearSystem, linear_systems
from policy_engine.release.output_ledger.told_figures import system_figures

TOO_MANY = "K043"
_MOST_PAIRED = 150
"""Of how many populations of equations other than totals every two are compared."""
_KINDS = 4
"""How many equations of one population are common: of ones, x, its square and its cube."""

_Masks = NDArray[np.bool_]
_ONES, _FIRST, _SECOND, _THIRD = "1", "x", "x^2", "x^3"


def unknown_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the fresh cells by which too little of a column is left unknown."""
    if trial.contributing is None:
        return
    fresh = {name for one in trial.fresh for name in told_columns(trial.cells[one].measure)}
    for column in sorted(one for one in fresh if not product_columns(one)):
        kinds = _kinds_in(trial.after, column)
        if not kinds.keys() - {_ONES}:
            continue
        for is_counted in trial.contributing(column, None):
            own = contributing_table(trial, table, is_counted)
            wide = replace(own.owners, least=own.owners.least + _KINDS)
            for system in linear_systems(
                trial, own._replace(owners=wide), [f"{EQUATIONS}{column}"]
            ):
                equations = _Equations(system, own.owners.least, kinds, random_prime())
                before = replace(equations, kinds=_kinds_in(trial.before, column))
                yield from _faults_of(trial, column, equations, before)


def _kinds_in(knowledge: Knowledge, column: str) -> dict[str, set[int]]:
    """Return the populations that are rows of each kind of equations of a column."""
    kinds: dict[str, set[int]] = {}
    for measure, numbers in knowledge.released.items():
        for kind in _kinds_of(measure, column) if numbers else ():
            kinds.setdefault(kind, set()).update(numbers)
    return kinds


@cache
def _kinds_of(measure: str, column: str) -> tuple[str, ...]:
    """Return the kinds of equations that a measure is of in a column, none of other measures."""
    if column in {column_of(one) for one in systems_of(measure)}:
        return (_ONES,)
    if spread_column(measure) == column:
        is_third = measure.startswith("skew:")
        return (_ONES, _FIRST, _SECOND) if is_third else (_ONES, _FIRST)
    if column not in statistic_columns(measure) or column not in told_columns(measure):
        return ()
    name = measure.rpartition("]:")[2].upper()
    if pair_of(measure):
        [*others] = statistic_columns(measure) - {column}
        products = tuple(f"y:{other}" for other in others)
        is_plain = name.startswith(("COVAR", "REGR_SXY"))
        return (_ONES, *products) if is_plain else (_ONES, _FIRST, *products)
    if name.startswith("SKEW"):
        return (_ONES, _FIRST, _SECOND)
    return (_ONES, _FIRST, _SECOND, _THIRD) if name.startswith("KURT") else (_ONES, _FIRST)


@dataclass(frozen=True, eq=False)
class _Equations:
    """The equations of a column: which populations of its system are rows of each of the `kinds`.

    As many owners as are `least` are needed in a cell.
    """

    system: LinearSystem
    least: int
    kinds: Mapping[str, set[int]]
    prime: int

    @cached_property
    def rows(self) -> dict[str, SparseRows]:
        """The rows of each kind."""
        numbers, own = self.system.numbers.tolist(), self.system.rows
        masks = {
            kind: np.array([one in some for one in numbers], np.bool_)
            for kind, some in self.kinds.items()
        }
        return {kind: own.chosen(mask) for kind, mask in masks.items() if mask.any()}

    @cached_property
    def is_open(self) -> _Masks:
        """The atoms somebody in whom has something in the column: (atoms,)."""
        return np.asarray(self.system.owners.sizes > 0, np.bool_)

    def count(self, is_in: _Masks) -> int:
        """Return how many owners have something in some atoms, (atoms,)."""
        owners = self.system.owners
        if owners.pairs is None:
            return int(owners.sizes[is_in].sum())
        atoms, whose = owners.pairs
        return len(np.unique(whose[is_in[atoms]]))

    def sets(self) -> Iterator[_Masks]:
        """Yield the sets of atoms, (atoms,) each, of which it is asked how much is known."""
        seen = set[bytes]()
        for one in self._sets():
            own = one & self.is_open
            if own.any() and own.tobytes() not in seen:
                seen.add(own.tobytes())
                yield own

    def _sets(self) -> Iterator[_Masks]:
        others = {kind: rows for kind, rows in self.rows.items() if kind != _ONES}
        populations = {one.tobytes(): one for rows in others.values() for one in _members(rows)}
        own = [*populations.values()]
        yield from own
        if own:
            yield np.logical_or.reduce(own)
        if len(own) <= _MOST_PAIRED:
            for one, other in combinations(own, 2):
                if (one & other).any():
                    yield from (one & ~other, other & ~one, one & other, one | other, one ^ other)
        columns = np.arange(self.system.rows.width)
        for rows in others.values():
            form = WholeForm.of_rows(rows, self.system.order, self.prime)
            yield from form.entries(columns) != 0

    def are_known(self, is_in: _Masks) -> bool:
        """Return whether too few degrees of freedom are left in some atoms."""
        needed = self.count(is_in) - max(self.least - 1, 0)
        if self._bound(is_in) <= needed:
            return False
        return self.dimensions(is_in) > needed

    def _bound(self, is_in: _Masks) -> int:
        atoms = int(is_in.sum())
        return sum(min(atoms, _meeting(rows, is_in)) for rows in self.rows.values())

    def dimensions(self, is_in: _Masks) -> int:
        """Return how many equations there are in units of some atoms alone."""
        outside = np.flatnonzero(self.is_open & ~is_in)
        inside = np.flatnonzero(is_in)
        total = 0
        for rows in self.rows.values():
            own = Combinations.of_rows(rows, self.prime).constrained(outside).alone()
            values = np.ascontiguousarray(own.values(inside).T)
            total += len(echelon(values, self.prime).rows) if values.size else 0
        return total


def _members(rows: SparseRows) -> _Masks:
    return np.asarray(rows.dense() != 0, np.bool_)


def _meeting(rows: SparseRows, is_in: _Masks) -> int:
    """Return how many rows have a one in some columns."""
    return len(np.unique(rows.members[is_in[rows.columns]]))


def _faults_of(
    trial: Trial, column: str, equations: _Equations, before: _Equations
) -> Iterator[Fault]:
    for is_in in equations.sets():
        trial.limit.check()
        if not equations.are_known(is_in):
            continue
        if before.dimensions(is_in) >= equations.dimensions(is_in):
            continue  # It follows from earlier answers alone.
        figures = partial(_figures, trial, equations.system, is_in)
        yield Fault(TOO_MANY, _cells_within(trial, column, equations, is_in), figures)


def _cells_within(
    trial: Trial, column: str, equations: _Equations, is_in: _Masks
) -> tuple[int, ...]:
    """Return the places of the fresh cells that are about some atoms, and no others if there are
    such: those that are no totals, if any is."""
    system, is_open = equations.system, equations.is_open
    inside = system.rows.sums((is_in & is_open).astype(np.float64)) > 0
    is_within = inside & (system.rows.sums((~is_in & is_open).astype(np.float64)) == 0)
    for mask in (is_within, inside):
        numbers = {*system.numbers[mask].tolist()}
        places = [place for place in trial.fresh if trial.numbers[place] in numbers]
        kinds = {place: _kinds_of(trial.cells[place].measure, column) for place in places}
        others = tuple(place for place in places if {*kinds[place]} - {_ONES})
        totals = tuple(place for place in places if kinds[place])
        if others or totals:
            return others or totals
    return trial.fresh


def _figures(trial: Trial, system: LinearSystem, is_in: _Masks) -> ToldFigures:
    """Return which figures are about some atoms."""
    is_used = system.rows.sums(is_in.astype(np.float64)) > 0
    return system_figures(trial.after, system, is_used, is_in, "combination")
