"""JSON lines of releases: what is read back is what was written."""

import io
import json
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.carried import check_file_extras
from policy_engine.engines.field_marks import untyped_field
from policy_engine.engines.json_lines import write_json_lines
from policy_engine.engines.tables import read_table, write_table
from policy_engine.errors import OutputError, PolicyEngineError


def written(table):
    file = io.BytesIO()
    write_json_lines(file, table)
    return file.getvalue().decode()


def untyped(**columns):
    """Return columns of texts as they come from a CSV file."""
    fields = [untyped_field(name) for name in columns]
    arrays = [
        pa.array(cells).dictionary_encode().cast(field.type)
        for cells, field in zip(columns.values(), fields, strict=True)
    ]
    return pa.table(arrays, schema=pa.schema(fields))


def test_a_row_is_a_line():
    table = pa.table({"a": [1, None], 'b "c"': ['x"\n', "ü"], "d": [1.0, 2.5], "e": [True, None]})
    assert written(table) == (
        '{"a": 1, "b \\"c\\"": "x\\"\\n", "d": 1.0, "e": true}\n'
        '{"a": null, "b \\"c\\"": "ü", "d": 2.5, "e": null}\n'
    )


def test_columns_of_csv_files_have_the_types_that_their_cells_have():
    table = untyped(n=["1", "2"], x=["1.50", "2"], day=["2020-01-01", "2020-01-02"], t=["a", None])
    lines = [json.loads(one) for one in written(table).splitlines()]
    assert lines == [
        {"n": 1, "x": 1.5, "day": "2020-01-01", "t": "a"},
        {"n": 2, "x": 2.0, "day": "2020-01-02", "t": None},
    ]


cells = st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=8))
floats = st.one_of(st.none(), st.floats(-(2**52), 2**52).map(lambda one: one + 0.0))


@given(
    st.lists(
        st.tuples(cells, floats, st.integers(-(2**63), 2**63 - 1), st.booleans()),
        min_size=1,
        max_size=6,
    )
)
def test_what_is_read_back_is_what_was_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("lines") / "x.jsonl"
    kinds = (pa.string(), pa.float64(), pa.int64(), pa.bool_())
    columns = [
        pa.array(one, kind) for one, kind in zip(zip(*rows, strict=True), kinds, strict=True)
    ]
    table = pa.table(columns, names=list("abcd"))
    write_table(table, path)
    assert read_table(path).to_pydict() == table.to_pydict()
    check_file_extras(path)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([date(2020, 1, 1)]), "date32"),
        (pa.array([b"x"]), "binary"),
        (pa.array([[1]]), "list"),
        (pa.array([Decimal("1.5")]), "decimal"),
        (pa.array([float("inf")]), "not finite"),
        (pa.array([2.0**53]), "2\\*\\*53"),
        (pa.array([2**63], pa.uint64()), "2\\*\\*63"),
    ],
)
def test_what_json_does_not_have_is_refused(column, said):
    with pytest.raises(OutputError, match=said) as caught:
        written(pa.table({"x": column}))
    assert caught.value.problems[0].hint == "Write Parquet, or Arrow."


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1}\n',
        '{"a": 1, "a": 1}\n',
        '{"a": 1}',
        '{"a": 1.0}\n{"a": 2}\n',
        '{"a": 1}\n{}\n',
        '\ufeff{"a": 1}\n',
        '{"a": "\\u0061"}\n',
    ],
)
def test_lines_that_are_written_otherwise_are_refused(tmp_path, text):
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(PolicyEngineError):
        check_file_extras(path)
