"""Within which bounds sums over atoms are known, where contributions are: by linear programmes."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.highs_models import need_highs, new_solver
from policy_engine.kernels.output_checks.released_span import Residues

Floats = NDArray[np.float64]

_LARGEST_DENOMINATOR = 64
_MOVED, _MULTIPLIER = 1e-4, 1e-9
_AT_ONCE = 500


class Terms(NamedTuple):
    """Coefficients of equations, (equations, atoms) in `shape`, most of which are 0: the `row`, the
    `column` and the `value` of each other one, in the order of rows and columns."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    value: Floats
    shape: tuple[int, int]

    @classmethod
    def summed(
        cls,
        row: NDArray[np.int64],
        column: NDArray[np.int64],
        value: Floats,
        shape: tuple[int, int],
    ) -> "Terms":
        """Return terms in whatever order, those of the same place added up."""
        places, own = np.unique(row * shape[1] + column, return_inverse=True)
        sums = np.bincount(own.reshape(-1), value, minlength=len(places))
        is_left = sums != 0
        row, column = np.divmod(places[is_left], shape[1])
        return cls(row, column, sums[is_left], shape)

    def chosen(self, is_row: NDArray[np.bool_]) -> "Terms":
        """Return the terms of some equations alone: (equations,)."""
        own, numbers = is_row[self.row], np.cumsum(is_row) - 1
        shape = int(is_row.sum()), self.shape[1]
        return Terms(numbers[self.row[own]], self.column[own], self.value[own], shape)


class KnownSums(NamedTuple):
    """Equations that an intruder knows of atoms, and between what each atom lies.

    `rows` are (equations, atoms), `values` (equations,), `least` and `most` (atoms,); the last
    three are in shares of the `scale`.
    """

    rows: Floats | Terms
    values: Floats
    least: Floats
    most: Floats
    scale: float = 1.0


class KnownInterval(NamedTuple):
    """Between what a target is known to lie, and which equations tell it, (equations,)."""

    low: float
    high: float
    equations: NDArray[np.bool_]


def can_solve() -> bool:
    """Return whether the library that solves linear programmes is installed."""
    return find_spec("highspy") is not None


def intervals(sums: KnownSums, targets: Floats, seconds: float) -> Iterator[KnownInterval]:
    """Yield between what each target, (atoms,), is known to lie.

    It ends early where time does, or where nothing satisfies the equations.
    """
    deadline, solver = time.monotonic() + seconds, _solver(sums)
    columns = np.arange(sums.rows.shape[1], dtype=np.int32)
    for target in targets:
        ends, used = [], np.zeros(sums.rows.shape[0], np.bool_)
        for sign in (1.0, -1.0):
            solver.changeColsCost(len(columns), columns, sign * target)
            end = _least(solver, deadline)
            if end is None:
                return
            ends.append(sign * end * sums.scale)
            if np.isfinite(end):
                used |= np.abs(np.array(solver.getSolution().row_dual)) > _MULTIPLIER
        yield KnownInterval(ends[0], ends[1], used)


def _least(solver: Any, deadline: float) -> float | None:
    """Return the least cost, which may be unbounded; None where none is found in time."""
    highs = need_highs().HighsModelStatus
    for is_plain in (False, True):
        if is_plain:  # Presolving does not tell unbounded from infeasible; a warm start may fail.
            solver.clearSolver()
            solver.setOptionValue("presolve", "off")
        solver.setOptionValue("time_limit", max(deadline - time.monotonic(), 0.01))
        solver.run()
        if solver.getModelStatus() == highs.kOptimal:
            return float(solver.getInfo().objective_function_value)
        if solver.getModelStatus() == highs.kUnbounded:
            return -np.inf
    return None


def has_interior(sums: KnownSums, seconds: float) -> bool:
    """Return whether some solution of the equations reaches no bound.

    Then no more is known exactly than what the equations alone tell.
    """
    width = sums.most - sums.least
    room = np.where(np.isfinite(width), width, 1.0)
    # Of x = least + room / 2 + y, the slack s is such that |y| <= room / 2 - room * s.
    atoms = len(width)
    slack = np.zeros((2 * atoms, atoms + 1))
    slack[:atoms, :atoms], slack[atoms:, :atoms] = np.eye(atoms), -np.eye(atoms)
    slack[:, atoms] = -np.concatenate([room, room])
    floors = np.concatenate([sums.least, -sums.most])
    return _largest_slack(sums, slack, floors, seconds) > 1e-7


class FixedEnds(NamedTuple):
    """Which atoms reach one end in all solutions, (atoms,), and the equations that tell it."""

    atoms: NDArray[np.bool_]
    equations: NDArray[np.bool_]


