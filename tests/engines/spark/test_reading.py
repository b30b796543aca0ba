import gzip

import pyarrow as pa
import pytest
from everyday import everyday
from pyarrow import orc, parquet

from policy_engine.data.catalog import MEMORY, Dataset, make_catalog
from policy_engine.data.storage import digest
from policy_engine.engines.spark import reading
from policy_engine.engines.spark.reading import describe_dataset, read
from policy_engine.engines.spark.writing import manifest_digest
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError

pytestmark = pytest.mark.usefixtures("few_rows")
IRI = "http://x.org/People"


def table_of(folder, *files, ending="csv", name=None):
    """Write a folder with a file per content, the text of CSV or a table."""
    place = folder / (name or f"table.{ending}")
    place.mkdir()
    for number, content in enumerate(files):
        path = str(place / f"part-{number}.{ending}")
        if ending == "parquet":
            parquet.write_table(content, path)
        elif ending == "orc":
            orc.write_table(content, path)
        else:
            data = content if isinstance(content, bytes) else content.encode()
            (place / path).write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    return str(place)


def rows(frame):
    return sorted([tuple(row) for row in frame.collect()], key=str)


def all_of(spark, location, columns=None):
    found = describe_dataset(spark, IRI, location)
    return rows(read(spark, location, found.format, columns or found.columns))


def refused(spark, location, columns=None, secret="secret"):
    with pytest.raises(DataError) as caught:
        all_of(spark, location, columns)
    assert secret not in str(caught.value)
    [problem] = caught.value.problems
    return problem


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "ending", everyday(("csv", "csv.gz", "json", "parquet", "orc"), "csv", "parquet")
)
def test_a_folder_is_known_by_its_files(spark, tmp_path, ending):
    content = {"json": '{"a": "1", "b": null}\n', "parquet": pa.table({"a": ["1"], "b": [None]})}
    content["orc"] = pa.table({"a": ["1"], "b": pa.array([None], pa.string())})
    location = table_of(tmp_path, content.get(ending, "a,b\n1,\n"), ending=ending, name="table")
    (tmp_path / "table" / "_SUCCESS").touch()
    (tmp_path / "table" / ".hidden.txt").touch()
    assert describe_dataset(spark, IRI, location) == Dataset(IRI, location, ending, ("a", "b"))
    assert all_of(spark, location) == [("1", None)]


@pytest.mark.nightly
def test_a_file_is_known_by_its_ending(spark, tmp_path):
    (tmp_path / "a b%20.CSV").write_text("x y,z\n1,2\n")
    for location in (str(tmp_path / "a b%20.CSV"), f"file:{tmp_path}/a b%20.CSV"):
        assert describe_dataset(spark, IRI, location) == Dataset(IRI, location, "csv", ("x y", "z"))
        assert all_of(spark, location) == [("1", "2")]


def test_a_table_of_the_catalog_and_a_frame_are_read(spark):
    frame = spark.createDataFrame([(1, "x")], "`a.b` int, c string")
    frame.createOrReplaceTempView("people")
    assert describe_dataset(spark, IRI, "table:people").columns == ("a.b", "c")
    assert rows(read(spark, "table:people", "table", ("c", "a.b"))) == [("x", 1)]
    assert describe_dataset(spark, IRI, frame) == Dataset(IRI, MEMORY, "memory", ("a.b", "c"))
    assert rows(read(spark, frame, "memory", ("a.b",))) == [(1,)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("none.csv", None, "C002"),
        ("none", None, "C002"),
        ("a.xlsx", b"a\n", "C004"),
        ("a.csv", b"", "C010"),
        ("a.csv", b"a,b,a\n", "C006"),
        ("a.csv", b"a,b,A\n", "C015"),
        ("a.csv", b"a,\xff\n", "C008"),
        ("a.csv.gz", b"a,b\n1,2\n", "C010"),
        ("a.parquet", b"not Parquet at all", "C010"),
        ("a.orc", b"not ORC at all", "C010"),
        ("a.json", b'{"a": 1}\nsecret\n', "C010"),
    ],
)
def test_what_is_no_table_is_refused(spark, tmp_path, name, content, code):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert refused(spark, str(tmp_path / name)).code == code


def test_a_table_that_is_not_there_is_refused(spark):
    assert refused(spark, "table:nowhere").code == "C002"


def test_a_folder_of_mixed_or_unknown_files_is_refused(spark, tmp_path):
    location = table_of(tmp_path, "a\n1\n", name="table")
    (tmp_path / "table" / "part-1.json").write_text('{"a": 1}\n')
    assert refused(spark, location).code == "C004"
    (tmp_path / "other").mkdir()
    assert refused(spark, str(tmp_path / "other")).code == "C004"


