"""What tells the values of a column from others, whatever their order."""

import secrets
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import is_text
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.text_types import parse_times_of_day

_NUMBER = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?([0-9]{1,2}|[12][0-9]{2}|30[0-7]))?$"


def typed_values(column: pa.ChunkedArray, inferred: pa.DataType | None) -> pa.Array:
    """Return the values of a column, its texts as values of the type that is inferred."""
    plain = plain_array(column)
    is_typed = inferred is None or is_text(inferred) or pa.types.is_time(inferred)
    return plain if is_typed else pc.utf8_trim_whitespace(plain).cast(inferred)


def mark_key() -> bytes:
    """Return a key under which values are marked, 16 bytes, to be kept no longer than the marks.

    Under a key that is known, other values with the same mark can be found.
    """
    return secrets.token_bytes(16)


def column_mark(column: pa.ChunkedArray, inferred: pa.DataType | None, key: bytes) -> int:
    """Return a number that depends on the values of a column, and not on their order or on how a
    file writes them."""
    plain = plain_array(column).drop_null()
    if is_text(plain.type) and inferred is not None and pa.types.is_time(inferred):
        return _mark(parse_times_of_day(pc.utf8_trim_whitespace(plain)), key)
    if is_text(plain.type) and not pa.types.is_timestamp(inferred or plain.type):
        # By how each text is written, not by what all texts have in common, which masking changes.
        texts = pc.utf8_trim_whitespace(plain)
        is_number = pc.match_substring_regex(texts, _NUMBER)
        numbers = texts.filter(is_number).cast(pa.float64())
        rest = texts.filter(pc.invert(is_number))
        return (_mark(numbers, key) + _mark(rest, key)) % 2**64
    typed = typed_values(column, inferred).drop_null()
    if pa.types.is_integer(typed.type):
        typed = typed.cast(pa.float64(), safe=False)
    elif pa.types.is_date(typed.type):
        typed = typed.cast(pa.string())
    elif pa.types.is_time(typed.type):
        typed = typed.cast(pa.time64("ns"))
    elif pa.types.is_decimal(typed.type):
        typed = typed.cast(pa.string()).cast(pa.float64())
    elif pa.types.is_timestamp(typed.type):
        typed = typed.cast(pa.timestamp("us", typed.type.tz), safe=False).cast(pa.int64())
    elif pa.types.is_floating(typed.type):
        # A float of few bits is the number that a CSV file has of it.
        is_double = pa.types.is_float64(typed.type)
        typed = typed if is_double else typed.cast(pa.string()).cast(pa.float64())
    return _mark(typed, key)


def _mark(values: pa.Array, key: bytes) -> int:
    return int(row_keys([values], key)[:, 0].sum(dtype=np.uint64)) if len(values) else 0


def add_marks(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """Return the marks of columns whose parts have these."""
    return tuple((first + second) % 2**64 for first, second in zip(one, other, strict=True))
