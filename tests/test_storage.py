import hashlib
from pathlib import Path

import pytest
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

from policy_engine import storage
from policy_engine.errors import DataError, OutputError

BUCKET = "s3a://bucket"


@pytest.fixture(params=["here", "there", "there, without renames"])
def root(request, tmp_path, monkeypatch):
    """A folder on this machine, or the same one as if it were a store behind a URI."""
    if request.param == "here":
        return tmp_path
    system = SubTreeFileSystem(str(tmp_path), LocalFileSystem())
    opened = lambda location: (system, location.removeprefix(BUCKET).lstrip("/"))  # noqa: E731
    monkeypatch.setattr(storage, "_opened", opened)
    if "without" in request.param:
        monkeypatch.setattr(storage, "can_rename", lambda _location: False)
    return BUCKET


def filled(root):
    folder = storage.join(root, "data")
    storage.make_folder(storage.join(folder, "part=1"))
    for name in ("b.csv", "a.csv", "_SUCCESS", ".a.csv.crc", "part=1/c.csv"):
        storage.write_bytes(storage.join(folder, name), name.encode())
    return folder


@pytest.mark.parametrize(
    ("location", "is_remote"),
    [
        *((uri, True) for uri in ("hdfs://host:8020/a", "s3a://b/k", "gs://b", "hdfs:/a")),
        *((path, False) for path in ("a.csv", "/a/b", "C:/a", "file:/a", "file:///a", "table:t")),
        (Path("s3a://b"), False),
    ],
)
def test_is_remote_tells_uris_from_paths(location, is_remote):
    assert storage.is_remote(location) == is_remote


@pytest.mark.parametrize("location", ["/a b/100%", "file:/a b/100%", "file:///a b/100%"])
def test_a_local_path_is_taken_as_it_is_written(location):
    assert storage.local_path(location) == Path("/a b/100%")


@pytest.mark.parametrize(
    ("location", "parent", "name"),
    [
        ("s3a://b/k/f.csv", "s3a://b/k", "f.csv"),
        ("s3a://b/k/", "s3a://b", "k"),
        ("s3a://b", "s3a://b", "b"),
        (Path("/a/b"), Path("/a"), "b"),
    ],
)
def test_a_location_has_a_parent_and_a_name(location, parent, name):
    assert (storage.parent(location), storage.name(location)) == (parent, name)


def test_what_is_written_is_there_until_it_is_removed(root):
    folder = filled(root)
    assert storage.is_folder(folder)
    assert not storage.is_folder(storage.join(folder, "a.csv"))
    assert storage.read_bytes(storage.join(folder, "a.csv")) == b"a.csv"
    with pytest.raises(OSError, match="empty"):
        storage.remove_empty(folder)
    for _ in range(2):
        storage.remove(folder)
        assert not storage.exists(folder)


def test_data_files_are_those_that_spark_reads(root):
    folder = filled(root)
    assert storage.data_files(folder) == ("a.csv", "b.csv", "part=1/c.csv")
    assert storage.names(folder) == (".a.csv.crc", "_SUCCESS", "a.csv", "b.csv", "part=1")


def test_the_digest_of_a_folder_is_that_of_what_sha256sum_prints(root):
    folder = filled(root)
    names = ("a.csv", "b.csv", "part=1/c.csv")
    lines = [f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n" for name in names]
    assert storage.digest(folder) == hashlib.sha256("".join(lines).encode()).hexdigest()
    one = storage.join(folder, "a.csv")
    assert storage.digest(one) == hashlib.sha256(b"a.csv").hexdigest()


@pytest.mark.parametrize("name", ["data", "data/a.csv"])
def test_a_move_takes_everything_along(root, name):
    filled(root)
    source, target = storage.join(root, name), storage.join(root, "moved")
    before = storage.digest(source)
    storage.move(source, target)
    assert storage.digest(target) == before
    assert not storage.exists(source)


def test_what_fails_is_told_in_one_line(tmp_path):
    with pytest.raises(DataError, match=r"C003 .* read: No such file"), storage.reading("here"):
        storage.read_bytes(tmp_path / "none")
    with pytest.raises(OutputError, match=r"O002 .* No such file"), storage.writing("here"):
        storage.write_bytes(tmp_path / "no" / "none", b"")
    with pytest.raises(DataError) as caught, storage.reading("here"):
        storage.exists("nowhere://host/a")
    assert caught.value.problems[0].code == "C003"
    assert "\n" not in str(caught.value)
