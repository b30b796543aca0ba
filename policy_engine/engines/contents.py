"""An order of rows that follows from their content and discloses nothing."""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import to_numpy
from policy_engine.kernels.grouping import classes_of


def row_marks(columns: Iterable[pa.Array], rows: int) -> NDArray[np.uint64]:
    """Return a number for each row that follows from its texts in these columns, (rows,).

    It is the same on any machine, and in any table that has the row.
    """
    mixed = np.zeros(rows, dtype=np.uint64)
    for column in columns:
        is_dictionary = pa.types.is_dictionary(column.type)
        met = column if is_dictionary else column.dictionary_encode()
        digests = [_digest(text) for text in texts_of_values(met.dictionary)]
        value_digest = np.array([*digests, 0], dtype=np.uint64)
        mixed = (mixed ^ value_digest[to_numpy(met.indices, missing=len(digests))]) * _FACTOR
        mixed ^= mixed >> np.uint64(29)
    return mixed


def texts_of_values(values: pa.Array) -> list[str | None]:
    """Return values as texts, points in time in microseconds and UTC wherever that is exact."""
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
    kept: Sequence[NDArray[np.integer]],
) -> NDArray[np.int64]:
    """Return the rows in an order that follows from their content: equal quasi-identifiers
    together, among themselves in an order without a meaning.

    `kept` are ranks that order rows with the same mark.
    """
    tuples, _ = classes_of(quasi)
    return np.lexsort((*kept, mark, tuples))
