import csv
import gzip

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from policy_engine.engines.tables import (
    infer_types,
    plain_texts,
    read_table,
    table_digest,
    write_table,
)
from policy_engine.errors import DataError, OutputError

ENDINGS = ["csv", "csv.gz", "parquet"]
AWKWARD = ["plain", 'say "hi"', "a,b", "two\nlines", "cr\rlf\r\n", " blanks ", "é", None]


def file_of(folder, content, name="data.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def problem_of(path, *secrets):
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert not any(secret in str(caught.value) for secret in secrets)
    [problem] = caught.value.problems
    return problem


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_comes_back_as_it_was(tmp_path, ending):
    table = pa.table({"text": AWKWARD, "number": [*range(7), None], 'a "name", odd': AWKWARD})
    write_table(table, tmp_path / f"data.{ending}")
    assert infer_types(read_table(tmp_path / f"data.{ending}")).to_pydict() == table.to_pydict()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_of_one_column_keeps_its_missing_rows(tmp_path, ending):
    table = pa.table({"only": ["a", None, None, "b", None]})
    write_table(table, tmp_path / f"data.{ending}")
    assert read_table(tmp_path / f"data.{ending}").to_pydict() == table.to_pydict()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_without_rows_keeps_its_columns(tmp_path, ending):
    write_table(pa.table({"a": pa.array([], pa.string()), "b": []}), tmp_path / f"data.{ending}")
    read = read_table(tmp_path / f"data.{ending}")
    assert (read.column_names, read.num_rows) == (["a", "b"], 0)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_written_twice_has_the_same_bytes(tmp_path, ending):
    table = pa.table({"a": AWKWARD})
    for name in ("one", "other"):
        write_table(table, tmp_path / f"{name}.{ending}")
    one, other = [(tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "other")]
    assert one == other


@pytest.mark.parametrize("ending", ENDINGS)
def test_read_table_gives_the_columns_asked_for_in_their_order(tmp_path, ending):
    write_table(pa.table({"a": ["1"], "b": ["2"], "c": ["3"]}), tmp_path / f"data.{ending}")
    read = read_table(tmp_path / f"data.{ending}", ("c", "a"))
    assert read.to_pydict() == {"c": ["3"], "a": ["1"]}


def test_write_table_quotes_only_where_needed(tmp_path):
    table = pa.table({"a": ["x y", "x,y", 'x"y', "x\ny", "", None], "b": [1.5, 2.0, None, 4, 5, 6]})
    write_table(table, tmp_path / "data.csv")
    text = (tmp_path / "data.csv").read_bytes().decode()
    assert text == 'a,b\nx y,1.5\n"x,y",2\n"x""y",\n"x\ny",4\n"",5\n,6\n'


def quoted(text):
    """Return a text as a cell, quoted if it has a mark of CSV, a blank at an end, or nothing."""
    marked = any(mark in text for mark in ',"\r\n') or text != text.strip() or not text
    return '"' + text.replace('"', '""') + '"' if marked else text


_LETTERS = list('a1",\r\n\t\v\x1c \x85\xa0\u2003é\x7f')
_CELLS = st.none() | st.text(st.sampled_from(_LETTERS), max_size=4)


@given(st.lists(_CELLS, max_size=12), st.booleans())
def test_every_layout_of_texts_is_written_alike(tmp_path_factory, cells, is_sliced):
    path = tmp_path_factory.mktemp("csv")
    expected = "".join(f"{'' if one is None else quoted(one)},1\n" for one in cells)
    plain = pa.array(cells, pa.string())
    shared = pa.concat_arrays([plain, pa.array([*"xyz"] * 5)]).dictionary_encode()
    encoded = shared.slice(0, len(cells)) if is_sliced else plain.dictionary_encode()
    for name, column in (("plain", plain), ("encoded", encoded)):
        write_table(pa.table({"t": column, "n": [1] * len(cells)}), path / f"{name}.csv")
        assert (path / f"{name}.csv").read_bytes().decode() == "t,n\n" + expected


def test_write_table_never_overwrites(tmp_path):
    path = file_of(tmp_path, "mine")
    with pytest.raises(OutputError, match="O002 The output cannot be written"):
        write_table(pa.table({"a": [1]}), path)
    assert path.read_text() == "mine"


def test_read_table_gives_the_text_of_csv_cells_as_written(tmp_path):
    path = file_of(tmp_path, 'a,b\n007,"1,50"\n 1.50 ,\n')
    assert read_table(path).to_pydict() == {"a": ["007", " 1.50 "], "b": ["1,50", None]}


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "a,b\r\n1,2\r\n", "\ufeffa,b\n1,2", "a,b\n\n1,2\n\n"]
)
def test_read_table_knows_the_ways_to_write_csv(tmp_path, text):
    assert read_table(file_of(tmp_path, text)).to_pydict() == {"a": ["1"], "b": ["2"]}


