"""Tests for the cells of CSV files as they are written."""

import csv
import io
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.csv_cells import ColumnCells, quoted, quoted_name
from policy_engine.engines.csv_files import write_csv
from policy_engine.errors import OutputError

MARKS = '""",,\r\n\t \x00\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u3000aé'
TEXTS = st.text(max_size=6) | st.text(MARKS, max_size=6)


def by_the_rule(text):
    """The rule as Python says it, one cell at a time."""
    needs = re.search(r'[",\r\n]|^\s|\s$|^$', text)
    return '"' + text.replace('"', '""') + '"' if needs else text


def written(table):
    file = io.BytesIO()
    write_csv(table, file)
    return file.getvalue().decode()


def test_every_character_is_quoted_as_python_says():
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    texts = [*letters[:0x3100], *map("a{}".format, letters[:0x3100]), *letters[0x3100::97]]
    assert quoted(pa.array(texts, pa.string())).to_pylist() == [*map(by_the_rule, texts)]


@given(st.lists(st.none() | TEXTS))
def test_texts_are_quoted_as_python_says(texts):
    expected = [None if text is None else by_the_rule(text) for text in texts]
    assert quoted(pa.array(texts, pa.string())).to_pylist() == expected


@given(TEXTS)
def test_a_name_is_quoted_as_a_cell_is(name):
    assert quoted_name(name) == by_the_rule(name)


@given(
    st.lists(st.tuples(st.none() | TEXTS, st.none() | TEXTS, st.integers(0, 9)), max_size=12),
    st.integers(1, 12),
)
def test_tables_are_written_line_by_line_as_python_says(rows, size):
    kinds = (pa.dictionary(pa.int32(), pa.string()), pa.string(), pa.int64())
    columns = [
        pa.chunked_array(
            [
                pa.array(values[at : at + size], pa.string() if kind != pa.int64() else kind)
                for at in range(0, len(values), size)
            ],
            pa.string() if kind != pa.int64() else kind,
        ).cast(kind)
        for values, kind in zip(zip(*rows, strict=True), kinds, strict=False)
    ] or [pa.chunked_array([], kind) for kind in kinds]
    lines = [",".join("" if one is None else by_the_rule(str(one)) for one in row) for row in rows]
    assert written(pa.table(columns, names=["a", "b", "c"])) == "".join(
        f"{line}\n" for line in ("a,b,c", *lines)
    )


@pytest.mark.parametrize("share", [1, 40])
def test_parts_with_dictionaries_of_their_own_are_written_with_them(share):
    chunks = [pa.array(["x", 'a"b'] * share).dictionary_encode() for _ in range(2)]
    chunks += [pa.array([" y", "z"] * share).dictionary_encode()]
    column = pa.chunked_array(chunks)
    cells = ColumnCells("a", column, end="\n", missing="")
    texts = [text for chunk in chunks for text in cells.of(chunk).to_pylist()]
    assert texts == [f"{by_the_rule(one)}\n" for one in column.to_pylist()]


def test_the_cells_of_the_only_column_that_are_missing_make_no_empty_lines():
    table = pa.table({"a": pa.array(["x", None, ""]).dictionary_encode()})
    assert written(table) == 'a\nx\n""\n""\n'
    assert [*csv.reader(io.StringIO(written(table)))] == [["a"], ["x"], [""], [""]]


def test_what_has_no_text_is_refused():
    column = pa.chunked_array([pa.array([b"\xff"])])
    with pytest.raises(OutputError, match="cannot hold all values of 'a'"):
        ColumnCells("a", column, end="\n", missing="").of(column.chunk(0))
