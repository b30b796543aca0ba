import pytest

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
