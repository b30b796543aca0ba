"""A table of results as the linear equations that an attacker knows to hold between its cells.

Fischetti and Salazar: Solving the cell suppression problem on tabular data with linear constraints,
Management Science 47(7), 2001, section 2: cells, equations, protection levels and bounds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NOBODY = -1
"""The contributor of a cell that has none, or several."""

_WIDE = 10.0
_NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class Equations:
    """Sparse equations with whole coefficients, each of sum 0.

    Equation e is about `cells[starts[e]:starts[e + 1]]`, times the `coefficients` at these places.
    """

    starts: Ints
    cells: Ints
    coefficients: Ints

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.starts) - 1

    @cached_property
    def rows(self) -> Ints:
        """The equation of each coefficient, (coefficients,)."""
        return np.repeat(np.arange(self.count), np.diff(self.starts))

    @cached_property
    def parts_of_totals(self) -> tuple[Ints, Ints]:
        """Cells that others add up to, in order, and those others, (parts,) each."""
        is_total = self.coefficients == -1
        has_one = np.bincount(self.rows, is_total, minlength=self.count) == 1
        total = np.zeros(self.count, np.int64)
        total[self.rows[is_total]] = self.cells[is_total]
        is_part = ~is_total & has_one[self.rows]
        totals, parts = total[self.rows[is_part]], self.cells[is_part]
        order = np.argsort(totals, kind="stable")
        return totals[order], parts[order]

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of each equation, (equations,), of values of cells; whole ones exactly."""
        terms = self.coefficients * values[self.cells]
        sums = np.zeros(self.count, dtype=terms.dtype)
        np.add.at(sums, self.rows, terms)
        return sums

    def of_cells(self, is_kept: Bools) -> "Equations":
        """Return the equations without the terms of other cells, and without those left empty."""
        is_term = is_kept[self.cells]
        sizes = np.bincount(self.rows[is_term], minlength=self.count)
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
        return Equations(starts, self.cells[is_term], self.coefficients[is_term])

    def of_kinds(self, cells: Ints) -> "Equations":
        """Return all equations, without the terms of other cells than some, which are in order,
        about their positions there."""
        positions = np.full(int(max(self.cells.max(initial=-1), cells.max(initial=-1))) + 1, -1)
        positions[cells] = np.arange(len(cells))
        is_term = positions[self.cells] >= 0
        sizes = np.bincount(self.rows[is_term], minlength=self.count)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Equations(starts, positions[self.cells[is_term]], self.coefficients[is_term])

    def among(self, cells: Ints) -> "Equations":
        """Return the equations all of whose cells are among some, about their positions there."""
        size = int(max(self.cells.max(initial=-1), cells.max(initial=-1))) + 1
        positions = np.full(size, -1)
        positions[cells] = np.arange(len(cells))
        outside = np.bincount(self.rows, positions[self.cells] < 0, minlength=self.count)
        is_term = (outside == 0)[self.rows]
        sizes = np.diff(self.starts)[outside == 0]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return Equations(starts, positions[self.cells[is_term]], self.coefficients[is_term])


@dataclass(frozen=True, eq=False)
class TableLayout:
    """The equations between the cells of a table, and the tables without hierarchies it is made of.

    Each of `grids` has the numbers of its cells, along each dimension with a total those of its
    parts and then the total; one comes after those that its totals are in.
    """

    cells: int
    equations: Equations
    grids: tuple[Ints, ...]

    @property
    def subtables(self) -> tuple[Ints, ...]:
        """The numbers of the cells of each grid, in one row."""
        return tuple(grid.ravel() for grid in self.grids)


@dataclass(frozen=True, eq=False)
class LatticeDimension:
    """A dimension of so many codes, of which one may be a part of several totals, as a district is
    of a region and of those of its kind; each of `lines` has parts and, as its last code, their
    total."""

    codes: int
    lines: tuple[Ints, ...]


