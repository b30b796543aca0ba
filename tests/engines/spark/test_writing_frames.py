import hashlib
import struct
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from everyday import everyday
from pyarrow import parquet

from policy_engine.data import storage
from policy_engine.engines.spark import writing
from policy_engine.engines.spark.reading import read
from policy_engine.engines.spark.writing import (
    has_large_files,
    manifest_digest,
    row_digest,
    write,
)
from policy_engine.engines.tables import plain_texts, read_table, write_table
from policy_engine.errors import DataError, OutputError

pytestmark = pytest.mark.usefixtures("few_rows")
AWKWARD = [
    "plain",
    'say "hi"',
    '"',
    '""',
    "a,b",
    "two\nlines",
    "cr\rlf\r\n",
    "x\r",
    "\r",
    " lead",
    "trail ",
]
AWKWARD += ["\ttab", "é", "\\", '\\"', "a\\", "", None, "NULL", "007", "#x", "'", "\u00a0x", " "]


def parts(folder):
    return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))


def missing_if_empty(rows):
    return sorted((tuple(cell or None for cell in row) for row in rows), key=str)


WRITTEN = [(1, "csv"), (1, "csv.gz"), (2, "csv"), (2, "csv.gz")]


@pytest.mark.parametrize("written", everyday(WRITTEN, (1, "csv"), (2, "csv.gz")), ids=str)
def test_csv_is_read_back_by_both_engines_as_it_was(spark, tmp_path, written):
    width, kind = written
    rows = [(cell,) * width for cell in AWKWARD]
    columns = ['a, "b"', "c"][:width]
    frame = spark.createDataFrame(rows, ", ".join(f"`{name}` string" for name in columns))
    write(frame.repartition(3), str(tmp_path / "out"), kind)
    files = parts(tmp_path / "out")
    assert all(path.name.endswith(f".{kind}") for path in files)
    local = [tuple(row.values()) for path in files for row in read_table(path).to_pylist()]
    assert missing_if_empty(local) == missing_if_empty(rows)
    again = read(spark, str(tmp_path / "out"), kind, columns).collect()
    assert missing_if_empty(again) == missing_if_empty(rows)


def test_csv_has_quotes_where_needed_and_missing_cells_empty(spark, tmp_path):
    frame = spark.createDataFrame([("x y", "1"), ("x,y", None)], "a string, b string")
    write(frame.coalesce(1), str(tmp_path / "out"), "csv")
    [file] = parts(tmp_path / "out")
    assert file.read_bytes() == b'a,b\nx y,1\n"x,y",\n'
    assert not (tmp_path / "out" / "_SUCCESS").exists()


def test_csv_of_no_rows_has_its_header(spark, tmp_path):
    write(spark.createDataFrame([], "a string, b string"), str(tmp_path / "out"), "csv")
    assert [file.read_text() for file in parts(tmp_path / "out")] == ["a,b\n"]


def test_csv_of_other_types_is_that_of_the_local_engine(spark, tmp_path):
    stamp = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    columns = {
        "f": pa.array([1.0, 1e20, -0.0, None]),
        "d": pa.array([Decimal("0.00"), Decimal("1.50"), None, None], pa.decimal128(9, 2)),
        "t": pa.array([stamp, None, None, None], pa.timestamp("us", "UTC")),
        "day": pa.array([stamp.date(), None, None, None]),
        "n": pa.array([7, None, 1, 2]),
        "b": pa.array([True, False, None, None]),
    }
    parquet.write_table(pa.table(columns), tmp_path / "in.parquet")
    write_table(plain_texts(pa.table(columns)), tmp_path / "local.csv")
    frame = read(spark, str(tmp_path / "in.parquet"), "parquet", tuple(columns))
    write(frame.coalesce(1), str(tmp_path / "out"), "csv")
    [file] = parts(tmp_path / "out")
    assert file.read_text() == (tmp_path / "local.csv").read_text()


@pytest.mark.parametrize("kind", everyday(("parquet", "orc", "json"), "parquet", "json"))
def test_typed_formats_come_back_as_they_were(spark, tmp_path, kind):
    rows = [("x", 1, None), (None, 2, None)]
    frame = spark.createDataFrame(rows, "a string, n bigint, e string")
    write(frame, str(tmp_path / "out"), kind)
    again = read(spark, str(tmp_path / "out"), kind, ("a", "n", "e")).collect()
    assert sorted(map(tuple, again), key=str) == sorted(rows, key=str)


