"""Cells of known columns as a guesser of values takes them: on axes of finite numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.audits.disclosure.scales import dispersion_of
from policy_engine.kernels.attribute_inference import ReleasedCells

Floats = NDArray[np.float64]


def known_points(columns: Sequence[KnownColumn]) -> Floats:
    """Return the places of what is known of persons, (persons, columns), finite."""
    return np.column_stack([_places(column)[column.before] for column in columns])


def released_cells(columns: Sequence[KnownColumn]) -> ReleasedCells:
    """Return from where to where the released cells of columns reach."""
    low, high, widths = [], [], []
    for column in columns:
        spread, places = column.after, _places(column)
        first = np.minimum.reduceat(spread.low, spread.starts[:-1])[spread.cell_of]
        last = np.maximum.reduceat(spread.high, spread.starts[:-1])[spread.cell_of] - 1
        low.append(places[first])
        high.append(places[last])
        least, most = _ends(column)
        widths.append((most - least or 1.0) if column.is_number else 0.0)
    return ReleasedCells(np.column_stack(low), np.column_stack(high), np.array(widths))


def _places(column: KnownColumn) -> Floats:
    """Return the place of each code, finite: a missing number is farther away than any other."""
    if not column.is_number:
        return np.arange(len(column.labels), dtype=np.float64)
    placed = _axis(column)
    if column.has_missing:
        low, high = _ends(column)
        placed[0] = low - (high - low or 1.0)
    return placed


def _axis(column: KnownColumn) -> Floats:
    """Return the numbers of the codes; their ranks, where the range is that of a few of them."""
    if dispersion_of(column.known_numbers()).is_robust:
        return np.arange(len(column.values), dtype=np.float64)
    return column.values.astype(np.float64).copy()


def _ends(column: KnownColumn) -> tuple[float, float]:
    present = _axis(column)[int(column.has_missing) :]
    return (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
