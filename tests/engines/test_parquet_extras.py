"""What is around the values of a Parquet file, and is no part of its table."""

import datetime as dt
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.data.parquet_footer import read_notes
from policy_engine.engines.carried import check_file_extras
from policy_engine.engines.parquet_extras import are_bounds_of, extra_contents
from policy_engine.errors import CertificateError

ODD = "parts that are not laid out as in a Parquet file"
TABLE = pa.table({"pay": [900, 5, 7], "job": ["a" * 80, "b", None], "at": [0.5, -0.0, None]})
WAYS = (
    {},
    {"compression": "zstd", "store_schema": False},
    {"write_page_index": True},
    {"row_group_size": 1, "use_dictionary": False},
    {"data_page_version": "2.0", "write_statistics": False},
)


def written(folder, table=TABLE, **ways):
    path = folder / "a.parquet"
    pq.write_table(table, path, **ways)
    return path, path.read_bytes()


@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_a_file_has_its_table_and_nothing_else(tmp_path, ways):
    path, _ = written(tmp_path, **ways)
    assert [*extra_contents(path)] == []
    notes = read_notes(path)
    assert (notes.unknown, {one.path[0] for one in notes.chunks}) == (0, {"pay", "job", "at"})


def test_the_values_of_statistics_are_read_as_they_are_stored(tmp_path):
    path, _ = written(tmp_path, TABLE.select(["pay", "job"]))
    [pay, job] = read_notes(path).chunks
    assert pay.named == {struct.pack("<q", 5), struct.pack("<q", 900)}
    assert job.named == {b"a" * 80, b"b"}


def before_the_footer(content):
    (length,) = struct.unpack("<I", content[-8:-4])
    return content[: -8 - length] + b"SECRET" + content[-8 - length :]


def in_the_footer(content):
    (length,) = struct.unpack("<I", content[-8:-4])
    return content[:-8] + b"SECRET" + struct.pack("<I", length + 6) + content[-4:]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (before_the_footer, "6 bytes that belong to no part of its table"),
        (in_the_footer, "6 bytes that belong to no part of its table"),
        (lambda one: one.replace(b"parquet-cpp-arrow", b"parquet-cpp-SECRE"), "another name"),
        (
            lambda one: one.replace(struct.pack("<q", 900), struct.pack("<q", 901)),
            "statistics of 'pay' with values that no row has",
        ),
        (lambda one: one.replace(b"a" * 80, b"a" * 79 + b"c"), "statistics of 'job'"),
    ],
)
def test_what_is_no_part_of_the_table_is_refused(tmp_path, change, told):
    path, content = written(tmp_path, compression="zstd", store_schema=False)
    path.write_bytes(change(content))
    with pytest.raises(CertificateError, match=f"V002 The file holds {told}|{told}"):
        check_file_extras(path)


def test_an_index_with_values_that_no_row_has_is_refused(tmp_path):
    path, content = written(tmp_path, write_page_index=True, compression="zstd")
    place = content.rindex(struct.pack("<q", 900), 0, content.rindex(b"pay"))
    path.write_bytes(content[:place] + struct.pack("<q", 901) + content[place + 8 :])
    assert [*extra_contents(path)] == ["statistics of 'pay' with values that no row has"]


@pytest.mark.parametrize(
    ("text", "least", "greatest"),
    [
        ("a" * 80, b"a" * 80, b"a" * 80),
        ("a" * 80, b"a" * 64, b"a" * 63 + b"b"),
        ("é" * 40, "é".encode() * 32, "é".encode() * 31 + "ê".encode()),
        ("a" + "é" * 40, b"a" + "é".encode() * 31, b"a" + "é".encode() * 30 + "ê".encode()),
        ("a" * 63 + "\x7f" * 9, b"a" * 63 + b"\x7f", b"a" * 62 + b"b"),  # dropped
        (
            "a" * 62 + "¿" * 9,
            b"a" * 62 + "¿".encode(),
            b"a" * 62 + "ÿ".encode(),
        ),  # a byte
    ],
)
def test_long_texts_are_shortened_as_programs_do(text, least, greatest):
    column = pa.chunked_array([[text, "b", None]])
    assert are_bounds_of(column, [least], [greatest])
    if least != greatest:
        assert not are_bounds_of(column, [greatest], [])
        assert not are_bounds_of(column, [], [least])


