"""What each row adds to the statistics of its group, as integers on public grids."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.statistics.row_cells import encoded, numbers_of, texts_of
from policy_engine.engines.value_words import dictionary_indices
from policy_engine.plan.aggregates.model import Quantity, Statistic
from policy_engine.plan.steps import AggregateStep

Integers = NDArray[np.int64]
ABSENT = -1
"""The option of a row whose value is none of the candidates, or missing."""


@dataclass(frozen=True)
class Tallied:
    """One quantity to be summed: of which figure, and of how many options; 0 for plain sums."""

    figure: Statistic
    quantity: Quantity
    options: int = 0


def tallied(step: AggregateStep) -> tuple[Tallied, ...]:
    """Return the quantities of a step, in the order of its noise."""
    return tuple(
        Tallied(figure, noise.quantity, figure.options if noise.quantity in _OF_OPTIONS else 0)
        for figure in step.figures
        for noise in figure.noise
    )


_OF_OPTIONS = ("ranks", "counts", "choices")


def row_values(table: pa.Table | pa.RecordBatch, step: AggregateStep) -> list[Integers]:
    """Return for each quantity what every row adds, (rows,): a number or, where it has options,
    that of its value, or `ABSENT`. Units are counted by themselves: each row has 1."""
    return [_values(table, one) for one in tallied(step)]


def _values(table: pa.Table | pa.RecordBatch, one: Tallied) -> Integers:
    figure = one.figure
    if not figure.of:
        return np.ones(table.num_rows, dtype=np.int64)
    column = encoded(table.column(figure.of))
    places = dictionary_indices(column)
    values = _of_values(column.dictionary, one)
    nothing = _missing_option(figure) if one.options else 0
    return np.append(values, nothing).astype(np.int64)[places]


def _missing_option(figure: Statistic) -> int:
    """Return the option of a missing cell: none, or the empty text of a synthetic column."""
    is_value = figure.is_synthetic and "" in figure.candidates
    return figure.candidates.index("") if is_value else ABSENT


def _of_values(values: pa.Array, one: Tallied) -> Integers:
    """Return what each distinct value adds."""
    figure = one.figure
    if figure.is_synthetic and not figure.candidates:
        return _numbers_as_options(numbers_of(values), figure)
    if one.quantity in ("counts", "choices"):
        places = {text: place for place, text in enumerate(figure.candidates)}
        options = [
            _missing_option(figure) if text is None else places.get(text, ABSENT)
            for text in texts_of(values)
        ]
        return np.array(options, dtype=np.int64)
    if figure.function == "count":
        return np.array([text is not None for text in texts_of(values)], dtype=np.int64)
    numbers = numbers_of(values)
    is_number = ~np.isnan(numbers)
    numbers = np.where(is_number, numbers, 0.0)
    if one.quantity == "ranks":
        first, step, count = figure.candidate_grid
        width = step * (count - 1)
        moved = np.clip(numbers, float(first), float(first + width)) - float(first)
        ranks = on_grid(moved, Decimal(0), width, step)
        return np.where(is_number, ranks, ABSENT).astype(np.int64)
    return np.where(is_number, _moment(numbers, one), 0)


def _numbers_as_options(numbers: NDArray[np.float64], figure: Statistic) -> Integers:
    """Return numbers by their places from the lower bound on, in steps of the grid."""
    assert figure.lower is not None and figure.upper is not None and figure.grid  # noqa: S101, PT018 (of numbers)
    is_number = ~np.isnan(numbers)
    moved = np.where(is_number, numbers, float(figure.lower))
    steps = on_grid(moved, figure.lower, figure.upper, figure.grid) - figure.ends[0]
    return np.where(is_number, steps, ABSENT)


def _moment(numbers: NDArray[np.float64], one: Tallied) -> Integers:
    figure = one.figure
    assert figure.lower is not None and figure.upper is not None and figure.grid  # noqa: S101, PT018 (of numbers)
    if one.quantity == "rows":
        return np.ones(len(numbers), dtype=np.int64)
    steps = on_grid(numbers, figure.lower, figure.upper, figure.grid)
    if figure.function == "sum":
        return steps
    low, high = figure.ends
    centred = 2 * steps - (low + high)
    return centred if one.quantity == "sum" else 2 * centred**2 - (high - low) ** 2


def pair_counts(values: Sequence[Integers], step: AggregateStep) -> list[Integers]:
    """Return how many rows have every two values of each pair of the columns of a synthetic table,
    (1, counts) each; nothing of other statistics. `values` are the options of rows, by column."""
    options = [one.options for one in step.figures]
    counts = []
    for one, other in step.pairs:
        cells = values[one] * options[other] + values[other]
        counted = np.bincount(cells, minlength=options[one] * options[other])
        counts.append(counted.astype(np.int64)[None, :])
    return counts


def on_grid(
    numbers: NDArray[np.float64], lower: Decimal, upper: Decimal, grid: Decimal
) -> Integers:
    """Return numbers moved into bounds, in steps of a grid, each to the nearest one; NaN counts as
    the lower bound. A number within a part in 2^20 of half a step may go to either side.

    The steps are within those of the bounds whatever a float is rounded to, and no cell makes a
    warning: it would tell of it.
    """
    low, high = int(lower / grid), int(upper / grid)
    with np.errstate(all="ignore"):
        moved = np.clip(
            np.where(np.isnan(numbers), float(lower), numbers), float(lower), float(upper)
        )
        steps = np.rint(np.nan_to_num(moved / float(grid), nan=float(low)))
        return np.clip(steps, low, high).astype(np.int64)


def exact_sums(values: Integers, starts: Sequence[int] | Integers) -> list[int]:
    """Return the sums of runs of values, exactly, whatever their number; every run has a value."""
    low, high = values & _LOW, values >> _BITS
    lows, highs = (np.add.reduceat(part, starts).tolist() for part in (low, high))
    return [(above << _BITS) + below for above, below in zip(highs, lows, strict=True)]


_BITS = 24
_LOW = (1 << _BITS) - 1
