"""An order of rows that depends on their content only, and discloses nothing."""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, from_texts, to_numpy
from policy_engine.engines.number_lists import is_array_of_numbers
from policy_engine.kernels.grouping import classes_of


def row_marks(columns: Iterable[pa.Array], rows: int) -> NDArray[np.uint64]:
    """Return a hash of each row's texts in these columns, (rows,).

    It is the same on every machine, and in every table that has the row.
    """
    marks = np.zeros(rows, dtype=np.uint64)
    for column in columns:
        is_dictionary = pa.types.is_dictionary(column.type)
        encoded = column if is_dictionary else column.dictionary_encode()
        digests = [_digest(text) for text in texts_of_values(encoded.dictionary)]
        value_digest = np.array([*digests, 0], dtype=np.uint64)
        marks = (marks ^ value_digest[to_numpy(encoded.indices, missing=len(digests))]) * _FACTOR
        marks ^= marks >> np.uint64(29)
    return marks


def array_marks(column: pa.Array) -> pa.Array:
    """Return arrays of numbers as texts that are equal for equal arrays, in any layout and width.

    Columns of other types are returned as they are.
    """
    if not is_array_of_numbers(column.type):
        return column
    from policy_engine.engines.value_words import value_words  # noqa: PLC0415 (compiled)
    from policy_engine.kernels.siphash import key_words  # noqa: PLC0415 (compiled)

    words = value_words(column, key_words(bytes(16)))
    texts = from_texts([f"#{high:016x}{low:016x}" for high, low in words.tolist()])
    return texts.take(from_numpy(np.arange(len(column)), ~to_numpy(column.is_valid())))


def texts_of_values(values: pa.Array) -> list[str | None]:
    """Return values as texts; points in time in microseconds and UTC, where that is exact."""
    if pa.types.is_timestamp(values.type):
        with suppress(pa.ArrowInvalid):
            values = values.cast(pa.timestamp("us", "UTC" if values.type.tz else None))
    texts: list[str | None] = values.cast(pa.string()).to_pylist()
    return texts


_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def _digest(text: str | None) -> int:
    if text is None:
        return 0
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def content_order(
    quasi: Sequence[NDArray[np.int32]],
    mark: NDArray[np.uint64],
    tie_ranks: Sequence[NDArray[np.integer]],
    words: NDArray[Any] | None = None,
) -> NDArray[np.int64]:
    """Return the rows, (rows,), with equal quasi-identifiers together and, among those, in the
    order of the `mark`, which has no meaning.

    `tie_ranks` order the rows with the same mark. Random `words`, (rows,), come before the mark,
    where that would let others work out which of the rows is which.
    """
    tuples, _ = classes_of(quasi)
    secret = () if words is None else (words,)
    return np.lexsort((*tie_ranks, mark, *secret, tuples))
