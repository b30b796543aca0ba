"""The one form of floats: a missing number is missing, never NaN, and no zero has a sign.

Bits that change no value would tell rows apart that are the same.
"""

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, to_numpy

_LISTS = (pa.types.is_list, pa.types.is_large_list)


def holds_floats(kind: pa.DataType) -> bool:
    """Tell whether a type is one of floats, or has floats within."""
    if isinstance(kind, pa.BaseExtensionType):
        return holds_floats(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return holds_floats(kind.value_type)
    within = (holds_floats(kind.field(place).type) for place in range(kind.num_fields))
    return pa.types.is_floating(kind) or any(within)


def plain_floats(values: pa.Array) -> pa.Array:
    """Return an array in which NaN, also within lists and structs, is missing, and -0.0 is 0.0."""
    kind = values.type
    if not holds_floats(kind):
        return values
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, plain_floats(values.storage))
    if pa.types.is_dictionary(kind):
        return plain_floats(values.dictionary_decode())
    if pa.types.is_floating(kind):
        numbers = to_numpy(values, missing=math.nan)
        return from_numpy(numbers + numbers.dtype.type(0), np.isnan(numbers))  # -0.0 + 0 is 0.0
    return _rebuilt(values) if has_other_floats(values) else values


def has_other_floats(values: pa.Array) -> bool:
    """Tell whether an array has NaN or a negative zero in place of what `plain_floats` returns."""
    kind = values.type
    if not holds_floats(kind):
        return False
    if isinstance(kind, pa.BaseExtensionType):
        return has_other_floats(values.storage)
    if pa.types.is_dictionary(kind):
        return has_other_floats(values.dictionary_decode())
    if pa.types.is_floating(kind):
        numbers = to_numpy(values)
        return bool((np.isnan(numbers) | ((numbers == 0) & np.signbit(numbers))).any())
    return any(has_other_floats(one) for one in _parts(values))


def _parts(values: pa.Array) -> list[pa.Array]:
    """Return what lists, structs and maps that are not missing hold."""
    if pa.types.is_struct(values.type):
        return values.flatten()  # type: ignore[no-any-return]
    present = values.drop_null()
    if pa.types.is_map(values.type):
        first, last = _ends(present)
        return [present.keys.slice(first, last - first), present.items.slice(first, last - first)]
    if pa.types.is_fixed_size_list(values.type) or any(one(values.type) for one in _LISTS):
        return [present.flatten()]
    return []


def _ends(lists: pa.Array) -> tuple[int, int]:
    """Return where the elements of maps begin and end among all that they hold."""
    return (lists.offsets[0].as_py(), lists.offsets[-1].as_py()) if len(lists) else (0, 0)


def _rebuilt(values: pa.Array) -> pa.Array:
    """Return lists, structs or maps with the floats within in their form."""
    kind, missing = values.type, ~to_numpy(values.is_valid())
    if pa.types.is_struct(kind):
        fields = [plain_floats(one) for one in values.flatten()]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=from_numpy(missing))
    parts = [plain_floats(one) for one in _parts(values)]
    places = from_numpy(np.where(missing, 0, np.cumsum(~missing) - 1), missing)
    return _of_parts(values.drop_null(), parts).take(places)


def _of_parts(present: pa.Array, parts: list[pa.Array]) -> pa.Array:
    kind = present.type
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(*parts, type=kind)
    if pa.types.is_map(kind):
        return pa.MapArray.from_arrays(from_numpy(_offsets(present)), *parts, type=kind)
    layout = pa.LargeListArray if pa.types.is_large_list(kind) else pa.ListArray
    return layout.from_arrays(from_numpy(_offsets(present)), *parts, type=kind)


def _offsets(lists: pa.Array) -> NDArray[np.integer]:
    """Return the offsets of lists from their first element, (lists + 1,)."""
    offsets = to_numpy(lists.offsets)
    return np.asarray(offsets - offsets[:1])
