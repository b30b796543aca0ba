"""Files of file systems that fsspec opens are copied, and no secret is told."""

from importlib import import_module

import pytest

from policy_engine.data.places import other_systems
from policy_engine.data.places.copies import copying
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError

pytest.importorskip("fsspec")


@pytest.fixture
def system(monkeypatch):
    """A file system in memory that stands for one behind sftp://."""
    from fsspec.implementations.memory import MemoryFileSystem

    class Remote(MemoryFileSystem):
        protocol = "sftp"
        cachable = False
        store, pseudo_dirs = {}, [""]

        @classmethod
        def _strip_protocol(cls, path):
            _, is_url, rest = str(path).partition("://")
            return f"/{rest.partition('/')[2]}" if is_url else f"/{str(path).strip('/')}"

    registry = import_module("fsspec.registry")._registry
    monkeypatch.setitem(registry, "sftp", Remote)
    return Remote()


def test_a_file_is_copied_and_gone_behind_the_block(system):
    system.pipe_file("/kept/people.csv", b"name\nAnn\n")
    with copying() as copy:
        path = copy("sftp://ann:secret@host/kept/people.csv")
        assert (path.name, path.read_bytes()) == ("people.csv", b"name\nAnn\n")
    assert not path.exists()


def test_the_data_files_of_a_folder_are_copied(system):
    for name in ("year=2020/a.csv", "year=2021/b.csv", "_SUCCESS"):
        system.pipe_file(f"/people.csv/{name}", b"name\nAnn\n")
    with copying() as copy:
        table = read_table(copy("sftp://host/people.csv"))
    assert table.to_pydict() == {"name": ["Ann"] * 2, "year": ["2020", "2021"]}


@pytest.mark.usefixtures("system")
def test_what_is_not_there_is_told_and_no_secret():
    with copying() as copy, pytest.raises(DataError, match="C002") as caught:
        copy("sftp://ann:secret@host/none.csv")
    assert "secret" not in str(caught.value)


def test_errors_of_a_system_are_told_by_their_kind(system, monkeypatch):
    system.pipe_file("/people.csv", b"name\n")

    def fail(*_, **__):
        raise RuntimeError("the password is secret")

    monkeypatch.setattr(type(system), "get_file", fail)
    with copying() as copy, pytest.raises(DataError, match=r"C019 .*\(RuntimeError\)") as caught:
        copy("sftp://ann:secret@host/people.csv")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("sftp://host/a.csv::https://host/a.csv", "C019"),
        ("ftp://host/a.csv", "C019"),
        ("oss://bucket/a.csv", "C011"),
    ],
)
def test_other_places_are_refused(place, code):
    with copying() as copy, pytest.raises(DataError) as caught:
        copy(place)
    assert caught.value.code == code


def test_without_fsspec_the_way_to_get_it_is_told(monkeypatch):
    monkeypatch.setattr(other_systems, "find_spec", lambda _: None)
    with copying() as copy, pytest.raises(DataError, match="C011") as caught:
        copy("sftp://host/a.csv")
    assert "policy-engine[remote]" in caught.value.problems[0].hint