def test_columns_that_are_not_there_are_refused(spark, tmp_path):
    location = table_of(tmp_path, "name,age\nAnn,1\n")
    problem = refused(spark, location, ("nmae", "age"))
    assert (problem.code, problem.hint) == ("C005", "Did you mean 'name'?")


@pytest.mark.parametrize("kind", ["array<string>", "map<int,int>", "struct<x:int>", "binary"])
def test_columns_without_an_order_are_refused(spark, kind):
    frame = spark.createDataFrame([(None, 1)], f"a {kind}, b int")
    with pytest.raises(DataError, match="C009 The column 'a' is of type"):
        read(spark, frame, "memory", ("a", "b"))
    assert rows(read(spark, frame, "memory", ("b",))) == [(1,)]


ODD = 'a,b\n"say ""hi""",007\n" lead", trail \nNULL,\\\n"x,y",é\n"","a\\"\n\\N,nan\n1e5,#x\nxyz,-\n'


WHOLE_LINES = [
    ODD,
    ODD.replace("\n", "\r\n"),
    ODD.replace("\n", "\r"),
    "\ufeff" + ODD,
    "a,b\n\n1,2\n\n",
    '"a","b"\n1,2\n',
    'a,b\n1,""\n"",""\n,\n',
    "a,b\n1,2",
]
CELLS_OF_LINES = [
    ODD + '"two\nlines","cr\rlf\r\n"\n"\n\n",x\n',
    'a,b\r\n"x\r\ny",1\r\nz,"2\r"\r\n"\n",\r\n',
    'a,b\n1,"x\r"\n"2\n",x\r\n',
]
BLANKS_AFTER_QUOTES = ['a,b\n"1" ,2\n"",3\n"" ,"x"\t\n']
OTHER_HEADERS = [
    '"a\r\nb",c\r1,2\r"x\ny",3',
    '"a\nb",c\n1,2\n"\n",\n',
    'a\n"1\n2"\n\n2\n',
    'a,${spark.master}\n"1\n2",x\n',
]
FILES = [WHOLE_LINES, CELLS_OF_LINES, BLANKS_AFTER_QUOTES, *([text] for text in OTHER_HEADERS)]
ALONE = [[text] for text in (*WHOLE_LINES, *CELLS_OF_LINES)]


def first_of(files):
    return f"{len(files)} files, {files[0]!r}"


@pytest.mark.parametrize("files", everyday([*FILES, *ALONE], FILES[0]), ids=first_of)
def test_cells_of_csv_are_those_of_the_local_engine(spark, tmp_path, files):
    location = table_of(tmp_path, *files)
    tables = [read_table(tmp_path / "table.csv" / f"part-{n}.csv") for n in range(len(files))]
    expected = [tuple(row.values()) for table in tables for row in table.to_pylist()]
    assert all_of(spark, location) == sorted(expected, key=str)


MARKS = ["\ufeffa,b\n1,2\n", '\ufeff\ufeffa,b\n"1\n2",3\n']


@pytest.mark.parametrize("text", everyday(MARKS, MARKS[1]))
def test_byte_order_marks_of_csv_are_read_as_by_the_local_engine(spark, tmp_path, text):
    (tmp_path / "data.csv").write_text(text, encoding="utf-8", newline="")
    location, table = str(tmp_path / "data.csv"), read_table(tmp_path / "data.csv")
    names = describe_dataset(spark, IRI, location).columns
    assert names == tuple(table.column_names)
    assert rows(read(spark, location, "csv", names)) == [
        *zip(*table.to_pydict().values(), strict=True)
    ]


def test_csv_gives_the_columns_asked_for_in_their_order(spark, tmp_path):
    location = table_of(tmp_path, "a,b,c\n1,2,3\n", 'a,b,c\n4,"5",6\n')
    assert rows(read(spark, location, "csv", ("c", "a"))) == [("3", "1"), ("6", "4")]


def test_a_missing_value_of_a_single_column_is_a_row(spark, tmp_path):
    assert all_of(spark, table_of(tmp_path, 'a\n1\n""\n2\n')) == [("1",), ("2",), (None,)]


RAGGED = [("a,b", row) for row in ("secret", "1,2,secret", '"secret"', '1,"2",secret', " ")]
RAGGED += [('"a\nz",b', row) for row in ('1,"2",secret', " ")]


