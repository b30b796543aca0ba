"""The distinct values of a column, and which of them each row has."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, is_text, to_numpy, unchunk
from policy_engine.errors import DataError

_UNORDERED = (
    *(pa.types.is_nested, pa.types.is_duration, pa.types.is_interval),
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary),
    pa.types.is_binary_view,
)


def text_ranks(column: pa.ChunkedArray) -> NDArray[np.int32]:
    """Return the rank of every row's text, (rows,); all 0 where the column is not of texts."""
    # Equal numbers that are written differently have different ranks.
    if not (is_text(column.type) or pa.types.is_dictionary(column.type)):
        return np.zeros(len(column), dtype=np.int32)
    indices, values = index_distinct("", column)
    ranks: NDArray[np.int32] = to_numpy(
        pc.rank(values.cast(pa.string())).cast(pa.int32()).take(indices)
    )
    return ranks


def index_distinct(name: str, column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the index of each row's value, (rows,), and the distinct values that occur.

    Raises DataError (C009) for a type without order or equality.
    """
    is_dictionary = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if is_dictionary else column.type
    if any(is_kind(kind) for is_kind in _UNORDERED):
        raise no_order_error(name, kind)
    if is_dictionary and any(chunk.dictionary.null_count for chunk in column.chunks):
        column, is_dictionary = column.cast(kind), False
    if not is_dictionary:
        if pa.types.is_float16(kind):
            column = column.cast(pa.float32())
        try:
            column = column.dictionary_encode()
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            raise no_order_error(name, kind) from None
    encoded = unchunk(column)
    is_used = np.zeros(len(encoded.dictionary), dtype=np.bool_)
    is_used[to_numpy(encoded.indices.drop_null())] = True
    is_used &= to_numpy(encoded.dictionary.is_valid())
    if is_used.all():
        return encoded.indices, encoded.dictionary
    position = from_numpy(np.cumsum(is_used) - 1, ~is_used)
    return position.take(encoded.indices), encoded.dictionary.filter(from_numpy(is_used))


def no_order_error(name: str, kind: pa.DataType) -> DataError:
    """Return the error (C009) of a column whose type has no order or equality."""
    message = f"The column {name!r} is of type {kind}, which has no order that a cell could show."
    hint = "Allowed are numbers, texts, truth values, dates and times."
    return DataError.of("C009", message, hint)  # type: ignore[return-value]
