"""Whose rows somebody hands in: they are compared with the data by what is in them.

A frame that was given a new index (`reset_index`) has the labels of other rows. So what has the
name of a column of the data must have its values where the labels say.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.audits.outputs.model import Counts
from policy_engine.errors import PolicyEngineError, RequestError


def check_contents(whole: pa.Table, places: Counts, columns: Mapping[str, pa.ChunkedArray]) -> None:
    """Check that the columns of a frame are those of the data in some of its rows.

    Raises RequestError (K025) if one of them differs, or if there is none that both have.
    """
    shared, others = _differing(whole, places, columns)
    if others or not shared:
        raise _other_rows_error(others)


def are_same_rows(whole: pa.Table, places: Counts, columns: Mapping[str, pa.ChunkedArray]) -> bool:
    """Tell whether all columns of a frame that the data has, too, are those of some rows of it."""
    shared, others = _differing(whole, places, columns)
    return bool(shared) and not others


def _differing(
    whole: pa.Table, places: Counts, columns: Mapping[str, pa.ChunkedArray]
) -> tuple[list[str], list[str]]:
    """Return the columns that both have, and those of them with other values."""
    shared = [name for name in columns if name in whole.column_names]
    is_same = (_is_same(columns[name], _taken(whole, name, places)) for name in shared)
    return shared, [name for name, same in zip(shared, is_same, strict=True) if not same]


def comparable(own: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[Counts, Counts]:
    """Return two columns as numbers that are equal where their values are, missing ones too."""
    first, second = _plain(own), _plain(other)
    try:
        second = second if second.type == first.type else second.cast(first.type)
        codes = pa.chunked_array([first, second]).dictionary_encode("encode").combine_chunks()
        numbers = np.asarray(codes.indices, np.int64)
    except pa.ArrowException:
        texts = [str(one) for one in (*first.to_pylist(), *second.to_pylist())]
        numbers = np.unique(texts, return_inverse=True)[1].reshape(-1)
    return numbers[: len(first)], numbers[len(first) :]


def check_labels(whole: pa.Table, places: Counts, columns: Mapping[str, pa.ChunkedArray]) -> None:
    """Check what is known of rows that a series, or a few columns, are of by their labels.

    Of some rows, columns that have the name of one of the data must have its values, and the first
    rows in order, which a new index has the labels of, must have such a column. Of all rows, values
    may have been changed, but not be those of the data in another order.

    Raises RequestError (K025).
    """
    shared = [name for name in columns if name in whole.column_names]
    is_all = len(places) == whole.num_rows
    pairs = {name: (columns[name], _taken(whole, name, places)) for name in shared}
    alike = {name: pair for name, pair in pairs.items() if _are_alike(*pair)}
    others = [name for name, pair in alike.items() if not _is_same(*pair)]
    if is_all:
        others = [name for name in others if _is_same(*map(_in_order, alike[name]))]
    is_first = np.array_equal(places, np.arange(len(places)))
    if others or (is_first and not is_all and not alike):
        raise _other_rows_error(others)


def _taken(whole: pa.Table, name: str, places: Counts) -> pa.ChunkedArray:
    return whole[name].take(pa.array(places))


def _other_rows_error(names: list[str]) -> PolicyEngineError:
    message = (
        f"In the column {names[0]!r}, the rows are not those of the session's data that they have "
        "the labels of."
        if names
        else "Nothing but their order says which rows of the session's data the rows are."
    )
    hint = "Keep the index of the data (no reset_index), and give changed columns another name."
    return RequestError.of("K025", message, hint)


def _is_number(column: pa.ChunkedArray) -> bool:
    kind = column.type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _are_alike(own: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    """Tell whether two columns are of one type, so that they can be compared."""
    return (_is_number(own) and _is_number(other)) or own.type == other.type


def _is_same(own: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    """Tell whether two columns have the same values, missing ones too."""
    first, second = _plain(own), _plain(other)
    if len(first) != len(second):
        return False
    try:
        second = second if second.type == first.type else second.cast(first.type)
        is_equal = pc.fill_null(pc.equal(first, second), False)  # noqa: FBT003
        is_missing = pc.and_(pc.is_null(first), pc.is_null(second))
        return bool(pc.all(pc.or_(is_equal, is_missing), min_count=0).as_py())
    except pa.ArrowException:
        return bool(first.to_pylist() == second.to_pylist())


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """Return a column with its values as they are, without categories and with nulls for NaN."""
    array = column.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if _is_number(column):
        array = array.cast(pa.float64(), safe=False)
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, pa.float64()), array)
    return array


def _in_order(column: pa.ChunkedArray) -> pa.ChunkedArray:
    array = _plain(column)
    try:
        return pa.chunked_array([array.take(pc.array_sort_indices(array))])
    except pa.ArrowException:
        return pa.chunked_array([array])