@pytest.mark.parametrize("ragged", everyday(RAGGED, RAGGED[4]), ids=repr)
def test_a_ragged_row_is_refused_and_never_filled_up(spark, tmp_path, ragged):
    header, row = ragged
    location = table_of(tmp_path, f"{header}\n1,2\n", f"{header}\n1,2\n{row}\n")
    with pytest.raises(DataError, match="C007 1 rows have too many or too few") as caught:
        all_of(spark, location)
    assert caught.value.source.endswith("part-1.csv")
    assert "secret" not in str(caught.value)
    assert refused(spark, location, ("b",) if "z" not in header else ("a\nz",)).code == "C007"


def test_bytes_that_are_not_utf_8_are_refused(spark, tmp_path):
    location = table_of(tmp_path, "a,b\n1,2\n", b"a,b\n1,\xff\n\xfe,2\n")
    problem = refused(spark, location)
    assert (problem.code, problem.message) == ("C008", "2 lines are not UTF-8.")


MISREAD = {
    'a,b\n1,"secret\n2,3\n': "A quoted cell is not closed",
    'a,b\n1,2" secret\n3,4\n5,"secret\n6,7\n': "A cell has a double quote, and is not in",
    'a,b\n"1"secret,2\n': "There is text after the closing quote",
    'a,b\n1,secret "2"\n': "A cell has a double quote, and is not in",
    'a,b\n"1\n2"secret,3\n': "Line 3: There is text after the closing quote",
    "a\n1\n\n2\n": "1 lines are blank",
    "a\n1\n \t\n2\n": "1 lines are blank",
}


@pytest.mark.parametrize(
    "text", everyday([*MISREAD], [*MISREAD][1], [*MISREAD][2], [*MISREAD][4], [*MISREAD][6])
)
def test_csv_that_spark_would_misread_is_refused(spark, tmp_path, text):
    words = MISREAD[text]
    problem = refused(spark, table_of(tmp_path, text))
    assert problem.code == "C010"
    assert problem.message.startswith(words) or words in problem.message


@pytest.mark.parametrize(
    "other",
    everyday(
        ("b,a\n1,2\n", "a,c\n1,2\n", "a\n1\n", "a,b,c\n1,2,3\n", "A,b\n", "\n"),
        "b,a\n1,2\n",
    ),
)
def test_csv_files_with_other_headers_are_refused(spark, tmp_path, other):
    problem = refused(spark, table_of(tmp_path, "a,b\n1,2\n", other))
    assert problem.code == "C014"
    assert "part-0.csv" in problem.message
    assert "part-1.csv" in problem.message


@pytest.mark.nightly
def test_files_may_have_odd_names_and_headers_written_in_several_ways(spark, tmp_path):
    (tmp_path / "t").mkdir()
    ways = {"a 1%20é.csv": 'a,"b"\n1,2\n', "b #.csv": '"a",b\r\n3,4\r\n', "c.csv": "a,b\n5,6"}
    for name, text in ways.items():
        (tmp_path / "t" / name).write_text(text)
    assert all_of(spark, str(tmp_path / "t")) == [("1", "2"), ("3", "4"), ("5", "6")]


@pytest.mark.nightly
def test_no_damaged_file_is_left_out(spark, tmp_path):
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,secret\n" % n for n in range(9999)))
    location = table_of(tmp_path, "a,b\n1,2\n")
    (tmp_path / "table.csv" / "part-1.csv.gz").write_bytes(whole[:-99])
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        assert refused(spark, location).code == "C010"
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_a_row_that_is_the_header_again_is_a_row(spark, tmp_path):
    location = table_of(tmp_path, "a,b\n1,2\na,b\n")
    assert all_of(spark, location) == [("1", "2"), ("a", "b")]


def test_a_single_file_is_not_looked_through_for_columns_that_it_lacks(
    spark, tmp_path, monkeypatch
):
    monkeypatch.delattr(reading, "_files_without_values")
    location = table_of(tmp_path, pa.table({"a": [1, 2], "b": pa.nulls(2)}), ending="parquet")
    assert rows(read(spark, location, "parquet", ("a",))) == [(1,), (2,)]


@pytest.mark.nightly
@pytest.mark.parametrize("ending", everyday(("parquet", "orc"), "orc"))
def test_files_that_differ_in_type_or_lack_a_column_are_refused(spark, tmp_path, ending):
    whole = pa.table({"a": [1, 2], "b": ["x", None]})
    for number, other in enumerate([pa.table({"a": ["s"], "b": ["x"]}), pa.table({"a": [3]})]):
        (tmp_path / f"{number}").mkdir()
        location = table_of(tmp_path / f"{number}", whole, other, ending=ending)
        assert refused(spark, location).code == "C014"
    assert rows(read(spark, location, ending, ("a",))) == [(1,), (2,), (3,)]