def test_parquet_has_the_standard_type_of_times(spark, tmp_path):
    before = spark.conf.get("spark.sql.parquet.outputTimestampType", None)
    frame = spark.sql("SELECT timestamp'2020-01-02' AS t")
    with ThreadPoolExecutor() as several:
        places = [str(tmp_path / name) for name in ("out", *map(str, range(4)))]
        list(several.map(lambda place: write(frame, place, "parquet"), places))
    [file] = parts(tmp_path / "out")
    assert parquet.read_schema(file).field("t").type == pa.timestamp("us", "UTC")
    assert parquet.ParquetFile(file).metadata.row_group(0).column(0).compression == "ZSTD"
    assert spark.conf.get("spark.sql.parquet.outputTimestampType", None) == before


def test_what_is_there_is_never_written_over(spark, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match="O001"):
        write(spark.range(1), str(tmp_path / "out"), "parquet")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="O002"):
        write(spark.range(1), str(tmp_path / "file" / "out"), "parquet")


FOLDERS = ("out", "a b%20c.csv", "é#?&", "q[1]{*}")


@pytest.mark.parametrize("name", everyday(FOLDERS, "a b%20c.csv", "q[1]{*}"))
@pytest.mark.parametrize("few", [0, 1000], ids=["executors", "driver"])
def test_the_digest_of_files_is_that_by_ourselves(spark, tmp_path, monkeypatch, name, few):
    monkeypatch.setattr(writing, "_SMALL", few)
    folder = tmp_path / name
    (folder / "p=a%2Fb").mkdir(parents=True)
    for file in ("b 1.csv", "a%201.csv", "_SUCCESS", ".b.crc", "p=a%2Fb/ü#?.csv"):
        (folder / file).write_text(file)
    for location in (str(folder), f"{folder}/", f"file:{folder}"):
        assert manifest_digest(spark, location) == storage.digest(folder)
    one = folder / "a%201.csv"
    assert manifest_digest(spark, str(one)) == storage.digest(one)


def test_large_files_are_found_by_the_executors(spark, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("a\n1\n")
    assert not has_large_files(spark, str(tmp_path))
    monkeypatch.setattr(writing, "_SMALL", 4)
    assert not has_large_files(spark, str(tmp_path))
    monkeypatch.setattr(writing, "MOST_HASHED", 3)
    assert has_large_files(spark, str(tmp_path))


def test_the_digest_of_nothing_is_refused(spark, tmp_path):
    with pytest.raises(DataError, match="C002"):
        manifest_digest(spark, str(tmp_path / "none"))


def test_row_digest_knows_no_order_and_no_partitions(spark):
    frame = spark.createDataFrame([("a", 1), ("b", None), ("a", 1)], "x string, n int")
    assert row_digest(frame) == row_digest(frame.orderBy("x").repartition(3))
    assert row_digest(frame)[1] == 3
    assert row_digest(frame.where("false"))[1] == 0


def test_row_digest_adds_the_words_of_all_rows(spark):
    frame = spark.createDataFrame([("a", 1), ("b", None)], "x string, n int").repartition(2)
    texts = (b"1:a1:1", b"1:b-")
    words = [struct.unpack(">8I", hashlib.sha256(text).digest()) for text in texts]
    lanes = [first + second for first, second in zip(*words, strict=True)]
    text = repr([["x", "n"], 2, lanes])
    assert row_digest(frame) == (hashlib.sha256(text.encode()).hexdigest(), 2)


TWICE, REVERSED = [("a", "b"), ("a", "b")], [("b", "a")]
JOINED = [[("ab", "")], [("ab", None)], [(None, "ab")]]
LENGTHS = [[("a", "1:b")], [("a1:b", "-")], [("a1:b-", "")]]
ALIKE = [(TWICE, REVERSED, *JOINED, *LENGTHS), (TWICE, JOINED[1], LENGTHS[0])]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("alike", everyday(ALIKE, ALIKE[1]), ids=len)
def test_row_digest_tells_rows_apart(spark, alike):
    tables = [[("a", "b")], *alike]
    frames = [spark.createDataFrame(rows, "x string, y string") for rows in tables]
    assert len({row_digest(frame) for frame in frames}) == len(tables)
    assert row_digest(frames[0]) != row_digest(frames[0].toDF("x", "z"))
