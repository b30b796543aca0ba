"""Whether masked numbers are written as their masking writes them: as finely as those before.

Anything could stand in decimals, or in hours of a day, that no masking makes.
"""

from decimal import Decimal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, is_text, to_numpy
from policy_engine.engines.masking.numbers import (
    MOST_DECIMALS,
    MOST_EXACT,
    NumberForm,
    count_decimals,
    plain_array,
    round_floats,
    to_floats,
)

_DAY = 86_400_000_000
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
_DIGITS = 17
"""Of as many, any float is told."""


def count_finer(name: str, column: pa.ChunkedArray, form: NumberForm, written: NumberForm) -> int:
    """Return how many numbers of an output are written more finely than those of a masked column.

    The column of the input has a `form`, that of the output is `written` in one: integers have no
    decimals, dates no time of day, and others as many decimals as there are before.
    """
    if written.kind == "timestamp":
        return _count_finer_times(plain_array(column).drop_null(), form)
    if written.kind == "date" or pa.types.is_integer(written.type):
        return 0
    present = column.drop_null()
    values = to_floats(name, present, written)
    # Numbers that are larger are not rounded: floats have no more decimals there, or few.
    is_exact = np.abs(values) < MOST_EXACT / 8 / 10.0**form.decimals
    if written.kind == "decimal" and not pa.types.is_float16(form.type):
        return _count_longer(present, form.decimals, is_exact)
    made = round_floats(values, form.decimals)
    for kind in (form.type, written.type):
        if pa.types.is_floating(kind) and not pa.types.is_float64(kind):
            made = _as_held(made, kind)
    return int((is_exact & (made != values)).sum())


def _as_held(values: NDArray[np.float64], kind: pa.DataType) -> NDArray[np.float64]:
    """Return numbers as floats of fewer bits hold them, each being the number that its text is."""
    with np.errstate(over="ignore"):
        held = from_numpy(values.astype(kind.to_pandas_dtype()))
    return to_numpy(held.cast(pa.string()).cast(pa.float64()))


def _count_longer(column: pa.ChunkedArray, decimals: int, is_exact: NDArray[np.bool_]) -> int:
    if decimals > MOST_DECIMALS:
        texts = plain_array(column).cast(pa.string()).to_pylist()
        return sum(_digits(text) > _DIGITS for text in texts)
    counts = count_decimals(column)
    return int(((counts > decimals) & (is_exact | (counts > decimals + 2))).sum())


def _digits(text: str) -> int:
    """Return how many digits a number has that are not zeros at either end."""
    return len(Decimal(text.strip()).normalize().as_tuple().digits)


def _count_finer_times(stamps: pa.Array, form: NumberForm) -> int:
    """Return how many points in time are not whole units: days, or parts of a second."""
    unit = _DAY if form.kind != "timestamp" else 10 ** (6 - form.decimals)
    if is_text(stamps.type):
        return 0
    step = unit * 1000 // _NANOSECONDS[stamps.type.unit]
    counts = to_numpy(stamps.cast(pa.int64()))
    return int((counts % step != 0).sum()) if step > 1 else 0
