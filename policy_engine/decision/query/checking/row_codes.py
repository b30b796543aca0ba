"""Rows by their values in some columns, as whole numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]


def coded_rows(columns: "Sequence[pa.ChunkedArray]", rows: int) -> "tuple[Codes, Codes]":
    """Return a code for rows with the same values, (rows,), and a row with each code: (codes,)."""
    codes = np.zeros(rows, np.int64)
    for column in columns:
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        places = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        codes = _dense(codes * max(len(coded.dictionary), 1) + places)
    firsts = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    firsts[codes[::-1]] = np.arange(rows)[::-1]
    return codes, firsts


def _dense(codes: "Codes") -> "Codes":
    """Return codes without gaps between them."""
    if int(codes.max(initial=0)) > max(4 * len(codes), 1 << 16):
        dense: Codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
        return dense
    is_there = np.bincount(codes, minlength=1) > 0
    places: Codes = np.cumsum(is_there)[codes] - 1
    return places
