"""The numbers of a column on a line: such that floats tell all of them apart."""

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.utility.matching import MatchedColumn
from policy_engine.engines.arrays import to_numpy
from policy_engine.engines.masking.cells import exact_arithmetic

Floats = NDArray[np.float64]

_FARTHEST = 1e100
"""Squares of greater numbers, and sums of these, may be infinite."""
_FAR = 2.0**20
"""From so many times their range on, numbers are so far from 0 that their mean hides it."""


@dataclass(frozen=True)
class CodeAxis:
    """Where the values of a column lie, (size,), all of them finite, and from where they are
    counted.

    `origin` was taken off them exactly. They are ranks where floats hold no such differences: of
    numbers that are infinite or beyond 1e100, or of which two that differ would become one float.
    """

    values: Floats
    origin: Decimal = Decimal(0)
    is_ranked: bool = False

    def placed(self, numbers: pa.Array) -> Floats | None:
        """Return where other numbers lie, nan where there is none; None where nobody can say."""
        if self.is_ranked:
            return None
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError, InvalidOperation):
            if not self.origin:
                floats = to_numpy(numbers.cast(pa.float64()), missing=np.nan)
                return np.asarray(floats, dtype=np.float64)
            texts = numbers.cast(pa.string()).to_pylist()
            with exact_arithmetic():
                apart = (np.nan if one is None else Decimal(one) - self.origin for one in texts)
                return np.array([float(one) for one in apart])
        return None


def axis_of(column: MatchedColumn) -> CodeAxis:
    """Return the numbers of the codes; of dates and texts, their places on an axis from 0 to 1."""
    first = int(column.has_missing)
    values = column.position.astype(np.float64)
    with suppress(ValueError):
        values[first:] = column.labels[first:].astype(np.float64)
    present = values[first:]
    if not column.is_ordered or len(present) < _FEWEST:
        return CodeAxis(values)
    if not (np.abs(present) <= _FARTHEST).all():
        return _ranked(column)
    if _are_told_apart(present) and np.abs(present).max() <= _FAR * np.ptp(present):
        return CodeAxis(values)
    return _from_the_middle(column, values)


_FEWEST = 2


def _are_told_apart(present: Floats) -> bool:
    return bool((np.diff(present) > 0).all())


def _ranked(column: MatchedColumn) -> CodeAxis:
    return CodeAxis(np.arange(column.size, dtype=np.float64), is_ranked=True)


def _from_the_middle(column: MatchedColumn, values: Floats) -> CodeAxis:
    """Return numbers as exact differences from the one in their middle."""
    first = int(column.has_missing)
    try:
        numbers = [Decimal(str(one)) for one in column.labels[first:]]
    except InvalidOperation:  # times, of which there are too many to tell them apart
        return _ranked(column) if not _are_told_apart(values[first:]) else CodeAxis(values)
    origin = numbers[len(numbers) // 2]
    with exact_arithmetic():
        values[first:] = [float(one - origin) for one in numbers]
    return CodeAxis(values, origin) if _are_told_apart(values[first:]) else _ranked(column)
