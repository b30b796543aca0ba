"""Which cells are equal: numbers and times where they are, texts where they are written alike.

By this the split decides who is learnt, and what is measured of made-up rows decides what is a
copy: exactly, for no number is rounded to a float.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_texts, is_text, value_type
from policy_engine.engines.distinct_values import index_distinct
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.generalizations.decimals import plain_number
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.text_types import NUMBER, to_inferred_type

Ints = NDArray[np.int64]

NUMBER_OR_NAN = rf"{NUMBER}|^[nN][aA][nN]$"
"""Texts with exponents of more digits are left as they are."""


class _Column(NamedTuple):
    field: pa.Field
    cells: pa.ChunkedArray


def rows_of(cells: Ints) -> NDArray[np.void]:
    """Return each row of numbers of cells, (rows, columns), as one value that compares at once."""
    return np.ascontiguousarray(cells).view(np.dtype((np.void, 8 * cells.shape[1])))[:, 0]


def row_numbers(table: pa.Table) -> Ints:
    """Return the number of each row's content, (rows,): distinct rows in the order in which they
    first occur.

    Rows are equal where all their cells are. Texts of CSV files that all are numbers or times are
    equal where these are. If others are among them, or numbers of more digits than a float has,
    they are equal where they are the same number, or the same text.
    """
    return _numbers([_comparable(column) for column in _columns(table, table.column_names)])


def cell_numbers(sources: Sequence[pa.Table], written: pa.Table) -> list[Ints]:
    """Return the numbers of the cells of each table, then of the `written` one, (rows, columns).

    Equal cells of a column have one number, by the rules of `row_numbers`. The sources have the
    columns of the written table, in one schema; it has values of theirs in the types, or texts, of
    its format.
    """
    numbers = numbers_of(joined_columns(sources, written))
    return np.split(numbers, np.cumsum([one.num_rows for one in sources]))


def joined_columns(sources: Sequence[pa.Table], written: pa.Table) -> list[pa.ChunkedArray]:
    """Return the columns of the sources, one after the other, and then of the `written` table, as
    values of one type: equal cells have equal values. The tables are those of `cell_numbers`."""
    names = written.column_names
    whole = pa.concat_tables([one.select(names) for one in sources], promote_options="default")
    pairs = zip(_columns(whole, names), _columns(written, names), strict=True)
    return [pa.chunked_array(_in_one_type(own, other)) for own, other in pairs]


def numbers_of(columns: Sequence[pa.ChunkedArray]) -> Ints:
    """Return the numbers of cells, equal for equal ones of a column, (rows, columns)."""
    return np.column_stack([_numbers([one]) for one in columns])


def _columns(table: pa.Table, names: Sequence[str]) -> list[_Column]:
    return [_Column(table.schema.field(name), table.column(name)) for name in names]


def _numbers(columns: Sequence[pa.ChunkedArray]) -> Ints:
    keys = np.ascontiguousarray(row_keys(columns, os.urandom(16)))
    words = keys.view(np.dtype("V16"))[:, 0]
    _, first, inverse = np.unique(words, return_index=True, return_inverse=True)
    # Keys are random, and so is their order: that of the rows is not.
    numbers = np.empty(len(first), np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    drawn: Ints = numbers[inverse]
    return drawn


# -- one type, and one way of writing numbers ------------------------------------------------------


def _comparable(column: _Column) -> pa.ChunkedArray:
    """Return a column such that its cells are equal where their values are."""
    if not is_untyped(column.field):
        return column.cells
    typed = to_inferred_type(column.cells)
    return _with_plain_numbers(typed) if is_text(typed.type) else typed


def _in_one_type(source: _Column, written: _Column) -> list[pa.Array]:
    """Return the cells of a source, then those of a written column, as values of one type."""
    if is_untyped(source.field) and is_untyped(written.field):
        cells = [*source.cells.chunks, *written.cells.chunks]
        return _comparable(_Column(source.field, pa.chunked_array(cells))).chunks  # type: ignore[no-any-return]
    own, other = (_decoded(one) for one in (_comparable(source), written.cells))
    if all(pa.types.is_temporal(one.type) for one in (own, other)):
        own = _in_type(own, other.type)
    has_numbers = is_untyped(source.field) or any(_is_number(one.type) for one in (own, other))
    if own.type != other.type or (is_untyped(source.field) and is_text(own.type)):
        own, other = (one.cast(pa.string()) for one in (own, other))
        if has_numbers:
            own, other = _with_plain_numbers(own), _with_plain_numbers(other)
    return [*own.chunks, *other.chunks]


def _in_type(times: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return times in another type, that they are of in Parquet: its seconds are milliseconds."""
    try:
        return times.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return times


def _decoded(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    return cells.cast(value_type(cells.type))


def _is_number(kind: pa.DataType) -> bool:
    is_kind = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(one(kind) for one in is_kind)


def _with_plain_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts with each that is a number written in one way."""
    places, values = index_distinct("", column)
    trimmed = pc.utf8_trim_whitespace(values)
    is_number = pc.match_substring_regex(trimmed, NUMBER_OR_NAN)
    plain = from_texts([plain_number(one) for one in trimmed.filter(is_number).to_pylist()])
    return pa.chunked_array([pc.replace_with_mask(values, is_number, plain).take(places)])
