"""Ranges: the least and the greatest value of a class."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.cells import Cell, write_range
from policy_engine.engines.arrays import from_texts
from policy_engine.engines.encoding import Encoded, encode
from policy_engine.engines.generalizations.generalizer import (
    Generalizer,
    Ints,
    cells_of_hulls,
    ladder_of,
    numbered,
    unfit,
    values_of,
)
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels.axis import Interval
from policy_engine.kernels.full_domain import Ladder
from policy_engine.kernels.mondrian import Partition

_HALVINGS = 4  # of the ladder, between all values together and each by itself


@dataclass(frozen=True)
class Ranges(Generalizer):
    """Ordered values, generalised to what they lie between.

    The ladder parts the rows into 16, 8, 4 and 2 parts of about one size.
    """

    @classmethod
    def of(cls, name: str, column: Encoded) -> Self:
        """Return the ranges of a column. Raises DataError (R006) where it holds texts."""
        if not column.is_ordered and len(values_of(column)):
            message = f"The column {name!r} holds texts, and a text has no range."
            hint = "Allowed are numbers, dates and times. Texts take 'set', 'prefix' or 'taxonomy'."
            raise unfit(message, hint)
        return cls(column)

    def shape(self) -> Interval:
        """Return that a range costs its width."""
        return Interval(self.column.position)

    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the cells `[low - high]` of the classes."""
        return cells_of_hulls(self.column, classes, self._bodies)

    def ladder(self) -> Ladder:
        """Return the values, parts of the rows at quantiles, and one range; losses are widths."""
        levels = self._levels()
        return ladder_of(self.column, levels, [self._widths(level) for level in levels])

    def _bodies(self, low: Ints, high: Ints) -> list[str]:
        labels = self.column.labels
        return list(map(write_range, labels[low], labels[high]))

    def _levels(self) -> list[NDArray[np.int32]]:
        counts = self.column.counts()[int(self.column.has_missing) :]
        middle = 2 * np.cumsum(counts) - counts
        part = (middle << _HALVINGS) // max(2 * int(counts.sum()), 1)
        levels = [np.arange(len(counts), dtype=np.int32)]
        for halving in range(_HALVINGS + 1):
            level = numbered(part >> halving)
            if level.max(initial=0) < levels[-1].max(initial=0):
                levels.append(level)
        return levels

    def _widths(self, level: NDArray[np.int32]) -> NDArray[np.float64]:
        position = self.column.position[int(self.column.has_missing) :]
        groups = np.arange(int(level.max(initial=-1)) + 1)
        last = np.searchsorted(level, groups, side="right") - 1
        width: NDArray[np.float64] = position[last] - position[np.searchsorted(level, groups)]
        return width


def priced(name: str, found: list[Cell]) -> NDArray[np.float64]:
    """Return what ranges and values cost: their width over that of the column they make up.

    Errors as of `placed`.
    """
    low, high = placed(name, found)
    return high - low


def placed(name: str, found: list[Cell]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where ranges and values start and end, on an axis from 0 to 1, (cells,) each.

    Raises CertificateError (V002) where ends lie on no axis, or a range ends before it starts.
    """
    has_ranges = any(cell.is_range for cell in found)
    encoded = _ends(name, found)
    if encoded is None or any(len(cell.values) > 1 and not cell.is_range for cell in found):
        raise _off_axis(name)
    if has_ranges and not encoded.is_ordered:
        raise _off_axis(name)
    low, high = np.split(encoded.codes, 2)
    if (low > high).any():
        message = f"The column {name!r} holds a range whose ends are not in order."
        raise CertificateError.of("V002", message)
    return encoded.position[low], encoded.position[high]


def are_ordered(name: str, found: list[Cell]) -> bool:
    """Tell whether the ends of cells lie on one axis."""
    encoded = _ends(name, [cell for cell in found if cell.values])
    return encoded is not None and encoded.is_ordered


def _ends(name: str, found: list[Cell]) -> Encoded | None:
    """Return the lower ends and the upper ends, or None where some are infinite."""
    texts = from_texts([cell.values[end] for end in (0, -1) for cell in found])
    try:
        return encode(name, pa.chunked_array([texts]), numbers=True)
    except DataError:
        return None


def covering(column: Encoded) -> Callable[[Cell], NDArray[np.int32]]:
    """Return what tells the codes of the values that a range may stand for."""
    blank, values = int(column.has_missing), values_of(column)
    code_of = {label: code for code, label in enumerate(values, start=blank)}

    def covered(cell: Cell) -> NDArray[np.int32]:
        ends = cell.values[0], cell.values[-1]
        if all(end in code_of for end in ends):
            return np.arange(code_of[ends[0]], code_of[ends[1]] + 1, dtype=np.int32)
        joint = encode("", pa.chunked_array([from_texts([*values, *ends])]), numbers=True).codes
        inside = (joint[:-2] >= joint[-2]) & (joint[:-2] <= joint[-1])
        return (np.flatnonzero(inside) + blank).astype(np.int32)

    return covered


def _off_axis(name: str) -> CertificateError:
    message = f"The column {name!r} holds ranges, and cells that lie on no axis with them."
    return CertificateError.of("V002", message)  # type: ignore[return-value]
