"""Pages of Parquet files that hold more than the values of rows."""

import struct
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from thrift import (
    BYTES,
    I32,
    I64,
    STRUCT,
    Reader,
    last_column,
    put_together,
    struct_bytes,
    taken_apart,
)

from policy_engine.data.table_files import read_header
from policy_engine.engines.parquet_blooms import bloom_filter, xxh64
from policy_engine.engines.parquet_extras import extra_contents
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError

PAY = [900, 5, 5, 7]
ODD = "parts that are not laid out as in a Parquet file"


def changed(folder, change, **ways):
    """Write a column of numbers, change its file, and return what else than it is found there."""
    path = folder / "a.parquet"
    pq.write_table(pa.table({"pay": PAY}), path, compression="none", **ways)
    body, footer = taken_apart(path.read_bytes())
    column = last_column(footer)
    body = change(body, footer, column) or body
    start = column.get(11, column[9])[1]
    column[6] = column[7] = (I64, len(body) - start)
    path.write_bytes(put_together(body, footer))
    assert pq.read_table(path)["pay"].to_pylist() == PAY
    return [*extra_contents(path)]


def page(body, place):
    """Return the header of the page at a place, its content, and where that ends."""
    reader = Reader(body, place)
    header = reader.struct()
    end = reader.place + header[3][1]
    return header, body[reader.place : end], end


def resized(header, content):
    header[2] = header[3] = (I32, len(content))
    return struct_bytes(header) + content


def second_page(body, _, column):
    header, content, _ = page(body, column[9][1])
    return body + resized(header, content[:-32] + struct.pack("<4q", 1, 2, 3, 4))


def more_bytes(body, _, column):
    header, content, _ = page(body, column[9][1])
    return body[: column[9][1]] + resized(header, content + b"Ann")


def unknown_field(body, _, column):
    header, content, _ = page(body, column[9][1])
    header[99] = (BYTES, b"Ann")
    return body[: column[9][1]] + resized(header, content)


def index_page(body, _, column):
    hidden = struct_bytes({1: (I32, 1), 2: (I32, 3), 3: (I32, 3), 6: (STRUCT, {})}) + b"Ann"
    return body[: column[9][1]] + hidden + body[column[9][1] :]


def unused_number(body, _, column):
    header, content, end = page(body, column[11][1])
    header[7][1][1] = (I32, header[7][1][1][1] + 1)
    entry = resized(header, content + struct.pack("<q", 41250))
    column[9] = (I64, column[11][1] + len(entry))
    return body[: column[11][1]] + entry + body[end:]


def repeated_number(body, _, column):
    header, content, end = page(body, column[11][1])
    header[7][1][1] = (I32, header[7][1][1][1] + 1)
    entry = resized(header, content + content[:8])
    column[9] = (I64, column[11][1] + len(entry))
    return body[: column[11][1]] + entry + body[end:]


def footer_field(_body, footer, _column):
    footer[99] = (BYTES, b"Ann")


def column_field(_body, _footer, column):
    column[77] = (BYTES, b"Ann")


def other_root(_body, footer, _column):
    footer[2][1][1][0][4] = (BYTES, b"Ann")


def other_id(_body, footer, _column):
    footer[2][1][1][1][9] = (I32, 41250)


def second_schema(_body, footer, _column):
    footer[5][1][1].append({1: (BYTES, b"ARROW:schema"), 2: (BYTES, b"Ann")})


def index_at(place):
    def change(_body, footer, _column):
        footer[4][1][1][0][1][1][1][0].update({4: (I64, place), 5: (I32, 3)})

    return change


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda *_: None, []),
        (second_page, [ODD]),
        (more_bytes, ["bytes in the pages of 'pay' that are no values"]),
        (unknown_field, [ODD]),
        (index_page, [ODD]),
        (footer_field, [ODD]),
        (column_field, [ODD]),
        (other_root, [ODD]),
        (other_id, [ODD]),
        (second_schema, ["metadata"]),
    ],
)
def test_pages_hold_the_values_of_rows(tmp_path, change, told, version):
    assert changed(tmp_path, change, use_dictionary=False, data_page_version=version) == told