Dimension = Ints | LatticeDimension
"""The parent of each code, (codes,), which is -1 where it has none; or a lattice."""


def flat_dimension(parts: int) -> Ints:
    """Return the parents of a dimension of so many parts and, as its last code, their total."""
    return np.append(np.full(parts, parts), NOBODY)


def lay_out(dimensions: Sequence[Dimension]) -> TableLayout:
    """Return the layout of a table of any number of dimensions; its cells are in C order.

    A dimension is the parent of each of its codes, (codes,): the code that it is summed up in, or
    -1; or its lines. So a dimension without any parent has no total. Raises ValueError for parents
    in a circle.
    """
    lattices = [lattice_of(one) for one in dimensions]
    sizes = tuple(one.codes for one in lattices)
    numbers = np.arange(int(np.prod(sizes))).reshape(sizes)
    rows = [row for axis, one in enumerate(lattices) for row in _lines(numbers, axis, one.lines)]
    return TableLayout(numbers.size, _stacked(rows), _grids(numbers, lattices))


def lattice_of(dimension: Dimension) -> LatticeDimension:
    """Return a dimension by its lines."""
    if isinstance(dimension, LatticeDimension):
        return dimension
    totals = np.unique(dimension[dimension != NOBODY])
    lines = [np.append(np.flatnonzero(dimension == total), total) for total in totals]
    return LatticeDimension(len(dimension), tuple(lines))


def link(layouts: Sequence[TableLayout], numbers: Sequence[Ints]) -> TableLayout:
    """Return the layout of tables that share cells.

    `numbers` says for each table which cell of all each of its cells is: (cells,), from 0 without
    gaps over all tables.
    """
    count = 1 + max(int(one.max()) for one in numbers)
    pairs = list(zip(layouts, numbers, strict=True))
    starts = np.cumsum([0, *(len(one.equations.cells) for one in layouts)])
    equations = Equations(
        np.concatenate(
            [
                [0],
                *(one.equations.starts[1:] + at for one, at in zip(layouts, starts, strict=False)),
            ]
        ),
        np.concatenate([cells[one.equations.cells] for one, cells in pairs]),
        np.concatenate([one.equations.coefficients for one in layouts]),
    )
    return TableLayout(count, equations, tuple(n[s] for one, n in pairs for s in one.grids))


def _lines(numbers: Ints, axis: int, lines: Sequence[Ints]) -> list[tuple[Ints, Ints]]:
    """Return cells and coefficients, (lines, terms) and (terms,), of every total along an axis."""
    every = np.moveaxis(numbers, axis, -1).reshape(-1, numbers.shape[axis])
    return [
        (every[:, np.roll(one, 1)], np.append(-1, np.ones(len(one) - 1, dtype=np.int64)))
        for one in lines
    ]


def _stacked(blocks: list[tuple[Ints, Ints]]) -> Equations:
    sizes = [np.full(len(cells), len(terms)) for cells, terms in blocks]
    none = np.zeros(0, dtype=np.int64)
    return Equations(
        np.concatenate([[0], np.cumsum(np.concatenate([none, *sizes]))]).astype(np.int64),
        np.concatenate([none, *(cells.ravel() for cells, _ in blocks)]),
        np.concatenate([none, *(np.tile(terms, len(cells)) for cells, terms in blocks)]),
    )


def _grids(numbers: Ints, dimensions: Sequence[LatticeDimension]) -> tuple[Ints, ...]:
    """Return the cells of every choice of one total, with its parts, along each dimension."""
    tables = [(0, numbers)]
    for axis, dimension in enumerate(dimensions):
        tables = [
            (depth + more, np.take(table, codes, axis))
            for depth, table in tables
            for more, codes in _families(dimension)
        ]
    return tuple(table for _, table in sorted(tables, key=lambda pair: pair[0]))