def test_as_typed_gives_csv_text_its_type_and_no_other_text(tmp_path):
    read = infer_types(read_table(file_of(tmp_path, "n,d,t\n1,2020-01-01,007\n,,x\n")))
    assert read.schema.types == [pa.int64(), pa.date32(), pa.string()]
    plain = infer_types(pa.table({"n": pa.array(["1", "2"]).dictionary_encode()}))
    assert plain.schema.types == [pa.string()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\nsecret\n", "Line 3 has 1 cells. The header has 2."),
        ("a,b\n1,2\n3,secret,5\n", "Line 3 has 3 cells. The header has 2."),
        ("a,b\n\n1,2\n\nsecret\n", "Line 5 has 1 cells. The header has 2."),
        ('a,b\n1,"2\n2"\n3\n', "Line 4 has 1 cells. The header has 2."),
        ('"a\na",b\n1,2\nsecret\n', "Line 4 has 1 cells. The header has 2."),
        ("a\n1\nsecret,2\n", "Line 3 has 2 cells. The header has 1."),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_read_table_names_the_line_of_a_ragged_row(tmp_path, text, message, ending):
    content = gzip.compress(text.encode()) if ending == "csv.gz" else text
    problem = problem_of(file_of(tmp_path, content, f"data.{ending}"), "secret")
    assert (problem.code, problem.message) == ("C007", message)


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_read_table_names_the_line_that_is_not_utf_8(tmp_path, ending):
    text = b"a,b\n1,2\nsecret,\xff\n"
    content = gzip.compress(text) if ending == "csv.gz" else text
    problem = problem_of(file_of(tmp_path, content, f"data.{ending}"), "secret")
    assert (problem.code, problem.message) == ("C008", "Line 3 is not UTF-8.")


def test_read_table_tells_of_a_truncated_gzip(tmp_path):
    packed = gzip.compress(b"a\n" + b"".join(b"secret%d\n" % n for n in range(9999)))
    problem = problem_of(file_of(tmp_path, packed[:-99], "data.csv.gz"), "secret")
    assert problem.code == "C003"


def test_read_table_tells_of_a_gzip_that_is_none(tmp_path):
    problem = problem_of(file_of(tmp_path, "secret\n1\n", "data.csv.gz"), "secret")
    assert problem.code == "C003"


@pytest.mark.parametrize("damage", [slice(4, 40), slice(-40, -8), slice(-4, None), slice(0, -1)])
def test_read_table_tells_of_a_damaged_parquet_file(tmp_path, damage):
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"a": [f"secret{n}" for n in range(999)]}), path)
    content = bytearray(path.read_bytes())
    content[damage] = b"\xff" * len(content[damage])
    path.write_bytes(content)
    assert problem_of(path, "secret").code in {"C003", "C010"}


def test_read_table_tells_of_a_missing_file(tmp_path):
    assert problem_of(tmp_path / "none.csv").code == "C003"
    assert problem_of(tmp_path / "none.parquet").code == "C003"


def test_table_digest_is_that_of_the_values_not_of_the_chunks():
    whole, other = pa.table({"a": [1, 2, 3]}), pa.table({"a": [1, 2, 4]})
    parts = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    assert table_digest(whole) == table_digest(parts)
    assert table_digest(whole) != table_digest(other)


CELLS = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@settings(deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS)))
def test_any_text_written_as_csv_is_read_back_by_us_and_by_python(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    columns = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    write_table(pa.table(columns, pa.schema({"a": pa.string(), "b": pa.string()})), path)
    assert read_table(path).to_pydict() == columns
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[1:] == [[a or "", b or ""] for a, b in rows]


BYTES = pa.array([b"Ann\xff", b"b"])
NO_UTF8 = {
    "string": BYTES.view(pa.string()),
    "large string": BYTES.cast(pa.large_binary()).view(pa.large_string()),
    "dictionary": pa.DictionaryArray.from_arrays([0, 1], BYTES.view(pa.string())),
}


@pytest.mark.parametrize("layout", NO_UTF8)
def test_texts_that_are_not_utf8_are_refused(tmp_path, layout):
    table = pa.table({"name": NO_UTF8[layout], "other": [1, 2]})
    parquet.write_table(table, tmp_path / "a.parquet")
    problem = problem_of(tmp_path / "a.parquet", "Ann")
    assert problem.code == "C008"
    assert read_table(tmp_path / "a.parquet", ("other",)).num_rows == 2
    with pytest.raises(DataError, match="C008 The column 'name' holds text that is not UTF-8"):
        plain_texts(table)
