"""What tells the values of a column from others, whatever their order."""

import secrets
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, is_nested_or_span, is_text, to_numpy
from policy_engine.engines.masking.exact_numbers import numbers_apart
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.text_types import parse_times_of_day
from policy_engine.kernels.siphash import Words

_NUMBER = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?$"

Bools = NDArray[np.bool_]


def typed_values(column: pa.ChunkedArray | pa.Array, inferred: pa.DataType | None) -> pa.Array:
    """Return the values of a column, its texts as values of the type that is inferred."""
    plain = plain_array(column)
    if inferred is None or is_text(inferred) or not is_text(plain.type):
        return plain
    texts = pc.utf8_trim_whitespace(plain)
    return parse_times_of_day(texts) if pa.types.is_time(inferred) else texts.cast(inferred)


def mark_key() -> bytes:
    """Return a key under which values are marked, 16 bytes, to be kept no longer than the marks.

    Under a key that is known, other values with the same mark can be found.
    """
    return secrets.token_bytes(16)


def column_mark(column: pa.ChunkedArray, inferred: pa.DataType | None, key: bytes) -> int:
    """Return a number that depends on the values of a column, and not on their order or on how a
    file writes them."""
    plain = plain_array(column)
    if pa.types.is_floating(plain.type) or not _are_repeated(plain.slice(0, _LOOKED_AT)):
        return int(cell_words(plain, inferred, key)[:, 0].sum(dtype=np.uint64))
    encoded = plain.drop_null().dictionary_encode()
    words = cell_words(encoded.dictionary, inferred, key)[:, 0]
    times = np.bincount(to_numpy(encoded.indices), minlength=len(words)).astype(np.uint64)
    return int((words * times).sum(dtype=np.uint64))


_LOOKED_AT = 50_000
"""Where half of so many values are different, it takes no less time to mark different ones only."""


def _are_repeated(values: pa.Array) -> bool:
    """Tell whether fewer than half of some values are different; of types, too, whose values Arrow
    does not count."""
    if pa.types.is_null(values.type) or is_nested_or_span(values.type):
        return False
    return bool(2 * pc.count_distinct(values).as_py() < len(values))


def cell_words(
    column: pa.ChunkedArray | pa.Array, inferred: pa.DataType | None, key: bytes
) -> Words:
    """Return 128 bits for every value of a column, (rows, 2), equal for equal values however a file
    writes them, and 0 where a value is missing.

    Texts that are `inferred` to be of no other type are equal letter by letter; where nothing is
    inferred, those of numbers are equal as numbers.
    """
    plain = plain_array(column)
    words = np.zeros((len(plain), 2), dtype=np.uint64)
    places = np.flatnonzero(to_numpy(plain.is_valid()))
    for is_one, values in _same_form(plain.drop_null(), inferred):
        if len(values):
            words[places[is_one]] = row_keys([values], key)
    return words


def text_words(column: pa.ChunkedArray | pa.Array, key: bytes) -> Words:
    """Return 128 bits for every text of a column, (rows, 2), equal for texts of equal letters."""
    return row_keys([plain_array(column).cast(pa.string())], key)


def _same_form(
    plain: pa.Array, inferred: pa.DataType | None
) -> Iterator[tuple[slice | Bools, pa.Array]]:
    """Yield values in the one form that is theirs in every file, each with where they are."""
    if not is_text(plain.type) or pa.types.is_timestamp(inferred or plain.type):
        typed = typed_values(plain, inferred)
        if pa.types.is_integer(typed.type) or pa.types.is_decimal(typed.type):
            yield from numbers_apart(typed)
        elif pa.types.is_floating(typed.type):
            yield from _infinite_apart(typed)
        else:
            yield slice(None), _same_type(typed)
    elif inferred is not None and pa.types.is_time(inferred):
        yield slice(None), typed_values(plain, inferred)
    elif inferred is not None and is_text(inferred):
        yield slice(None), plain
    else:
        # By how each text is written, not by what all texts have in common, which masking changes.
        texts = pc.utf8_trim_whitespace(plain)
        is_number = to_numpy(pc.match_substring_regex(texts, _NUMBER)).astype(np.bool_)
        for chosen, numbers in numbers_apart(texts.filter(from_numpy(is_number))):
            places = is_number.copy()
            places[is_number] = chosen
            yield places, numbers
        yield ~is_number, plain.filter(from_numpy(~is_number))


def _infinite_apart(values: pa.Array) -> Iterator[tuple[Bools, pa.Array]]:
    """Yield floats, and those of no finite number as texts, each with where they are."""
    # A float of few bits is the number that a CSV file has of it.
    is_double = pa.types.is_float64(values.type)
    floats = values if is_double else values.cast(pa.string()).cast(pa.float64())
    is_finite = np.isfinite(to_numpy(floats))
    yield is_finite, floats.filter(from_numpy(is_finite))
    yield ~is_finite, floats.filter(from_numpy(~is_finite)).cast(pa.string())


def _same_type(typed: pa.Array) -> pa.Array:
    """Return values in the type that they have in every file."""
    if pa.types.is_date(typed.type) or pa.types.is_boolean(typed.type):
        typed = typed.cast(pa.string())
    elif pa.types.is_time(typed.type):
        typed = typed.cast(pa.time64("ns"))
    return typed


def add_marks(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """Return the marks of columns whose parts have these."""
    return tuple((first + second) % 2**64 for first, second in zip(one, other, strict=True))
