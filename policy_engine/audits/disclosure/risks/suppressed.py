"""Cells of other tools' releases that were suppressed: missing ones, those that stand for every
value, and marks such as -9."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.kernels.spread import Spread

Ints = NDArray[np.int64]

_MOST_MARKS = 5
_LEAST_UNCHANGED = 0.5


def suppressing_marks(column: KnownColumn, own: Ints) -> Ints:
    """Return the codes, such as that of -9, that stand for suppressed cells of matched rows.

    At least half of the cells are as they were, and all others have one of a few values, each of
    which was put in place of several others and is never replaced itself.
    """
    nothing = np.zeros(0, dtype=np.int64)
    paired = own >= 0
    before = column.before[paired].astype(np.int64)
    after = column.released_codes()[own[paired]]
    changed = (before != after) & (after >= int(column.has_missing))
    if not changed.any() or changed.mean() > 1 - _LEAST_UNCHANGED:
        return nothing
    pairs = np.unique(np.column_stack([after[changed], before[changed]]), axis=0)
    marks, sources = np.unique(pairs[:, 0], return_counts=True)
    is_mark = len(marks) <= _MOST_MARKS and (sources > 1).all()
    return marks if is_mark and not np.isin(pairs[:, 1], marks).any() else nothing


def with_marks_widened(column: KnownColumn, marks: Ints) -> KnownColumn:
    """Return a column in which cells of these codes may be any value."""
    if not len(marks):
        return column
    spread = column.after
    cells = np.flatnonzero((spread.widths == 1) & np.isin(spread.low[spread.starts[:-1]], marks))
    cell_of = np.where(np.isin(spread.cell_of, cells), cells[0], spread.cell_of)
    return replace(column, after=_widened(replace(spread, cell_of=cell_of), int(cells[0])))


def codes_like(column: KnownColumn, other: KnownColumn, codes: Ints) -> Ints:
    """Return the codes of a column whose values are those of another one's codes."""
    if not len(codes):
        return codes
    if column.is_number and other.is_number and not (column.is_ranked or other.is_ranked):
        numbers = other.values[codes] + float(other.origin)
        return np.flatnonzero(np.isin(column.values + float(column.origin), numbers))
    labels = {str(one) for one in other.labels[codes]}
    return np.flatnonzero([str(one) in labels for one in column.labels])


def is_suppressed(column: KnownColumn) -> bool:
    """Tell whether a column has missing cells, and the original has none."""
    was_missing = (column.before[column.present] == 0).any()
    return bool(column.has_missing and not was_missing and (column.after.cell_of == 0).any())


def with_missing_widened(column: KnownColumn) -> KnownColumn:
    """Return a column whose missing cells, which are those of the first code, may be any value."""
    return replace(column, after=_widened(column.after, 0))


def _widened(spread: Spread, cell: int) -> Spread:
    low, high = spread.low.copy(), spread.high.copy()
    low[spread.starts[cell]], high[spread.starts[cell]] = 0, spread.size
    return replace(spread, low=low, high=high)


def has_suppressed(columns: Sequence[KnownColumn]) -> bool:
    """Tell whether some cell of a column stands for every value, and another one does not."""
    for column in columns:
        widths = column.after.widths[column.after.cell_of]
        if (widths == column.after.size).any() and (widths < column.after.size).any():
            return True
    return False
