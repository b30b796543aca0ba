"""Digests of released records, the same in whatever order these are."""

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.contents import row_marks
from policy_engine.engines.reading_back import index_texts

_FEWEST_DISTINCT = 32


def rows_digest(table: pa.Table) -> str:
    """Return a digest of rows as texts, in whatever order they and the columns are.

    Where fewer than 32 are distinct, it is that of their order, too: other rows of few kinds may be
    as many of each.
    """
    names = sorted(table.column_names)
    columns = (index_texts(name, table.column(name)) for name in names)
    encoded = [
        pa.DictionaryArray.from_arrays(rows, pa.array(texts, pa.string()))
        for rows, texts in columns
    ]
    return _digest_of(repr(names), row_marks(encoded, table.num_rows))


def records_digest(features: NDArray[Any], labels: NDArray[Any] | None) -> str:
    """Return the same of arrays (n, ...) with their labels, (n,), if they have any."""
    texts = [""] * len(features) if labels is None else [str(one) for one in labels.tolist()]
    rows = zip(np.ascontiguousarray(features), texts, strict=True)
    marks = [
        hashlib.blake2b(row.tobytes() + text.encode(), digest_size=8).digest() for row, text in rows
    ]
    kind = f"{features.dtype.str}{features.shape[1:]}"
    return _digest_of(kind, np.frombuffer(b"".join(marks), np.uint64))


def _digest_of(kind: str, marks: NDArray[np.uint64]) -> str:
    ordered = np.sort(marks)
    is_telling = len(np.unique(ordered)) >= _FEWEST_DISTINCT
    stream = np.ascontiguousarray(ordered if is_telling else marks)
    return hashlib.sha256(kind.encode() + stream.tobytes()).hexdigest()
