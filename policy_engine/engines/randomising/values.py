"""What the cells of a column count as for a randomiser: one of its public values, whatever they
hold.

Nothing here raises an error for a value: an error would tell it.
"""

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import to_numpy, unchunk, value_type
from policy_engine.engines.statistics.row_cells import encoded, has_texts, texts_of
from policy_engine.engines.value_words import dictionary_indices
from policy_engine.methods.randomiser import CategoryRandomiser, NumberRandomiser, Randomiser

Ints = NDArray[np.int64]


def values_of(column: pa.ChunkedArray, randomiser: Randomiser) -> Ints:
    """Return what each cell counts as for a randomiser of categories or numbers, (rows,): the place
    of its value, or its step."""
    if isinstance(randomiser, CategoryRandomiser):
        return codes_of(column, randomiser)
    assert isinstance(randomiser, NumberRandomiser)  # noqa: S101 (images are of no such values)
    return steps_of(column, randomiser)


def codes_of(column: pa.ChunkedArray, randomiser: CategoryRandomiser) -> Ints:
    """Return the place of each cell among the values of a randomiser, (rows,)."""
    values = randomiser.values
    other = values.index(randomiser.otherwise)
    places = {value: place for place, value in enumerate(values)}
    distinct, rows = distinct_of(column)
    codes = [*(places.get(one, other) for one in distinct), other]
    return np.array(codes, dtype=np.int64)[rows]


def steps_of(column: pa.ChunkedArray, randomiser: NumberRandomiser) -> Ints:
    """Return the nearest step of each cell on the grid of a randomiser, (rows,)."""
    numbers = numbers_of(column)
    lower, upper = randomiser.lower, randomiser.upper
    within_bounds = np.clip(np.where(np.isnan(numbers), lower, numbers), lower, upper)
    steps = np.rint((within_bounds - lower) / randomiser.grid).astype(np.int64)
    steps = np.clip(steps, 0, randomiser.steps)
    return np.where(np.isnan(numbers), randomiser.other_step, steps)


def numbers_of(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return the number of each cell, (rows,), NaN where it is missing or none."""
    kind = value_type(column.type)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        floats = unchunk(column.cast(kind)).cast(pa.float64(), safe=False)
        return to_numpy(floats, missing=math.nan).astype(np.float64)
    distinct, rows = distinct_of(column)
    return np.array([*map(_number, distinct), math.nan])[rows]


def distinct_of(column: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """Return the distinct texts of a column, and the place of each row's, (rows,), the last one
    behind them where it is missing. Values of a type without texts count as missing."""
    if not has_texts(value_type(column.type)):
        return [], np.zeros(len(column), dtype=np.int64)
    column_codes = encoded(column)
    places: dict[str, int] = {}
    texts = texts_of(column_codes.dictionary)
    codes = [-1 if text is None else places.setdefault(text, len(places)) for text in texts]
    codes_or_missing = np.array([len(places) if one < 0 else one for one in codes] + [len(places)])
    return [*places], codes_or_missing[dictionary_indices(column_codes)].astype(np.int64)


def _number(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
