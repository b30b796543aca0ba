"""Ranges: the least and the greatest value of a class."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.cells import Cell, write_range
from policy_engine.data.notations import CORRECT_TEXTS
from policy_engine.engines.arrays import from_texts
from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.generalizations.generalizer import (
    Generalizer,
    Ints,
    hull_cells,
    make_ladder,
    number_groups,
    unfit_values_error,
    value_labels,
)
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels.axis import Interval
from policy_engine.kernels.full_domain import Ladder
from policy_engine.kernels.mondrian import Partition

_HALVINGS = 4  # levels of the ladder between single values and all values together


@dataclass(frozen=True)
class Ranges(Generalizer):
    """Ordered values, generalised to the range that holds them.

    The ladder divides the rows into 16, 8, 4 and 2 parts of about equal size.
    """

    @classmethod
    def of(cls, name: str, column: ColumnCodes) -> Self:
        """Return the ranges of a column. Raises DataError (R006) where it holds texts."""
        if not column.is_ordered and len(value_labels(column)):
            message = f"The column {name!r} holds texts, which have no range."
            hint = f"{CORRECT_TEXTS}give the column a 'set', a 'prefix' or a 'taxonomy'."
            raise unfit_values_error(message, hint)
        return cls(column)

    def shape(self) -> Interval:
        """Return the price of ranges: their width."""
        return Interval(self.column.position)

    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the cells `[low - high]` of the classes."""
        return hull_cells(self.column, classes, self._bodies)

    def ladder(self) -> Ladder:
        """Return the levels: single values, ranges between quantiles, and one range of all."""
        levels = self._levels()
        return make_ladder(self.column, levels, [self._widths(level) for level in levels])

    def _bodies(self, low: Ints, high: Ints) -> list[str]:
        labels = self.column.labels
        return list(map(write_range, labels[low], labels[high]))

    def _levels(self) -> list[NDArray[np.int32]]:
        counts = self.column.counts()[int(self.column.has_missing) :]
        middle = 2 * np.cumsum(counts) - counts
        part = (middle << _HALVINGS) // max(2 * int(counts.sum()), 1)
        levels = [np.arange(len(counts), dtype=np.int32)]
        for halving in range(_HALVINGS + 1):
            level = number_groups(part >> halving)
            if level.max(initial=0) < levels[-1].max(initial=0):
                levels.append(level)
        return levels

    def _widths(self, level: NDArray[np.int32]) -> NDArray[np.float64]:
        position = self.column.position[int(self.column.has_missing) :]
        groups = np.arange(int(level.max(initial=-1)) + 1)
        last = np.searchsorted(level, groups, side="right") - 1
        width: NDArray[np.float64] = position[last] - position[np.searchsorted(level, groups)]
        return width


def price_cells(name: str, cells: list[Cell]) -> NDArray[np.float64]:
    """Return the loss of ranges and values, (cells,): their width relative to the column's.

    Raises the errors of `place_cells`.
    """
    low, high = place_cells(name, cells)
    return high - low


def place_cells(name: str, cells: list[Cell]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the start and end of ranges and values on an axis from 0 to 1, (cells,) each.

    Raises CertificateError (V002) where ends are not ordered values of one type, or a range ends
    before it starts.
    """
    has_ranges = any(cell.is_range for cell in cells)
    ends = _ends(name, cells)
    if ends is None or any(len(cell.values) > 1 and not cell.is_range for cell in cells):
        raise _off_axis_error(name)
    if has_ranges and not ends.is_ordered:
        raise _off_axis_error(name)
    low, high = np.split(ends.codes, 2)
    if (low > high).any():
        message = f"The column {name!r} holds a range whose ends are not in order."
        raise CertificateError.of("V002", message)
    return ends.position[low], ends.position[high]


def are_ordered(name: str, cells: list[Cell]) -> bool:
    """Tell whether the ends of cells are ordered values of one type."""
    ends = _ends(name, [cell for cell in cells if cell.values])
    return ends is not None and ends.is_ordered


def _ends(name: str, cells: list[Cell]) -> ColumnCodes | None:
    """Return the lower ends and then the upper ends, encoded; None where some are infinite."""
    texts = from_texts([cell.values[end] for end in (0, -1) for cell in cells])
    try:
        return encode(name, pa.chunked_array([texts]), numbers=True)
    except DataError:
        return None


def code_finder(column: ColumnCodes) -> Callable[[Cell], NDArray[np.int32]]:
    """Return a function from a range to the codes of the values that it may stand for."""
    blank, values = int(column.has_missing), value_labels(column)
    code_of = {label: code for code, label in enumerate(values, start=blank)}

    def covered(cell: Cell) -> NDArray[np.int32]:
        ends = cell.values[0], cell.values[-1]
        if all(end in code_of for end in ends):
            return np.arange(code_of[ends[0]], code_of[ends[1]] + 1, dtype=np.int32)
        joint = encode("", pa.chunked_array([from_texts([*values, *ends])]), numbers=True).codes
        inside = (joint[:-2] >= joint[-2]) & (joint[:-2] <= joint[-1])
        return (np.flatnonzero(inside) + blank).astype(np.int32)

    return covered


def _off_axis_error(name: str) -> CertificateError:
    message = f"The column {name!r} holds ranges, and cells that cannot be compared with them."
    return CertificateError.of("V002", message)  # type: ignore[return-value]
