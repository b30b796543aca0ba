"""Two words for every value of a column, equal for equal values however they are stored."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import to_numpy
from policy_engine.errors import DataError
from policy_engine.kernels.siphash import Words
from policy_engine.kernels.streams import hash_lists, hash_texts, mix_rows

_MISSING, _INTEGER, _NEGATIVE, _FLOAT, _TRUTH, _DAY, _MOMENT = range(7)
"""What the first word of a value of fixed width says; the second has its bits."""


def value_words(values: pa.Array, secret: Words) -> Words:
    """Return two words for every value, (values, 2), under a secret key, (2,).

    Values of texts, lists and structs have hashes. Raises DataError (C009) for those without text.
    """
    if isinstance(values.type, pa.BaseExtensionType):
        return value_words(values.storage, secret)
    if pa.types.is_dictionary(values.type):
        return dictionary_words(values, secret)[dictionary_indices(values)]
    words = _fixed_words(values)
    words = _hashes(values, secret) if words is None else words
    if values.null_count:
        words[~to_numpy(values.is_valid())] = _MISSING
    return words


def dictionary_words(column: pa.DictionaryArray, secret: Words) -> Words:
    """Return the words of the values of a dictionary, and behind them those of a missing one."""
    missing = np.full((1, 2), _MISSING, dtype=np.uint64)
    return np.concatenate([value_words(column.dictionary, secret), missing])


def dictionary_indices(column: pa.DictionaryArray) -> NDArray[np.int64]:
    """Return the place of each row's words among `dictionary_words`, (rows,)."""
    return to_numpy(column.indices.cast(pa.int64()), missing=len(column.dictionary))


def _fixed_words(values: pa.Array) -> Words | None:
    """Return the words of values of fixed width, any for missing ones; None for other types."""
    kind = values.type
    if pa.types.is_integer(kind):
        return _integer_words(to_numpy(values))
    if pa.types.is_decimal(kind) and kind.bit_width <= 128:
        return _decimal_words(values.cast(pa.decimal128(kind.precision, kind.scale)))
    if pa.types.is_floating(kind):
        return _float_words(to_numpy(values).astype(np.float64))
    if pa.types.is_timestamp(kind):
        return _moment_words(to_numpy(values.cast(pa.int64())), kind.unit)
    if pa.types.is_date(kind):
        return _pairs(_DAY, to_numpy(values.cast(pa.date32()).cast(pa.int32())))
    return _pairs(_TRUTH, to_numpy(values)) if pa.types.is_boolean(kind) else None


def _pairs(first: int | Words, bits: NDArray[np.integer] | NDArray[np.bool_]) -> Words:
    pairs = np.empty((len(bits), 2), dtype=np.uint64)
    pairs[:, 0], pairs[:, 1] = first, bits.astype(np.uint64)
    return pairs


def _integer_words(values: NDArray[np.integer]) -> Words:
    return _pairs(np.where(values < 0, _NEGATIVE, _INTEGER).astype(np.uint64), values)


def _decimal_words(values: pa.Array) -> Words:
    """Return the words of decimals; without a fraction, those of the integers that they are."""
    # 128 bits in two's complement, of which the upper half is 0 or -1 for what 64 bits can hold.
    # The others' have at most 62 bits: with the top bit flipped none is one of the small numbers.
    data = np.frombuffer(values.buffers()[1] or b"", "<i8").reshape(-1, 2)
    low, high = data[values.offset : values.offset + len(values)].T
    kinds = np.select([high == 0, high == -1], [_INTEGER, _NEGATIVE], high ^ np.int64(-(2**63)))
    return _pairs(kinds.astype(np.uint64), low)


def _float_words(values: NDArray[np.float64]) -> Words:
    # -0.0 + 0.0 is 0.0. NaN has many bit patterns.
    return _pairs(_FLOAT, np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64))


_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}


