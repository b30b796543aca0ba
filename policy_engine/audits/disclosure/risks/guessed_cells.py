"""Cells of known columns as a guesser of values takes them: on axes of finite numbers."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.audits.disclosure.scales import dispersion_of
from policy_engine.kernels.attribute_inference import ReleasedCells

Floats = NDArray[np.float64]

MOST_ON_LINES, MOST_CELLS = 100, 1 << 24
"""Linear models are of so many columns at most, with so many numbers in all."""
MOST_INDICATED = 8
"""Of so many values of a text, a linear model knows whether it is each."""


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


def linear_points(columns: Sequence[KnownColumn]) -> tuple[Floats, Floats]:
    """Return what is known of persons, and the released cells, as columns of a linear model.

    Numbers are themselves, nan where there is none; texts are whether they are each of the values
    that most cells have, of a cell of several the share of these. (persons, n) and (rows, n).
    """
    pairs = [pair for column in columns for pair in _linear_pairs(column)]
    return np.column_stack([one for one, _ in pairs]), np.column_stack([one for _, one in pairs])


def linear_columns(columns: Sequence[KnownColumn]) -> Sequence[KnownColumn]:
    """Return the first columns, as many as `linear_points` may hold, and one at least."""
    rows = max(len(columns[0].before), columns[0].after.rows)
    widths = [1 if one.is_number else min(one.after.size, MOST_INDICATED) for one in columns]
    ends = np.cumsum(widths[:MOST_ON_LINES])
    return columns[: max(1, int(np.searchsorted(ends, MOST_CELLS // rows, side="right")))]


def _linear_pairs(column: KnownColumn) -> Iterator[tuple[Floats, Floats]]:
    spread = column.after
    if column.is_number:
        places = _axis(column)
        places[: int(column.has_missing)] = np.nan
        first = np.minimum.reduceat(spread.low, spread.starts[:-1])
        last = np.maximum.reduceat(spread.high, spread.starts[:-1]) - 1
        yield places[column.before], ((places[first] + places[last]) / 2)[spread.cell_of]
        return
    masses = spread.masses.round(9)
    for code in np.argsort(-masses, kind="stable")[:MOST_INDICATED].tolist():
        is_code = np.arange(len(masses)) == code
        yield is_code[column.before].astype(float), spread.means(is_code)[spread.cell_of]


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