@pytest.mark.parametrize("ending", everyday(("parquet", "orc"), "parquet"))
def test_a_column_may_be_missing_in_all_rows_of_a_file(spark, tmp_path, ending):
    empty = pa.table({"a": [3], "b": pa.array([None], pa.string())})
    location = table_of(tmp_path, pa.table({"a": [1], "b": ["x"]}), empty, ending=ending)
    assert all_of(spark, location) == [(1, "x"), (3, None)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("cell", everyday(("x", "two\nlines"), "two\nlines"))
def test_columns_of_folders_are_text_as_written_on_both_engines(spark, tmp_path, kind, cell):
    place = tmp_path / f"t[1].{kind}"
    for value in ("007", "a%2Fb+é", "__HIVE_DEFAULT_PARTITION__"):
        folder = place / f"k%3A y={value}" / "z.`q=1=2"
        folder.mkdir(parents=True)
        if kind == "csv":
            (folder / "part.csv").write_text(f'a,b\n"{cell}",\n,\n')
        else:
            parquet.write_table(pa.table({"a": [cell, None]}), folder / "part.parquet")
    found = all_of(spark, str(place), ("k: y", "z.`q", "a"))
    assert found == rows_of_both(place, ("k: y", "z.`q", "a"))
    assert {row[0] for row in found} == {"007", "a/b+é", None}
    assert {row[1] for row in found} == {"1=2"}


def rows_of_both(place, columns):
    table = read_table(place, columns)
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=str)


def test_files_whose_folders_name_other_columns_are_refused(spark, tmp_path):
    place = tmp_path / "t.csv"
    for folder in ("x=1", "y=1"):
        (place / folder).mkdir(parents=True)
        (place / folder / "part.csv").write_text("a\n1\n")
    assert refused(spark, str(place)).code == "C014"
    with pytest.raises(DataError, match="C014"):
        make_catalog({IRI: place})


@pytest.mark.nightly
def test_every_file_below_a_folder_is_read(spark, tmp_path):
    (tmp_path / "t.csv" / "more").mkdir(parents=True)
    for number, name in enumerate(("a.csv", "more/a.csv", "_no/a.csv", ".no.csv")):
        (tmp_path / "t.csv" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "t.csv" / name).write_text(f"a\n{number}\n")
    assert all_of(spark, str(tmp_path / "t.csv")) == [("0",), ("1",)]
    assert rows_of_both(tmp_path / "t.csv", ("a",)) == [("0",), ("1",)]


STEMS = [("q[1]", "q{1,2}*?", "q\\[1]"), ("q[1]",)]


@pytest.mark.parametrize("stems", everyday(STEMS, STEMS[1]), ids=len)
@pytest.mark.parametrize("ending", everyday(("csv", "json", "parquet"), "csv"))
def test_a_path_is_a_name_and_never_a_pattern(spark, tmp_path, ending, stems):
    for number, stem in enumerate((*stems, "q1", "q2")):
        place = tmp_path / f"{stem}.{ending}"
        if ending == "parquet":
            parquet.write_table(pa.table({"a": [str(number)]}), place)
        else:
            text = f'{{"a": "{number}"}}\n' if ending == "json" else f'a\n"{number}"\n'
            place.write_text(text)
    for number, stem in enumerate(stems):
        place = tmp_path / f"{stem}.{ending}"
        assert all_of(spark, str(place)) == [(str(number),)]
        assert manifest_digest(spark, str(place)) == digest(place)
    problem = refused(spark, str(tmp_path / f"q*.{ending}"))
    assert (problem.code, problem.hint[:14]) == ("C002", "A path is not ")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["_metadata", "Policy_Engine__Person", "__policy_engine_corrupt"])
def test_names_of_columns_that_the_engine_has_itself_are_refused(spark, tmp_path, name):
    problem = refused(spark, table_of(tmp_path, f"a,{name}\n1,2\n"))
    assert problem.code == "C006"
    assert refused(spark, spark.createDataFrame([(1, 2)], f"a int, {name} int")).code == "C006"


def test_lines_that_are_no_json_are_counted(spark, tmp_path):
    location = table_of(tmp_path, '{"a": 1}\n', '{"a": 1}\nsecret\n{"a": secret\n', ending="json")
    problem = refused(spark, location)
    assert (problem.code, problem.message) == ("C010", "2 lines are not JSON records.")


def test_a_key_that_json_records_lack_is_missing(spark, tmp_path):
    location = table_of(tmp_path, '{"a": 1}\n', '{"b": "x"}\n', ending="json")
    assert all_of(spark, location) == [(1, None), (None, "x")]