def fixed_ends(
    sums: KnownSums, solution: Floats, is_end: NDArray[np.bool_], seconds: float
) -> FixedEnds | None:
    """Return which of some atoms that are at an end in a solution are there in all of them.

    All that are not leave their ends together in one solution, the mean of those that each of them
    leaves its own in. So what leaves an end where as much as possible does is taken out, until
    nothing does: the multipliers of the equations are then a proof. None where time ends before.
    """
    deadline, solver = time.monotonic() + seconds, _solver(sums)
    columns = np.arange(len(solution), dtype=np.int32)
    is_fixed = is_end.copy()
    signs = np.where(solution <= sums.least, -1.0, 1.0) / np.maximum(sums.most - sums.least, 1.0)
    used = np.zeros(sums.rows.shape[0], np.bool_)
    while is_fixed.any():
        solver.changeColsCost(len(columns), columns, np.where(is_fixed, signs, 0.0))
        if _least(solver, deadline) is None:
            return None
        result = solver.getSolution()
        has_left = is_fixed & (np.abs(np.array(result.col_value) - solution) > _MOVED)
        if not has_left.any():
            used = np.abs(np.array(result.row_dual)) > _MULTIPLIER
            break
        is_fixed &= ~has_left
    return FixedEnds(is_fixed, used)


def never_reached(
    sums: KnownSums, targets: Floats, ends: Floats, seconds: float
) -> NDArray[np.bool_] | None:
    """Return which targets, (targets, atoms), no solution of the equations brings to their ends,
    (targets,), which are the least that they could be.

    All that are left are brought there together, as far as they can be; once none of them is, each
    by itself. None where time ends before.
    """
    deadline, solver = time.monotonic() + seconds, _solver(sums)
    columns, is_left = np.arange(targets.shape[1], dtype=np.int32), np.ones(len(targets), np.bool_)

    def reached(costs: Floats) -> NDArray[np.bool_] | None:
        solver.changeColsCost(len(columns), columns, costs)
        if _least(solver, deadline) is None:
            return None
        values: Floats = targets @ np.array(solver.getSolution().col_value)
        return is_left & (values - ends <= _MOVED)

    while is_left.any():
        own = reached(targets[is_left].sum(axis=0))
        if own is None:
            return None
        is_left &= ~own
        if not own.any():
            break
    for place in np.flatnonzero(is_left).tolist():
        own = reached(targets[place]) if is_left[place] else np.zeros_like(is_left)
        if own is None:
            return None
        is_left &= ~own
    return is_left


def _largest_slack(sums: KnownSums, slack: Floats, floors: Floats, seconds: float) -> float:
    """Return by how much of its room every atom can be away from its bounds."""
    highs = need_highs()
    assert isinstance(sums.rows, np.ndarray)  # noqa: S101 (its callers have no others)
    rows = np.vstack([np.hstack([sums.rows, np.zeros((len(sums.rows), 1))]), slack])
    free = np.full(rows.shape[1], highs.kHighsInf)
    least, most = -free, free.copy()
    least[-1], most[-1] = 0.0, 0.5
    uppers = np.concatenate([sums.values, np.full(len(slack), highs.kHighsInf)])
    programme = _programme(rows, np.concatenate([sums.values, floors]), uppers, least, most)
    programme.col_cost_ = np.append(np.zeros(rows.shape[1] - 1), -1.0)
    solver = _started(programme)
    solver.setOptionValue("time_limit", seconds)
    solver.run()
    if solver.getModelStatus() != highs.HighsModelStatus.kOptimal:
        return 0.0
    return -float(solver.getInfo().objective_function_value)


def _solver(sums: KnownSums) -> Any:
    programme = _programme(sums.rows, sums.values, sums.values, sums.least, sums.most)
    programme.col_cost_ = np.zeros(sums.rows.shape[1])
    return _started(programme)


def _programme(
    rows: Floats | Terms, lowers: Floats, uppers: Floats, least: Floats, most: Floats
) -> Any:
    highs = need_highs()
    if not isinstance(rows, Terms):
        row, column = np.nonzero(rows)
        rows = Terms(row, column, rows[row, column], rows.shape)
    programme = highs.HighsLp()
    programme.num_row_, programme.num_col_ = rows.shape
    programme.row_lower_, programme.row_upper_ = lowers, uppers
    programme.col_lower_, programme.col_upper_ = least, most
    programme.a_matrix_.format_ = highs.MatrixFormat.kRowwise
    programme.a_matrix_.start_ = np.searchsorted(rows.row, np.arange(rows.shape[0] + 1))
    programme.a_matrix_.index_ = rows.column
    programme.a_matrix_.value_ = rows.value
    return programme


def _started(programme: Any) -> Any:
    solver = new_solver()
    solver.passModel(programme)
    return solver


class CountDirections(NamedTuple):
    """Directions in which counts may change, and no sum of them does: one for each column without a
    pivot, which is in no other one.

    `entries` are the residues by which pivots change as a column loses one, (pivots, columns), and
    `lengths` about how much; infinite where it is no small fraction. `are_open` tells which lead to
    whole counts that are not negative, forwards or backwards.
    """

    entries: Residues
    lengths: Floats
    are_open: NDArray[np.bool_]