def _moment_words(values: NDArray[np.int64], unit: str) -> Words:
    """Return the words of points in time: microseconds, and the nanoseconds beyond these."""
    if unit != "ns":
        return _pairs(_MOMENT, values * _MICROSECONDS[unit])
    microseconds, nanoseconds = np.divmod(values, 1000)
    return _pairs((_MOMENT + 256 * nanoseconds).astype(np.uint64), microseconds)


def _hashes(values: pa.Array, secret: Words) -> Words:
    """Return the hashes of values of any length, any for missing ones.

    Raises DataError (C009) for a type without text.
    """
    if pa.types.is_null(values.type):
        return np.empty((len(values), 2), dtype=np.uint64)
    if pa.types.is_struct(values.type):
        return mix_rows([value_words(field, secret) for field in values.flatten()], secret)
    if any(is_kind(values.type) for is_kind in _LISTS):
        return _list_hashes(values, secret)
    return hash_texts(*_strings(values), secret)


_LISTS = (
    *(pa.types.is_list, pa.types.is_large_list),
    *(pa.types.is_fixed_size_list, pa.types.is_map),
)
_BYTES = (
    *(pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_binary_view, pa.types.is_fixed_size_binary),
)


def _strings(values: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the offsets, (values + 1,), and the bytes of values or of their texts.

    Raises DataError (C009) for a type without text.
    """
    is_bytes = any(is_kind(values.type) for is_kind in _BYTES)
    try:
        strings = values.cast(pa.large_binary() if is_bytes else pa.large_string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        message = f"Values of the type {values.type} have no text that tells rows apart."
        hint = "Allowed are numbers, texts, truth values, dates, times, bytes, lists and structs."
        raise DataError.of("C009", message, hint) from None
    if not len(strings):
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    _, offsets, data = strings.buffers()
    ends = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    return ends, np.frombuffer(data or b"", np.uint8)


_MOST_ELEMENTS = 2**20
"""So many elements of lists at a time, which bounds the memory that their words take."""


def _list_hashes(lists: pa.Array, secret: Words) -> Words:
    """Return the hashes of lists, (lists, 2), by those of their elements.

    Lists of nothing but integers from 0 to 255, such as images, are hashed as bytes, whatever type
    the elements have: on a cluster it may be a wider one.
    """
    offsets, elements = _elements(lists)
    if len(elements) > _MOST_ELEMENTS and len(lists) > 1:
        half = len(lists) // 2
        parts = lists.slice(0, half), lists.slice(half)
        return np.concatenate([_list_hashes(part, secret) for part in parts])
    data, is_byte = _to_bytes(elements)
    hashes, others_before = hash_texts(offsets, data, secret), np.append(0, np.cumsum(~is_byte))
    has_others = others_before[offsets[1:]] > others_before[offsets[:-1]]
    if has_others.any():
        others = hash_lists(offsets, value_words(elements, secret), secret)
        hashes[has_others] = others[has_others]
    return hashes


def _elements(lists: pa.Array) -> tuple[NDArray[np.int64], pa.Array]:
    """Return the offsets of lists, (lists + 1,), the first 0, and the elements of all lists."""
    if pa.types.is_fixed_size_list(lists.type):
        places = np.arange(lists.offset, lists.offset + len(lists) + 1, dtype=np.int64)
        offsets = places * lists.type.list_size
    else:
        offsets = to_numpy(lists.offsets).astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    return offsets - first, lists.values.slice(first, last - first)


def _to_bytes(elements: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return elements as bytes, and which of them are integers from 0 to 255; others are 0."""
    if not pa.types.is_integer(elements.type):
        return np.zeros(len(elements), dtype=np.uint8), np.zeros(len(elements), dtype=np.bool_)
    values = to_numpy(elements)
    is_byte = np.asarray((values >= 0) & (values <= 255) & to_numpy(elements.is_valid()))
    return np.where(is_byte, values, 0).astype(np.uint8), is_byte
