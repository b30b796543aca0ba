import pyarrow as pa
import pytest
from pyarrow import parquet

from policy_engine.errors import DataError, ServiceError
from policy_engine.service.files import inspecting
from policy_engine.service.files.inspecting import inspect_table, outline


def test_a_process_of_its_own_sees_what_is_seen_here(tmp_path):
    path = tmp_path / "abc"
    path.write_bytes(b"a,b\n1,2\n3,4\n")
    assert inspect_table(path, "csv") == outline(path, "csv") == ("csv", ("a", "b"), 2)
    assert [*tmp_path.iterdir()] == [path]


def test_a_process_that_is_ended_is_told_as_a_file_that_takes_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(inspecting.sys, "executable", "/bin/false")
    with pytest.raises(ServiceError, match="N008"):
        inspect_table(tmp_path / "abc", "csv")


def test_a_name_that_not_every_database_keeps_is_refused_and_not_quoted(tmp_path):
    path = tmp_path / "abc"
    path.write_bytes(b"a,Ann\0b\n1,2\n")
    with pytest.raises(DataError, match=r"C015 .*column 2 ") as error:
        outline(path, "csv")
    assert "Ann" not in str(error.value)


def test_a_table_of_texts_that_repeat_is_as_large_as_they_are_written_out(tmp_path):
    path = tmp_path / "abc"
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 70_000, pa.int32()), ["x" * 1000])
    parquet.write_table(pa.table({"a": texts}), path)
    assert path.stat().st_size < 100_000
    with pytest.raises(ServiceError, match="N008"):
        outline(path, "parquet")
    parquet.write_table(pa.table({"a": texts[:60_000]}), path)
    assert outline(path, "parquet").rows == 60_000


def test_a_table_of_one_number_is_as_large_as_all_its_rows(tmp_path):
    path = tmp_path / "abc"
    parquet.write_table(pa.table({"a": pa.repeat(1, 9_000_000)}), path)
    with pytest.raises(ServiceError, match="N008"):
        outline(path, "parquet")


def test_a_table_has_no_more_columns_than_are_said(tmp_path):
    path = tmp_path / "abc"
    names = [str(number) for number in range(10_001)]
    path.write_text(",".join(names) + "\n")
    with pytest.raises(ServiceError, match=r"N008 .*10,000 columns"):
        outline(path, "csv")


@pytest.mark.parametrize("content", [b"a" * 2**20, b"a\n" + b"b" * 2**21 + b"\n"])
def test_a_line_that_is_too_long_is_told_as_that(tmp_path, content):
    path = tmp_path / "abc"
    path.write_bytes(content)
    with pytest.raises(ServiceError, match=r"N008 .*1,048,576 bytes"):
        outline(path, "csv")