@pytest.mark.parametrize(
    "stored",
    [b"a" * 79 + b"b", b"a" * 8, b"a" * 16, b"a" * 63 + b"c", b"c" * 64, b"\xff"],
)
def test_other_shortened_texts_are_refused(stored):
    assert not are_bounds_of(TABLE["job"], [stored], [])
    assert not are_bounds_of(TABLE["job"], [], [stored])


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 4, b"\0" * 50])
def test_what_is_not_laid_out_as_a_parquet_file_is_told(tmp_path, content):
    (tmp_path / "a.parquet").write_bytes(content)
    assert [*extra_contents(tmp_path / "a.parquet")] == [ODD]


SHORT = pa.table(
    {
        "a": pa.array([30, None, 50], pa.int8()),
        "b": pa.array([1, 2**32 - 1, None], pa.uint32()),
        "c": pa.array([1, 2**64 - 1, None], pa.uint64()),
        "d": pa.array([0.5, 1.5, None], pa.float32()).cast(pa.float16()),
        "e": pa.array([[1, 2], [], None], pa.list_(pa.uint8())),
        "f": [{"x": 1, "y": ["u"]}, None, {"x": 2, "y": ["v", None]}],
        "g": pa.array([[("k", 1.5)], [], None], pa.map_(pa.string(), pa.float64())),
        "h": pa.array([dt.datetime(1960, 1, 1, 5), None, dt.datetime(2020, 1, 1)]),  # noqa: DTZ001
    }
)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("is_dictionary", [True, False])
def test_all_that_arrow_writes_is_a_table_alone(tmp_path, compression, version, is_dictionary):
    ways = {"use_dictionary": is_dictionary, "use_deprecated_int96_timestamps": is_dictionary}
    ways |= {"data_page_version": version, "compression": compression, "write_page_index": True}
    path, _ = written(tmp_path, SHORT, row_group_size=2, **ways)
    assert [*extra_contents(path)] == []


@pytest.mark.parametrize("name", ["a", "b", "c", "d", "e"])
def test_statistics_of_short_numbers_and_lists_are_those_of_their_rows(tmp_path, name):
    path, content = written(tmp_path, SHORT.select([name]), store_schema=False)
    [chunk] = read_notes(path).chunks
    stored = max(chunk.named, key=content.rindex)
    place = content.rindex(stored)
    path.write_bytes(content[:place] + b"\x07" + content[place + 1 :])
    assert [*extra_contents(path)] == [f"statistics of {name!r} with values that no row has"]


COLUMNS = st.one_of(
    st.lists(st.one_of(st.none(), one), min_size=3, max_size=3)
    for one in (
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        st.booleans(),
        st.text(st.characters(codec="utf-8")),
        st.dates(),
        st.datetimes(
            dt.datetime.fromisoformat("1800-01-01"), dt.datetime.fromisoformat("2200-01-01")
        ),
        st.decimals(-999, 999, places=2),
        st.lists(st.integers(0, 9), max_size=2),
    )
)


@given(COLUMNS, COLUMNS, st.sampled_from(WAYS))
@settings(max_examples=60)
def test_every_table_that_is_written_is_a_table_alone(tmp_path_factory, one, other, ways):
    path, _ = written(tmp_path_factory.mktemp("files"), pa.table({"a": one, "b": other}), **ways)
    assert [*extra_contents(path)] == []


def test_a_file_begins_as_parquet_does(tmp_path):
    path, content = written(tmp_path)
    path.write_bytes(b"Anna" + content[4:])
    assert [*extra_contents(path)] != []


@pytest.mark.parametrize("ways", WAYS[:2] + WAYS[-1:], ids=str)
@pytest.mark.parametrize(("batches", "told"), [(1, []), (2, [ODD])])
def test_one_group_has_no_rows(tmp_path, ways, batches, told):
    path = tmp_path / "a.parquet"
    with pq.ParquetWriter(path, TABLE.schema, **ways) as writer:
        for rows in (TABLE, *[TABLE.slice(0, 0)] * batches, TABLE):
            writer.write_table(rows)
    assert pq.ParquetFile(path).num_row_groups == batches + 2
    assert [*extra_contents(path)] == told


@pytest.mark.parametrize("has_statistics", [True, False])
@pytest.mark.parametrize("kind", [pa.json_(), pa.opaque(pa.string(), "salary", "41250")])
def test_extension_types_are_refused(tmp_path, kind, has_statistics):
    column = pa.ExtensionArray.from_storage(kind, pa.array(["1", "2"]))
    path, _ = written(tmp_path, pa.table({"x": column}), write_statistics=has_statistics)
    assert [*extra_contents(path)] == [
        f"the column 'x' of the extension type {kind.extension_name}"
    ]
