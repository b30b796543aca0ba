"""Figures with so many significant digits, as some institutions ask for of all that is released."""

from math import isfinite

import pyarrow as pa


def round_digits(column: pa.ChunkedArray, digits: int) -> pa.ChunkedArray:
    """Return a column of numbers rounded to so many significant digits; others as they are.

    Whole numbers stay whole, and decimals become floats.
    """
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64(), safe=False)
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return column
    return pa.chunked_array(
        [pa.array([rounded_figure(one, digits) for one in column.to_pylist()], kind)]
    )


def rounded_figure(value: float | None, digits: int) -> float | None:
    """Return a figure with so many significant digits; a whole number stays whole."""
    if value is None or not isfinite(value):
        return value
    if isinstance(value, int):
        return round(value, min(digits - len(str(abs(value))), 0))
    return float(f"{value:.{digits - 1}e}")
