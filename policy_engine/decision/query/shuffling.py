"""A row order that reveals nothing about where rows were stored."""

import hashlib
import secrets
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_AT_ONCE = 2**20


def fresh_key() -> bytes:
    """Return a key for one query, 32 bytes that nobody knows."""
    return secrets.token_bytes(32)


def order(rows: int, key: bytes, table: str) -> "NDArray[np.int64]":
    """Return the row numbers of a table in the order given by a key.

    Rows are sorted by 64 bits each from SHAKE256 (FIPS 202) of key and name. Knowing where some
    rows were stored therefore says nothing about the others, and the orders of two tables, or in
    two queries, are unrelated.
    """
    random_bytes = hashlib.shake_256(key + table.encode()).digest(8 * rows)
    return np.argsort(np.frombuffer(random_bytes, dtype="<u8"), kind="stable")


def take_rows(table: "pa.Table", numbers: "NDArray[np.int64]") -> "pa.Table":
    """Return rows by their numbers, in this order.

    Dictionaries are rebuilt with the values of these rows, in this order: the old dictionary's
    order would reveal where the first rows were stored.
    """
    starts = range(0, len(numbers), _AT_ONCE)
    parts = [pa.array(numbers[start : start + _AT_ONCE]) for start in starts]
    taken_rows = table.take(pa.chunked_array(parts, pa.int64()))
    columns = [_coded_anew(one) if _is_coded(one) else one for one in taken_rows.columns]
    kinds = zip(table.schema, columns, strict=True)
    return pa.table(columns, pa.schema([field.with_type(column.type) for field, column in kinds]))


def has_codes(table: "pa.Table") -> bool:
    """Return whether a column has a dictionary, which may have values that no row has."""
    return any(map(_is_coded, table.columns))


def _is_coded(column: "pa.ChunkedArray") -> bool:
    return bool(pa.types.is_dictionary(column.type))


def _coded_anew(column: "pa.ChunkedArray") -> "pa.Array":
    unified = column.unify_dictionaries().combine_chunks()
    codes = unified.indices.dictionary_encode()
    return pa.DictionaryArray.from_arrays(codes.indices, unified.dictionary.take(codes.dictionary))