@pytest.mark.parametrize("field", [2, 3])
def test_a_page_counts_its_rows_and_missing_values(tmp_path, field):
    def other_count(body, _, column):
        header, content, _ = page(body, column[9][1])
        header[8][1][field] = (I32, 41250)
        return body[: column[9][1]] + resized(header, content)

    assert changed(tmp_path, other_count, use_dictionary=False, data_page_version="2.0") == [ODD]


@pytest.mark.parametrize("place", [-5, 1 << 20, 1 << 62])
def test_an_index_is_within_its_file(tmp_path, place):
    assert changed(tmp_path, index_at(place)) == [ODD]


def test_a_run_is_no_longer_than_its_page(tmp_path, monkeypatch):
    def long_run(body, _, column):
        header, content, _ = page(body, column[9][1])
        return body[: column[9][1]] + resized(header, content[:7] + b"\x80\x80\x80\x80\x08\0")

    monkeypatch.setitem(globals(), "PAY", [5, 5, 5, 5])
    assert changed(tmp_path, long_run) == [ODD]


def test_short_integers_have_no_hidden_bits(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"pay": pa.array([1, 2], pa.int8())})
    ways = {"use_dictionary": False, "compression": "none", "write_statistics": False}
    pq.write_table(table, path, **ways)
    stored = struct.pack("<2i", 1, 2)
    path.write_bytes(path.read_bytes().replace(stored, b"\1Ann" + stored[4:]))
    assert pq.read_table(path) == table
    assert [*extra_contents(path)] == ["bytes in the pages of 'pay' that are no values"]


@pytest.mark.parametrize(
    ("change", "told"), [(unused_number, "no row has"), (repeated_number, "are there twice")]
)
def test_a_dictionary_of_numbers_has_those_of_rows_once(tmp_path, change, told):
    assert changed(tmp_path, change) == [f"values in the dictionary of 'pay' that {told}"]


def test_a_dictionary_of_texts_has_none_that_are_shortened(tmp_path):
    path = tmp_path / "a.parquet"
    jobs = pa.DictionaryArray.from_arrays([0, 0], ["a" * 80, "a" * 63 + "b"])
    pq.write_table(pa.table({"job": jobs}), path, write_statistics=False, store_schema=False)
    assert [*extra_contents(path)] == ["values in the dictionary of 'job' that no row has"]


def written_pages(folder, column, stored, other, **ways):
    """Write a column in plain pages, replace what is stored there, and return what is found."""
    path = folder / "a.parquet"
    ways |= {"use_dictionary": False, "compression": "none", "write_statistics": False}
    pq.write_table(pa.table({"x": column}), path, store_schema=False, **ways)
    assert path.read_bytes().count(stored) == 1
    path.write_bytes(path.read_bytes().replace(stored, other))
    return [*extra_contents(path)]


ODD_PAGES = ["bytes in the pages of 'x' that are no values"]
DAY, EPOCH = 86_400 * 10**9, 2_440_588


def int96(days, nanoseconds):
    return struct.pack("<qI", nanoseconds, EPOCH + days)