def _families(dimension: LatticeDimension) -> list[tuple[int, Ints]]:
    """Return the totals of a dimension with their parts, and how deep each of them is."""
    depths = _depths(dimension)
    families = [(int(depths[line[-1]]), line) for line in dimension.lines]
    codes = np.concatenate([np.zeros(0, np.int64), *dimension.lines])
    alone = np.setdiff1d(np.arange(dimension.codes), codes)
    return sorted(families, key=lambda pair: pair[0]) + ([(0, alone)] if len(alone) else [])


def _depths(dimension: LatticeDimension) -> Ints:
    """Return how many totals at the most each code is a part of, one of the other: (codes,)."""
    depths = np.zeros(dimension.codes, np.int64)
    for _ in range(dimension.codes + 1):
        before = depths.copy()
        for line in dimension.lines:
            depths[line[:-1]] = np.maximum(depths[line[:-1]], depths[line[-1]] + 1)
        if (depths == before).all():
            return depths
    raise ValueError("A dimension's codes are each other's parents. They must end in one.")


@dataclass(frozen=True, eq=False)
class TableSystem:
    """A table of n cells and what an attacker knows of it; every array is (n,).

    A primary cell is protected where an attacker cannot exclude any value from `lower_protection`
    below its own to `upper_protection` above it; at least one of the two is above 0. Before the
    table is out the attacker knows that cells are from `lower_bounds` to `upper_bounds`. `weights`
    say what it costs to suppress a cell. A cell that must be published has no `may_be_suppressed`;
    one that `is_hidden` is not published by anybody. Of `contributors` a cell has the number of its
    only contributor, or -1.
    """

    layout: TableLayout
    values: Floats
    weights: Floats
    is_primary: Bools
    lower_protection: Floats
    upper_protection: Floats
    lower_bounds: Floats
    upper_bounds: Floats
    may_be_suppressed: Bools
    is_hidden: Bools
    contributors: Ints

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.values)

    @property
    def equations(self) -> Equations:
        """The equations between cells."""
        return self.layout.equations

    @cached_property
    def down(self) -> Floats:
        """How far below its value an attacker would believe a cell, (n,): finite."""
        return np.minimum(self.values - self.lower_bounds, self._reach)

    @cached_property
    def up(self) -> Floats:
        """How far above its value an attacker would believe a cell, (n,): finite."""
        return np.minimum(self.upper_bounds - self.values, self._reach)

    @cached_property
    def lone_knowledge(self) -> tuple[Ints, Ints]:
        """Which cells lone contributors know before the table is out, and whose number that is,
        (pairs,) each: those that they are alone in, and the empty parts of these.

        Of such a part nobody can be protected from them, nor has to be.
        """
        totals, parts = self.equations.parts_of_totals
        lone = np.flatnonzero(self.contributors != NOBODY)
        pairs = np.stack([lone, self.contributors[lone]])
        latest = pairs
        while latest.size:
            firsts = np.searchsorted(totals, latest[0])
            sizes = np.searchsorted(totals, latest[0], "right") - firsts
            offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            below = parts[np.repeat(firsts, sizes) + offsets]
            is_empty = self.values[below] == 0
            latest = np.stack([below, np.repeat(latest[1], sizes)])[:, is_empty]
            latest = np.unique(latest, axis=1)
            pairs = np.concatenate([pairs, latest], axis=1)
        cells, contributors = np.unique(pairs, axis=1)
        return cells, contributors

    @property
    def _reach(self) -> float:
        # An attacker who knows more than in truth: what is protected then is protected.
        levels = np.concatenate([self.lower_protection, self.upper_protection])
        return _WIDE * float(np.abs(np.concatenate([self.values, levels, [1.0]])).max())

    @cached_property
    def first_pattern(self) -> Bools:
        """The cells, (n,), that are not published whatever else is: primary or hidden ones."""
        return (self.is_primary & self.may_be_suppressed) | self.is_hidden

    def cost(self, is_suppressed: Bools) -> float:
        """Return the weights of the cells that a pattern suppresses besides the first pattern.

        They are added up exactly: whichever cells they are, equal weights cost the same.
        """
        return math.fsum(self.weights[is_suppressed & ~self.first_pattern].tolist())


