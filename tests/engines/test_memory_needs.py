import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from applying import applied

from policy_engine.engines import memory_needs
from policy_engine.engines.memory_needs import held_in_memory, least_memory
from policy_engine.errors import DataError

TABLE = pa.table({"age": pa.array([20, 21] * 500, pa.int64()), "name": ["Ann", "Ben"] * 500})


@pytest.fixture
def path(tmp_path):
    pq.write_table(TABLE, tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def test_integers_take_eight_bytes_and_texts_four_at_least(path):
    assert least_memory(path, ("age", "name")) == 1000 * 8 + 1000 * 4
    assert least_memory(path, ("age",)) == 8000 <= TABLE.select(["age"]).nbytes


def test_of_csv_half_of_what_is_estimated_is_sure(tmp_path):
    (tmp_path / "people.csv").write_text("a,b\n" + "1,2\n" * 1000)
    assert least_memory(tmp_path / "people.csv", ("a", "b")) == 1000 * 4 * 2 // 2
    assert least_memory(tmp_path / "none.csv", ("a",)) == 0


def test_a_folder_takes_what_its_files_do(tmp_path):
    folder = tmp_path / "people.parquet"
    folder.mkdir()
    for name in "ab":
        pq.write_table(TABLE, folder / f"{name}.parquet")
    assert least_memory(folder, ("age",)) == 2 * 8000


def test_a_table_that_is_too_large_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr(memory_needs, "available_memory", lambda: 7999)
    with pytest.raises(DataError, match=r"R011 .*--engine spark"):
        applied(str(path), method="k-anonymity", k=2, quasi=["age"])
    monkeypatch.setattr(memory_needs, "available_memory", lambda: 8000)
    assert applied(str(path), method="k-anonymity", k=2, quasi=["age"]).table.num_rows == 1000


def test_memory_that_is_used_up_meanwhile_is_told(path):
    with pytest.raises(DataError, match=r"R011 .*needs more"), held_in_memory(path, ("age",)):
        raise MemoryError
