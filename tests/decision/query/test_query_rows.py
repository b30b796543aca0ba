"""The rows of a query as text and as JSON, whatever the cells hold."""

from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from query_samples import PEOPLE, VISITS, VISITS_ROWS, policy, rows, rule

from policy_engine.data.catalog import make_catalog
from policy_engine.decision.query.rows import as_csv, as_json, as_texts, write_rows
from policy_engine.decision.query.running import run
from policy_engine.errors import OutputError


def made(entry):
    return run({"": f"SELECT {entry} AS a"}, {})[""]


@pytest.mark.parametrize("cell", ["DATE 'infinity'", "TIMESTAMP '-infinity'", "DATE '20000-01-01'"])
def test_moment_that_no_calendar_of_python_has_is_refused(cell):
    for show in (as_json, as_texts):
        with pytest.raises(OutputError, match="O002"):
            show(made(cell))
    with pytest.raises(OutputError, match="O002"):
        as_csv(made(f"[{cell}]"))


def test_cell_that_a_terminal_would_obey_is_shown_as_it_is_written():
    assert as_texts(made("chr(27) || '[2Jx'")) == [("\\u001b[2Jx",)]
    assert as_json(made("chr(27) || 'x'")) == [{"a": "\x1bx"}]


def test_moments_finer_than_sql_has_them_keep_their_zone():
    noon = datetime(2026, 6, 1, 12, tzinfo=UTC)
    moments = pa.array([noon], pa.timestamp("ns", "UTC"))
    tables = {PEOPLE: pa.table({"id": [1], "since": moments}), VISITS: pa.table(VISITS_ROWS)}
    given = make_catalog(tables)
    assert rows("SELECT since FROM People", policy([rule(PEOPLE)]), data=given) == [(noon,)]


EVERY_KIND = """
    NULL AS none, 'a,"b' AS text, true AS flag, 1.50::DECIMAL(4, 2) AS part, 2.00 AS whole,
    1.5::DOUBLE AS near, 'nan'::DOUBLE AS nan, DATE '2020-01-02' AS day,
    TIMESTAMP '2020-01-02 03:04:05.5' AS at, TIME '10:00:00' AS time, 'ab'::BLOB AS bytes,
    [1, NULL] AS list, {'a': DATE '2020-01-01', 'b': 2.50} AS both, INTERVAL 5 DAY AS span
"""
SPAN = "MonthDayNano(months=0, days=5, nanoseconds=0)"


def every_kind():
    return run({"": f"SELECT {EVERY_KIND}"}, {})[""]


def test_cells_of_every_kind_have_a_form_in_json():
    assert as_json(every_kind()) == [
        {
            "none": None,
            "text": 'a,"b',
            "flag": True,
            "part": "1.50",
            "whole": 2,
            "near": 1.5,
            "nan": "nan",
            "day": "2020-01-02",
            "at": "2020-01-02T03:04:05.500000",
            "time": "10:00:00",
            "bytes": "6162",
            "list": [1, None],
            "both": {"a": "2020-01-01", "b": "2.50"},
            "span": SPAN,
        }
    ]


def test_cells_of_every_kind_have_a_form_as_text():
    moment, both = "2020-01-02T03:04:05.500000", '{"a": "2020-01-01", "b": "2.50"}'
    plain = (None, 'a,"b', "true", "1.50", "2", "1.5", "nan", "2020-01-02", moment, "10:00:00")
    assert as_texts(every_kind()) == [(*plain, "6162", "[1, null]", both, SPAN)]


def test_cells_of_every_kind_have_a_form_in_csv():
    header, row, end = as_csv(every_kind()).split("\n")
    names = "none,text,flag,part,whole,near,nan,day,at,time,bytes,list,both,span"
    plain = ',"a,""b",true,1.50,2.00,1.5,nan,2020-01-02,2020-01-02 03:04:05.500000,10:00:00.000000'
    nested = '"[1, null]","{""a"": ""2020-01-01"", ""b"": ""2.50""}"'
    assert (header, end) == (names, "")
    assert row == f'{plain},6162,{nested},"{SPAN}"'


def test_each_row_is_shown():
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    assert as_json(table) == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    assert as_texts(table) == [("1", "x"), ("2", None)]
    assert as_csv(table) == "a,b\n1,x\n2,\n"


@pytest.mark.parametrize("control", ["\x00", "\x08", "\x0b", "\x1f", "\x7f", "\x9f"], ids=range(6))
def test_control_character_is_written_as_json_has_it(control):
    assert as_texts(pa.table({"a": [f"x{control}"]})) == [(f"x\\u{ord(control):04x}",)]


def test_letters_and_line_ends_stand_as_they_are():
    assert as_texts(pa.table({"a": ["é\t\n\xa0"]})) == [("é\t\n\xa0",)]
    assert as_texts(pa.table({"a": [["é"]]})) == [('["é"]',)]


def test_moment_that_has_no_form_says_what_to_do():
    with pytest.raises(OutputError) as caught:
        as_json(made("DATE 'infinity'"))
    [problem] = caught.value.problems
    said = "A column of the result contains a time outside the years 1 to 9999."
    assert (problem.message, problem.hint) == (said, "Cast it to text in the query.")


def test_column_that_the_format_of_a_file_lacks_is_refused(tmp_path):
    kinds = pa.dense_union([pa.field("a", pa.int64())])
    odd = pa.UnionArray.from_dense(
        pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])]
    )
    assert odd.type.num_fields == kinds.num_fields
    with pytest.raises(OutputError) as caught:
        write_rows(pa.table({"a": odd}), tmp_path / "rows.parquet")
    [problem] = caught.value.problems
    said = "A column of the result has a type that the file format does not support."
    assert (problem.code, problem.message) == ("O002", said)
    assert problem.hint == "Cast it in the query."
    assert not list(tmp_path.iterdir())


def test_rows_are_written_as_the_ending_says_and_replace_nothing_unasked(tmp_path):
    table = pa.table({"a": [[1]], "b": ["x"]})
    write_rows(table, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "a,b\n[1],x\n"
    write_rows(table, tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").to_pydict() == {"a": [[1]], "b": ["x"]}
    other, path = table.slice(1), tmp_path / "rows.csv"
    for inputs, overwrite in (((), False), ([path], True)):
        with pytest.raises(OutputError) as caught:
            write_rows(other, path, *inputs, overwrite=overwrite)
        assert [one.code for one in caught.value.problems] == ["O001"]
    write_rows(other, path, overwrite=True)
    assert path.read_text() == "a,b\n"
