"""What an intruder knows of columns and of their masking, in the arrays that are searched."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.tree import PointTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Shape = Literal["even", "normal", "laplace", "triangle", "transitions"]

_CODES: dict[Shape, int] = {"even": 0, "normal": 1, "laplace": 2, "triangle": 3, "transitions": 4}
NORMAL, LAPLACE, TRIANGLE, TRANSITIONS = 1, 2, 3, 4


@dataclass(frozen=True)
class CellTransitions:
    """How likely each cell is that a value may become: rows of logarithms, none above 0.

    Row i is `logs[begins[i]:begins[i + 1]]`, for neighbouring cells; of all others, `beyond[i]`,
    (rows,), is the logarithm. A person's value has the row `row`, which begins at the cell
    `start`, (persons,) each; a masked value takes up the cells `first` to `last`, (records,) each,
    and counts as their mean. Larger masked values have no smaller cells.
    """

    logs: Floats
    begins: Ints
    beyond: Floats
    row: Ints
    start: Ints
    first: Ints
    last: Ints

    def among(self, persons: Bools, records: Bools) -> "CellTransitions":
        """Return the transitions of all persons, who become any cell if not among these."""
        return CellTransitions(
            np.append(self.logs, 0.0),
            np.append(self.begins, len(self.logs) + 1),
            np.append(self.beyond, 0.0),
            _placed(self.row, persons, len(self.beyond)),
            _placed(self.start, persons, 0),
            _placed(self.first, records, 0),
            _placed(self.last, records, 0),
        )

    def of_records(self, records: Ints) -> "CellTransitions":
        """Return the transitions to some records, by their numbers."""
        return replace(self, first=self.first[records], last=self.last[records])


def _placed(values: NDArray[Any], chosen: Bools, other: float) -> NDArray[Any]:
    """Return the values of those chosen, (all,), and another for the rest."""
    placed = np.full(len(chosen), other, dtype=values.dtype)
    placed[chosen] = values
    return placed


@dataclass(frozen=True)
class ColumnLikelihood:
    """What an intruder knows of a column, what was released of it, and how it was masked.

    `known` (persons,) and `released` (records,) are finite, in the unit of the mechanism: at the
    distance d of a released value from a known one, the log-likelihood is, but for a constant of
    the person, 0 in the shape `even`, -d**2 / 2 in `normal`, -d in `laplace`, log(1 - d) in
    `triangle`, which ends at 1, and what `transitions` say in that shape. Beyond `low` and
    `high`, (persons,) each, a released value cannot be the person's. `bonus` (records,) is added
    to the log-likelihoods of a record for every person, such as the logarithm of a density.
    """

    shape: Shape
    known: Floats
    released: Floats
    low: Floats | None = None
    high: Floats | None = None
    transitions: CellTransitions | None = None
    bonus: Floats | None = None

    def among(self, persons: Bools, records: Bools) -> "ColumnLikelihood":
        """Return the column of all persons and records, of whom it is about these, (all,) each.

        Who is not among them, on either side, is told apart by another column.
        """
        low, high = self.low, self.high
        return ColumnLikelihood(
            self.shape,
            _placed(self.known, persons, self.released[0]),
            _placed(self.released, records, self.released[0]),
            None if low is None else _placed(low, persons, -np.inf),
            None if high is None else _placed(high, persons, np.inf),
            None if self.transitions is None else self.transitions.among(persons, records),
            None if self.bonus is None else _placed(self.bonus, records, 0.0),
        )

    def of_records(self, records: Ints) -> "ColumnLikelihood":
        """Return the column of some records alone, by their numbers, and of all persons."""
        return replace(
            self,
            released=self.released[records],
            transitions=self.transitions and self.transitions.of_records(records),
            bonus=None if self.bonus is None else self.bonus[records],
        )


class LikelyPersons(NamedTuple):
    """What is known of persons, (persons, columns) each, with no rows in `low` and `high` where
    there are no windows, and the place of the own record in a tree, -1 for none, (persons,)."""

    known: Floats
    own: Ints
    low: Floats
    high: Floats
    row: NDArray[np.int32]
    start: NDArray[np.int32]


class TransitionTables(NamedTuple):
    """The shapes of the columns, and the rows of all transitions."""

    shapes: Ints
    logs: Floats
    sums: Floats
    peaks: Floats
    begins: Ints
    beyond: Floats
    levels: Ints


class SearchModel(NamedTuple):
    """What is known of persons, and the rows of all transitions."""

    shapes: Ints
    known: Floats
    low: Floats
    high: Floats
    row: NDArray[np.int32]
    start: NDArray[np.int32]
    logs: Floats
    sums: Floats
    peaks: Floats
    begins: Ints
    beyond: Floats
    levels: Ints


class MaskedCells(NamedTuple):
    """The cells of records in the order of a tree, (records, columns), those of its nodes, (nodes,
    columns), and the bonus of each, (records,) and (nodes,)."""

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    least: NDArray[np.int32]
    most: NDArray[np.int32]
    bonus: Floats
    worst: Floats
    best: Floats


def search_model(tables: TransitionTables, persons: LikelyPersons) -> SearchModel:
    """Return persons and transitions together, as a compiled search takes them."""
    known_values, _, low, high, row, start = persons
    return SearchModel(tables.shapes, known_values, low, high, row, start, *tables[1:])


def known_persons(columns: Sequence[ColumnLikelihood], own: Ints) -> LikelyPersons:
    """Return what is known of persons whose `own` records have these places."""
    persons = len(own)
    tables = [column.transitions for column in columns]
    rows = np.cumsum([0] + [0 if table is None else len(table.beyond) for table in tables])
    row, start = (np.zeros((persons, len(columns)), dtype=np.int32) for _ in range(2))
    for place, table in enumerate(tables):
        if table is not None:
            row[:, place], start[:, place] = table.row + rows[place], table.start
    known_values = np.column_stack([column.known for column in columns])
    return LikelyPersons(known_values, own, *_ends(columns, persons), row, start)


def transition_tables(columns: Sequence[ColumnLikelihood]) -> TransitionTables:
    """Return the shapes of columns, and their transitions one behind the other."""
    tables = [column.transitions for column in columns if column.transitions is not None]
    entries = np.cumsum([0] + [len(table.logs) for table in tables])
    logs = np.concatenate([np.empty(0), *(table.logs for table in tables)])
    offsets = zip(tables, entries.tolist(), strict=False)
    begins = np.concatenate([*(table.begins[:-1] + one for table, one in offsets), entries[-1:]])
    sums = np.append(0.0, np.cumsum(np.exp(logs)))
    longest = int(np.diff(begins).max(initial=1))
    levels = np.array([max(size, 1).bit_length() - 1 for size in range(longest + 1)])
    beyond = np.concatenate([np.empty(0), *(table.beyond for table in tables)])
    shapes = np.array([_CODES[column.shape] for column in columns])
    peaks = _peaks(logs, int(levels[-1]) + 1)
    return TransitionTables(shapes, logs, sums, peaks, begins, beyond, levels)


def _ends(columns: Sequence[ColumnLikelihood], persons: int) -> tuple[Floats, Floats]:
    """Return the windows of all columns, (persons, columns), with no rows if there are none."""
    if all(column.low is None and column.high is None for column in columns):
        return np.empty((0, 0)), np.empty((0, 0))
    low, high = (np.full((persons, len(columns)), end) for end in (-np.inf, np.inf))
    for place, column in enumerate(columns):
        if column.low is not None:
            low[:, place] = column.low
        if column.high is not None:
            high[:, place] = column.high
    return low, high


def _peaks(logs: Floats, levels: int) -> Floats:
    """Return the greatest of the next 2**level entries from each on, (levels, entries)."""
    peaks = np.empty((levels, len(logs)))
    peaks[:1] = logs
    for level in range(1, levels):
        half = 1 << (level - 1)
        peaks[level] = peaks[level - 1]
        ahead = peaks[level - 1, half:]
        np.maximum(peaks[level, : len(ahead)], ahead, out=peaks[level, : len(ahead)])
    return peaks


def masked_cells(columns: Sequence[ColumnLikelihood], tree: PointTree) -> MaskedCells:
    """Return the cells of the records in the order of a tree, and of its nodes."""
    first, last = (np.zeros((len(tree.rows), len(columns)), dtype=np.int32) for _ in range(2))
    bonus = np.zeros(len(tree.rows))
    for place, column in enumerate(columns):
        if column.transitions is not None:
            first[:, place] = column.transitions.first[tree.rows]
            last[:, place] = column.transitions.last[tree.rows]
        if column.bonus is not None:
            bonus += column.bonus[tree.rows]
    # None adds anything then: a sum that has fallen below what is looked for stays below it.
    bonus -= bonus.max(initial=-np.inf)
    least, most = _node_extremes(first, tree, np.minimum), _node_extremes(last, tree, np.maximum)
    worst, best = _node_extremes(bonus, tree, np.minimum), _node_extremes(bonus, tree, np.maximum)
    return MaskedCells(first, last, least, most, bonus, worst, best)


def _node_extremes(values: NDArray[Any], tree: PointTree, extreme: np.ufunc) -> NDArray[Any]:
    """Return the least or the greatest value of each node, (nodes, ...)."""
    half = len(tree.starts) // 2
    extremes = np.zeros((len(tree.starts), *values.shape[1:]), dtype=values.dtype)
    extremes[half:] = extreme.reduceat(values, tree.starts[half:], axis=0)
    while half > 1:
        extremes[half // 2 : half] = extreme(
            extremes[half : 2 * half : 2], extremes[half + 1 : 2 * half : 2]
        )
        half //= 2
    return extremes
