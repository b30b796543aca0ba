from random import Random

import pyarrow as pa
import pytest
from pyarrow import parquet

from policy_engine.errors import DataError
from policy_engine.service.files.parquet_sizes import array_size, decoded_size

TEXTS = pa.array(["ab", "abcd", None, "ab"])


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (TEXTS.dictionary_encode(), 8 + 4 * 4),
        (pa.array([1, 1, 2], pa.int64()).dictionary_encode(), 24),
        (pa.StructArray.from_arrays([TEXTS.dictionary_encode()], ["a"]), 8 + 4 * 4),
        (pa.array([[1, 2], [3]], pa.list_(pa.int64())), 24 + 4 * 2),
        (pa.array([1.0, 2.0]), 16),
    ],
)
def test_values_that_are_written_once_are_counted_as_often_as_they_are_there(array, size):
    assert array_size(array) == size


def test_a_file_is_read_until_it_is_too_large(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": ["x" * 100] * 20_000, "b": [1] * 20_000}), path)
    assert decoded_size(path, 10**9) >= 20_000 * (100 + 8)
    assert decoded_size(path, 200_000) < 20_000 * (100 + 8)


def test_what_is_no_such_file_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="C003"):
        decoded_size(path, 100)


def test_values_of_a_type_without_a_width_count_one_byte_each(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": pa.nulls(20_000), "b": pa.nulls(20_000)}), path)
    assert decoded_size(path, 10**9) == 40_000


def flipped(path, table, number, **options):
    """Yield a file as often as that, each time with another bit of its pages flipped."""
    parquet.write_table(table, path, row_group_size=500, **options)
    content = path.read_bytes()
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    drawn = Random(7)
    for _ in range(number):
        place = drawn.randrange(4, end)
        damaged = bytearray(content)
        damaged[place] ^= 1 << drawn.randrange(8)
        path.write_bytes(damaged)
        yield path


def code_of(path):
    """Return the code that a file is refused with, None for one that is taken."""
    try:
        decoded_size(path, 10**9)
    except DataError as error:
        return error.code
    return None


COLUMNS = pa.table(
    {
        "number": range(2_000),
        "share": [one / 7 for one in range(2_000)],
        "text": [f"name {one}" for one in range(2_000)],
        "day": pa.array([one % 500 for one in range(2_000)], pa.date32()),
    }
)


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_no_wrong_value_of_pages_with_checksums_is_taken(tmp_path, compression):
    options = {"compression": compression, "write_page_checksum": True}
    for path in flipped(tmp_path / "t.parquet", COLUMNS, 25, **options):
        found = code_of(path)
        assert found in (None, "C003")
        if found is None:
            assert parquet.read_table(path).equals(COLUMNS)


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_pages_without_checksums_can_be_read_or_are_refused(tmp_path, compression):
    for path in flipped(tmp_path / "t.parquet", COLUMNS, 25, compression=compression):
        found = code_of(path)
        assert found in (None, "C003")
        if found is None:
            assert parquet.ParquetFile(path).read().num_rows == 2_000
