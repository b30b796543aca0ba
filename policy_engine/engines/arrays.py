"""Arrow arrays to numpy and back, without importing pandas.

`pyarrow.array`, `pyarrow.scalar` (also where a constant is given to a function of its compute
module) and `Array.to_numpy` first import pandas wherever it is installed: a third of a second
that nothing here needs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def to_numpy(array: pa.Array, missing: float = 0) -> NDArray[Any]:
    """Return a primitive array as a numpy array, with `missing` for missing values.

    It is a view where no value is missing.
    """
    if pa.types.is_boolean(array.type):
        return to_numpy(array.cast(pa.uint8()), missing).astype(np.bool_)
    if array.null_count == 0:
        return np.from_dlpack(array)
    data = np.frombuffer(array.buffers()[1], dtype=array.type.to_pandas_dtype())
    values = data[array.offset : array.offset + len(array)]
    return np.where(to_numpy(array.is_valid()), values, np.array(missing, dtype=values.dtype))


def from_numpy(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return a one-dimensional numpy array as an Arrow array; `missing` is a mask, (values,)."""
    kind = pa.from_numpy_dtype(values.dtype)
    data = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else values
    present = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers = [present, pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(kind, len(values), buffers)


def unchunk(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, with one dictionary if it has any."""
    column = unify_dictionaries(column)
    return pa.concat_arrays(column.chunks or [pa.nulls(0, column.type)])


def unify_dictionaries(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose chunks share one dictionary, if they have any."""
    if not pa.types.is_dictionary(column.type):
        return column
    if not pa.types.is_null(column.type.value_type):
        return column.unify_dictionaries()
    empty = pa.DictionaryArray.from_arrays(
        pa.nulls(len(column), column.type.index_type), pa.nulls(0)
    )
    return pa.chunked_array([empty])  # Arrow does not unify those without a value


def from_texts(texts: Sequence[str]) -> pa.Array:
    """Return texts as an Arrow array of strings."""
    utf8 = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, utf8)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(utf8))]
    return pa.Array.from_buffers(pa.string(), len(utf8), buffers)


def constant(text: str) -> pa.Scalar:
    """Return a text as an Arrow scalar."""
    return from_texts([text])[0]


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a type is text, in any of Arrow's layouts."""
    shapes = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(shape(kind) for shape in shapes)


def is_nested_or_span(kind: pa.DataType) -> bool:
    """Tell whether a type is one of lists, structures, spans of time or extensions, whose values
    Arrow does not all group and rank."""
    is_extension = isinstance(kind, pa.BaseExtensionType)
    is_span = pa.types.is_duration(kind) or pa.types.is_interval(kind)
    return bool(is_extension or is_span or pa.types.is_nested(kind))


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a column, whether or not they are in a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def has_many_values(column: pa.ChunkedArray) -> bool:
    """Tell whether the dictionaries of a column's chunks are no shorter than half the column."""
    if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return False
    return sum(len(chunk.dictionary) for chunk in column.chunks) * 2 >= len(column)


def cell_array(
    starts: NDArray[np.int64], cell: NDArray[np.int64], texts: Sequence[str | None]
) -> pa.Array:
    """Return the cell of every row as dictionary-encoded text, in the order of the classes.

    `starts` (classes + 1,) is where the rows of each class begin, and where the last end; `cell`
    (classes,) is the number of its text.
    """
    rows = np.repeat(cell, np.diff(starts)).astype(np.int32)
    empty = np.array([text is None for text in texts])[rows]
    dictionary = from_texts([text or "" for text in texts])
    return pa.DictionaryArray.from_arrays(from_numpy(rows, empty), dictionary)