def table_system(
    layout: TableLayout,
    values: NDArray[Any],
    is_primary: NDArray[Any],
    *,
    protection: float | tuple[NDArray[Any], NDArray[Any]] = 1.0,
    weights: NDArray[Any] | None = None,
    bounds: tuple[NDArray[Any], NDArray[Any]] | None = None,
    may_be_suppressed: NDArray[Any] | None = None,
    is_hidden: NDArray[Any] | None = None,
    contributors: NDArray[Any] | None = None,
) -> TableSystem:
    """Return the system of a table, its arrays of any shape with the layout's cells in C order.

    `protection` is a level for all cells, or lower and upper ones; a lower one is no more than the
    attacker's bounds leave. Without `weights` every cell costs 1, without `bounds` no cell that is
    0 or more is believed negative, and without `may_be_suppressed` all may be.

    Raises ValueError for a primary cell without protection levels above 0, for a negative weight,
    and for a value outside the bounds.
    """
    floats = _flat(values, np.float64)
    below, above = bounds or (np.where(floats >= 0, 0.0, -np.inf), np.full(len(floats), np.inf))
    lower_bounds, upper_bounds = _flat(below, np.float64), _flat(above, np.float64)
    lower, upper = protection if isinstance(protection, tuple) else (protection, protection)
    levels = [
        np.broadcast_to(np.ravel(one).astype(np.float64), floats.shape) for one in (lower, upper)
    ]
    one = np.ones(len(floats))
    system = TableSystem(
        layout=layout,
        values=floats,
        weights=one if weights is None else _flat(weights, np.float64),
        is_primary=_flat(is_primary, np.bool_),
        lower_protection=np.minimum(levels[0], floats - lower_bounds),
        upper_protection=np.minimum(levels[1], upper_bounds - floats),
        lower_bounds=lower_bounds,
        upper_bounds=upper_bounds,
        may_be_suppressed=_flat(one if may_be_suppressed is None else may_be_suppressed, np.bool_),
        is_hidden=_flat(0 * one if is_hidden is None else is_hidden, np.bool_),
        contributors=_flat(NOBODY * one if contributors is None else contributors, np.int64),
    )
    _refuse(system)
    return system


def _flat(values: NDArray[Any], kind: Any) -> NDArray[Any]:
    return np.ravel(np.asarray(values)).astype(kind)


def _refuse(system: TableSystem) -> None:
    if system.layout.cells != system.size:
        raise ValueError(f"{system.size} values are not those of {system.layout.cells} cells.")
    if ((system.down < 0) | (system.up < 0)).any():
        raise ValueError("A value is outside the bounds that an attacker is said to know.")
    if (system.weights < 0).any() or not np.isfinite(system.weights).all():
        raise ValueError("A cell has a negative weight. It may be 0 or more.")
    levels = np.maximum(system.lower_protection, system.upper_protection)
    if (levels[system.is_primary] <= 0).any() or (levels[system.is_primary] == np.inf).any():
        raise ValueError("A primary cell needs a finite protection level above 0.")


def broken_equations(equations: Equations, values: NDArray[Any]) -> Ints:
    """Return the equations that values, (n,), do not satisfy: whole numbers exactly, floats up to
    a billionth of what is added up."""
    sums = equations.sums(values)
    if np.issubdtype(values.dtype, np.integer):
        return np.flatnonzero(sums)
    terms = np.abs(equations.coefficients * values[equations.cells])
    scales = np.bincount(equations.rows, terms, minlength=equations.count)
    return np.flatnonzero(~(np.abs(sums) <= _NEAR * scales))
