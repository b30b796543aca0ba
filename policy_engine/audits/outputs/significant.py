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


_CERTAIN = 15
"""How many significant digits a float has for certain: 0.1 + 0.2 is 0.3 in these."""


def without_dust(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of floats in the digits that a float has for certain, so that the same figure
    has the same text; whole numbers, and others than floats, are as they are."""
    if not pa.types.is_float64(column.type):
        return column
    figures = [
        one if one is None or one.is_integer() else rounded_figure(one, _CERTAIN)
        for one in column.to_pylist()
    ]
    return pa.chunked_array([pa.array(figures, column.type)])


def rounded_figure(value: float | None, digits: int) -> float | None:
    """Return a figure with so many significant digits; a whole number stays whole."""
    if value is None or not isfinite(value):
        return value
    if isinstance(value, int):
        return round(value, min(digits - len(str(abs(value))), 0))
    return float(f"{value:.{digits - 1}e}")
