"""Columns of records as they were before they became features, and rows that are the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.splits import Rows


@dataclass(frozen=True)
class FeatureReading:
    """A column as read: one number for each record, (n,), in the order of the values."""

    values: NDArray[Any]
    is_text: bool = False


@dataclass(frozen=True)
class FeatureColumn:
    """A column of the table that records came from, and the features that it became."""

    name: str
    features: slice
    is_coded: bool


def columns_of(records: Records) -> Iterator[FeatureColumn]:
    """Yield the columns of the records; each feature by itself where they are an array."""
    start = 0
    for one in records.encoding:
        end = start + one.width
        if one.width == 1 or one.kind == "one-hot":
            yield FeatureColumn(one.name, slice(start, end), one.width > 1)
        else:
            for number in range(one.width):
                place = slice(start + number, start + number + 1)
                yield FeatureColumn(f"{one.name} {number}", place, is_coded=False)
        start = end


def values_of(column: FeatureColumn, features: NDArray[Any]) -> NDArray[Any]:
    """Return one figure for each record: a feature, or which of several it has."""
    own = features[:, column.features]
    if not column.is_coded:
        return own[:, 0].astype(np.float64)
    # What has none of the values that are known is one more.
    codes: NDArray[Any] = np.where(own.any(axis=1), own.argmax(axis=1), own.shape[1])
    return codes


def read_values(column: FeatureColumn, records: Records, rows: Rows) -> NDArray[Any]:
    """Return one figure for each of some records, of texts another for each that was read."""
    if column.is_coded and column.name in records.columns:
        return codes_of(records.columns[column.name][rows])
    return values_of(column, records.features[rows])


def reading_of(column: FeatureColumn, records: Records, rows: Rows) -> FeatureReading:
    """Return what was read of some records, of texts as they were before they became features."""
    if column.is_coded and column.name in records.columns:
        return ranks_of(records.columns[column.name][rows])
    return FeatureReading(values_of(column, records.features[rows]), column.is_coded)


def ranks_of(texts: NDArray[Any]) -> FeatureReading:
    """Return the place of each text in the order of all, of numbers in theirs.

    What is missing comes before all else.
    """
    distinct, codes = np.unique(texts.astype(str), return_inverse=True)
    try:
        numbers = np.array([float(text or "nan") for text in distinct.tolist()])
    except ValueError:
        return FeatureReading(codes, is_text=True)
    ranks = np.unique(numbers, return_inverse=True)[1]
    return FeatureReading(np.where(np.isnan(numbers), -1, ranks)[codes])


def sample_rows(rows: Rows, most: int) -> Rows:
    """Return a deterministic sample of rows, at most `most`."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).permutation(rows)[:most])


def codes_of(texts: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return a number for each text; texts of one number have one, however it is written."""
    codes: dict[str, int] = {}
    rows = np.array([codes.setdefault(text, len(codes)) for text in texts.tolist()], np.int64)
    try:
        numbers = np.array([float(text) for text in codes])
    except ValueError:
        return rows
    return np.unique(numbers, return_inverse=True)[1][rows]


def keys_of(features: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a number for each record, the same for those that are the same."""
    rows = np.ascontiguousarray(features + features.dtype.type(0))  # -0.0 is 0.0
    bytes_of_rows = rows.view(np.uint8).reshape(len(rows), -1) if rows.size else rows
    digests = [
        blake2b(row.tobytes() + more.tobytes(), digest_size=8).digest()
        for row, more in zip(bytes_of_rows, codes, strict=True)
    ]
    return np.frombuffer(b"".join(digests), np.uint64)
