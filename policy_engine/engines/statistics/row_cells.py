"""What the cells of single rows say: a text for every value, a number, or nothing.

Each is a function of one cell and of the type that the file says, never of other rows: how a row
is read must not depend on who else is in the table.
"""

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import is_text, to_numpy, value_type
from policy_engine.errors import DataError

_NUMBER = re.compile(
    r"\s*[-+]?([0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})([eE][-+]?[0-9]{1,3})?\s*"
)


def encoded(column: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    """Return a column as a dictionary of its values, and their places."""
    if pa.types.is_dictionary(column.type) and column.type.index_type.bit_width < _WIDE:
        column = column.cast(column.type.value_type)  # as many values as there are
    chunk = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()


_WIDE = 32


def check_types(schema: pa.Schema, names: Sequence[str]) -> None:
    """Raise DataError (C009) for columns of a type whose values have no text."""
    for name in names:
        value = value_type(schema.field(name).type)
        if not has_texts(value):
            message = f"The column {name!r} is of the type {value}, which has no text."
            hint = "Allowed are numbers, texts, truth values, days and times."
            raise DataError.of("C009", message, hint)


def has_texts(kind: pa.DataType) -> bool:
    """Tell whether every value of a type has a text, by `texts_of`, which then never fails."""
    return is_text(kind) or any(one(kind) for one in _SIMPLE)


_SIMPLE = (
    *(pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean),
    *(pa.types.is_date, pa.types.is_time, pa.types.is_timestamp, pa.types.is_duration),
    pa.types.is_null,
)


def texts_of(values: pa.Array) -> list[str | None]:
    """Return the text of each value, None for a missing one; different values have different texts.

    Numbers have one text however they are stored: 5.0 is "5". Texts are as they are, days and times
    as in ISO 8601 with a blank between both, moments in UTC with a Z.
    """
    kind = values.type
    if is_text(kind) or pa.types.is_null(kind):
        return list(values.to_pylist())
    if pa.types.is_floating(kind):
        return [_float_text(one) for one in values.cast(pa.float64()).to_pylist()]
    if pa.types.is_timestamp(kind) and kind.tz:
        moments = values.cast(pa.timestamp(kind.unit, "UTC")).cast(pa.timestamp(kind.unit))
        return [text and f"{text}Z" for text in texts_of(moments)]
    texts = values.cast(pa.string()).to_pylist()
    has_fraction = any(one(kind) for one in _FRACTIONS)
    return [_without_zeros(one) if has_fraction else one for one in texts]


_FRACTIONS = (pa.types.is_decimal, pa.types.is_timestamp, pa.types.is_time)
"""The types whose texts may end in zeros that say how they are stored."""


def _float_text(value: float | None) -> str | None:
    if value is None or value != value:  # noqa: PLR0124 (NaN)
        return None
    return str(int(value)) if value.is_integer() else repr(value)


def _without_zeros(text: str | None) -> str | None:
    return text.rstrip("0").rstrip(".") if text and "." in text else text


def numbers_of(values: pa.Array) -> NDArray[np.float64]:
    """Return the number that each value is, (values,); NaN for what is not a number, or missing."""
    if is_text(values.type):
        return np.array([_number(one) for one in values.to_pylist()], dtype=np.float64)
    if any(one(values.type) for one in _NUMERIC):
        return np.asarray(to_numpy(values.cast(pa.float64(), safe=False), np.nan), np.float64)
    return np.full(len(values), np.nan)


_NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)


def _number(text: str | None) -> float:
    return float(text) if text is not None and _NUMBER.fullmatch(text) else float("nan")