@pytest.mark.parametrize(
    ("days", "nanoseconds", "told"),
    [
        (1, 5, []),
        (106_751, 2**63 - 1 - 106_751 * DAY, []),
        (106_751, 2**63 - 106_751 * DAY, ODD_PAGES),
        (106_752, 0, ODD_PAGES),
        (1 << 31, 5, ODD_PAGES),
        (-106_752, 106_752 * DAY - 2**63, []),
        (-106_752, 106_752 * DAY - 2**63 - 1, ODD_PAGES),
        (-106_751, 106_751 * DAY - 2**63, []),  # counted back
        (-106_751, 106_751 * DAY - 2**63 - 1, ODD_PAGES),
        (-EPOCH, 0, ODD_PAGES),
        (1, DAY, ODD_PAGES),
        (1, -1, ODD_PAGES),
    ],
)
def test_times_are_those_that_64_bits_hold(tmp_path, days, nanoseconds, told):
    column = pa.array([DAY + 5], pa.timestamp("ns"))
    stored, other = int96(1, 5), int96(days, nanoseconds)
    ways = {"use_deprecated_int96_timestamps": True}
    assert written_pages(tmp_path, column, stored, other, **ways) == told


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (int96(-2, DAY - 5), int96(-2, DAY - 7), []),
        (int96(-1, -5), int96(-1, -7), []),
        (int96(-2, DAY - 5), int96(-1, -7), ODD_PAGES),
    ],
)
def test_times_before_1970_are_all_counted_back_or_none(tmp_path, first, second, told):
    column = pa.array([-DAY - 5, -DAY - 7], pa.timestamp("ns"))
    stored = int96(-2, DAY - 5) + int96(-2, DAY - 7)
    ways = {"use_deprecated_int96_timestamps": True}
    assert written_pages(tmp_path, column, stored, first + second, **ways) == told


@pytest.mark.parametrize(("last", "told"), [(2, []), (2 | 4, ODD_PAGES), (2 | 128, ODD_PAGES)])
def test_truth_values_have_no_hidden_bits(tmp_path, last, told):
    column = [True, False, True, False, True] * 2
    stored, other = bytes([0b10110101, 2]), bytes([0b10110101, last])
    assert written_pages(tmp_path, column, stored, other) == told


def test_a_page_of_missing_values_has_no_byte_of_its_own(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"x": [None, None, "a"]}), path, compression="none", max_rows_per_page=2
    )
    content = path.read_bytes()
    levels = struct.pack("<I", 2) + b"\4\0"
    place = content.index(levels) + len(levels)
    assert content[place] == 0
    assert [*extra_contents(path)] == []
    path.write_bytes(content[:place] + b"\x11" + content[place + 1 :])
    assert pq.read_table(path)["x"].to_pylist() == [None, None, "a"]
    assert [*extra_contents(path)] == [ODD]


@pytest.mark.parametrize(
    ("data", "number"),
    [(b"", 0xEF46DB3751D8E999), (b"a", 0xD24EC4F1A98C6E5B), (b"abc", 0x44BC2CF5AD770999)],
)
def test_the_hash_is_that_of_xxhash(data, number):
    assert xxh64(data) == number


def test_a_bloom_filter_has_eight_bits_of_each_value():
    bits = bloom_filter([b"a", b"b"], 32)
    assert 8 < int.from_bytes(bits, "little").bit_count() <= 16
    assert bloom_filter([b"b", b"a", b"a"], 32) == bits
    assert bloom_filter([], 64) == bytes(64)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize(("rows", "told"), [(2, []), (3, [ODD])])
def test_lists_have_no_rows_behind_the_last_one(tmp_path, version, rows, told):
    path, table = tmp_path / "a.parquet", pa.table({"x": [[1], [2, 3], [41250]]})
    ways = {"use_dictionary": False, "write_statistics": False, "store_schema": False}
    pq.write_table(table.slice(0, rows), path, data_page_version=version, **ways)
    body, footer = taken_apart(path.read_bytes())
    footer[3] = footer[4][1][1][0][3] = (I64, 2)
    path.write_bytes(put_together(body, footer))
    assert pq.read_table(path) == table.slice(0, 2)
    assert [*extra_contents(path)] == told


def test_a_damaged_file_is_read_or_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"pay": PAY, "job": ["a", None, "b", "a"]}), path)
    content = path.read_bytes()
    for place in range(4, len(content), 11):
        path.write_bytes(content[:place] + bytes([content[place] ^ 36]) + content[place + 1 :])
        with suppress(DataError):
            read_header(path)
            read_table(path)
            [*extra_contents(path)]