def count_directions(
    entries: Residues, pivot_counts: NDArray[np.int64], counts: NDArray[np.int64], prime: int
) -> CountDirections:
    """Return the directions that rows of zeros and ones leave for counts of at least 1.

    `entries` are those of the reduced echelon form of the rows in the columns without a pivot,
    (pivots, columns), and `counts` what is counted there. What is not in the span of the rows takes
    two values at least where a direction that changes it is open: without the columns whose
    directions are not, what is known are the rows.
    """
    is_open, lengths = np.zeros(len(counts), np.bool_), np.full(entries.shape, np.inf)
    for first in range(0, len(counts), _AT_ONCE):
        own = slice(first, first + _AT_ONCE)
        scales, whole = _whole(entries[:, own], prime)
        # These are so small that sums of theirs that vanish as residues are 0 themselves.
        most = pivot_counts[:, None]
        behind = (whole <= most).all(axis=0)
        ahead = (-whole <= most).all(axis=0) & (scales <= counts[own])
        is_open[own] = (scales > 0) & (ahead | behind)
        lengths[:, own] = np.where(scales > 0, whole / np.maximum(scales, 1), np.inf)
    return CountDirections(entries, lengths, is_open)


def linked_directions(
    directions: CountDirections, pivot_counts: NDArray[np.int64], prime: int
) -> NDArray[np.bool_]:
    """Return the columns whose directions are open, or differ by an open one from one that is, and
    so on: (columns,). Of each that is not, those that are most like it are tried.
    """
    is_open = directions.are_open.copy()
    is_meant: NDArray[np.bool_] = np.asarray(np.isfinite(directions.lengths).all(axis=0))
    left = np.flatnonzero(is_meant & ~is_open)
    lengths = np.where(is_meant, directions.lengths, 0.0).astype(np.float32)
    changes = _Changes.of_entries(directions.entries, pivot_counts, prime)
    pairs = [np.zeros((2, 0), np.int64)]
    for first in range(0, len(left), _AT_ONCE):
        own = left[first : first + _AT_ONCE]
        for column, nearest in zip(own.tolist(), _nearest(lengths, own), strict=True):
            others = changes.open_from(column, nearest[is_meant[nearest] & (nearest != column)])
            pairs.append(np.stack([np.full(len(others), column), others]))
    ones, others = np.hstack(pairs)
    while (is_new := is_open[ones] != is_open[others]).any():
        is_open[ones[is_new]] = is_open[others[is_new]] = True
    return is_open


_NEIGHBOURS = 64


def _nearest(lengths: NDArray[np.float32], own: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the columns that are most like some: (columns, neighbours)."""
    squares = (lengths**2).sum(axis=0)
    distances = squares[None, :] - 2 * (lengths[:, own].T @ lengths)
    count = min(_NEIGHBOURS, distances.shape[1])
    return np.asarray(np.argpartition(distances, count - 1, axis=1)[:, :count])


class _Changes(NamedTuple):
    """By which residues pivots change, (columns, pivots), and `some` of the pivots with the least
    counts, which tell of most changes that they are not open."""

    entries: NDArray[np.int32]
    counts: NDArray[np.int64]
    some: NDArray[np.int32]
    few: NDArray[np.int64]
    prime: int

    @classmethod
    def of_entries(cls, entries: Residues, counts: NDArray[np.int64], prime: int) -> "_Changes":
        """Return those of the entries, (pivots, columns)."""
        rows = np.ascontiguousarray(entries.T).astype(np.int32)
        few = np.argsort(counts, kind="stable")[:_FEW]
        return cls(rows, counts, np.ascontiguousarray(rows[:, few]), counts[few], prime)

    def open_from(self, column: int, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the columns of some, (others,), whose differences from one are open: they leave no
        count negative, forwards or backwards."""
        for entries, counts in ((self.some, self.few), (self.entries, self.counts)):
            others = others[_are_open(entries[column] - entries[others], counts, self.prime)]
        return others


_FEW = 64


def _are_open(
    changes: NDArray[np.int32], counts: NDArray[np.int64], prime: int
) -> NDArray[np.bool_]:
    """Return which differences of residues, (changes, pivots), leave no count negative."""
    whole = np.where(changes > prime // 2, changes - prime, changes)
    whole = np.where(whole < -(prime // 2), whole + prime, whole)
    is_small = (np.abs(whole) <= _LARGEST_DENOMINATOR).all(axis=1)
    return np.asarray(is_small & ((whole <= counts).all(axis=1) | (-whole <= counts).all(axis=1)))


def _whole(entries: Residues, prime: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return by which small factor each column of residues is of small whole numbers, 0 where none
    makes it so, and these: (columns,) and (rows, columns)."""
    residues = entries.astype(np.int64)
    scales, whole = np.zeros(residues.shape[1], np.int64), np.zeros_like(residues)
    open_ones = np.arange(residues.shape[1])
    for factor in range(1, _LARGEST_DENOMINATOR + 1):
        scaled = (residues[:, open_ones] * factor) % prime
        scaled = np.where(scaled > prime // 2, scaled - prime, scaled)
        is_small = (np.abs(scaled) <= _LARGEST_DENOMINATOR).all(axis=0)
        scales[open_ones[is_small]], whole[:, open_ones[is_small]] = factor, scaled[:, is_small]
        open_ones = open_ones[~is_small]
        if not len(open_ones):
            break
    return scales, whole
