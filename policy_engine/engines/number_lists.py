"""Columns of arrays of numbers, such as images: Arrow's lists as numpy arrays, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, to_numpy

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def is_array_of_numbers(kind: pa.DataType) -> bool:
    """Tell whether a type is that of lists, or of lists of such lists, of integers or floats."""
    return list_depth(kind) > 0


def list_depth(kind: pa.DataType) -> int:
    """Return how deep lists of integers or floats are nested, 0 for any other type."""
    depth = 0
    while any(is_list(kind) for is_list in _LISTS):
        kind, depth = kind.value_type, depth + 1
    return depth if pa.types.is_integer(kind) or pa.types.is_floating(kind) else 0


def plain_list_type(kind: pa.DataType) -> pa.DataType:
    """Return a type of lists of numbers without the names and the metadata of what is within."""
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(plain_list_type(kind.value_type), kind.list_size)
    if pa.types.is_list(kind):
        return pa.list_(plain_list_type(kind.value_type))
    return pa.large_list(plain_list_type(kind.value_type)) if pa.types.is_nested(kind) else kind


def from_lists(
    lists: pa.Array, missing: float | None = None, *, widens: bool = False
) -> NDArray[Any]:
    """Return lists, none of which is missing, as an array, (lists, length, length within, ...).

    Floats that are missing are `missing`, if that is given, and so are integers if it `widens`
    those among which some are to floats. Raises ValueError, with what they are, where they differ
    in length or numbers are missing.
    """
    lengths, elements = [len(lists)], lists
    for _ in range(list_depth(lists.type)):
        lengths.append(_length(elements))
        elements = elements.flatten()
        if widens and elements.null_count and pa.types.is_integer(elements.type):
            elements = elements.cast(pa.float64(), safe=False)
        is_filled = missing is not None and pa.types.is_floating(elements.type)
        if elements.null_count and not is_filled:
            raise ValueError("images in which numbers are missing")
    return to_numpy(elements, missing or 0).reshape(lengths)


def _length(lists: pa.Array) -> int:
    if pa.types.is_fixed_size_list(lists.type):
        return int(lists.type.list_size)
    lengths = to_numpy(pc.list_value_length(lists))
    if len(lengths) and lengths.min() != lengths.max():
        raise ValueError("images that differ in their shape")
    return int(lengths[0]) if len(lengths) else 0


def to_lists(values: NDArray[Any], kind: pa.DataType | None = None) -> pa.Array:
    """Return an array, (lists, length, length within, ...), as lists of a type, by default of fixed
    sizes."""
    kind = kind or _fixed_type(values)
    return _nest(from_numpy(values.reshape(-1)), kind, values.shape[1:], len(values))


def _fixed_type(values: NDArray[Any]) -> pa.DataType:
    kind = pa.from_numpy_dtype(values.dtype)
    for length in reversed(values.shape[1:]):
        kind = pa.list_(kind, length)
    return kind


def _nest(numbers: pa.Array, kind: pa.DataType, lengths: Sequence[int], count: int) -> pa.Array:
    """Return numbers as `count` lists of a type, of these lengths from the outer one inwards."""
    if not lengths:
        return numbers
    inner = _nest(numbers, kind.value_type, lengths[1:], count * lengths[0])
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(inner, type=kind)
    is_large = pa.types.is_large_list(kind)
    ends = np.arange(count + 1, dtype=np.int64 if is_large else np.int32) * lengths[0]
    layout = pa.LargeListArray if is_large else pa.ListArray
    return layout.from_arrays(from_numpy(ends), inner, type=kind)
