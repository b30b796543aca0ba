import hashlib
import os
from pathlib import Path

import pytest
from building import people_policy
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem
from typer.testing import CliRunner

from policy_engine.cli import app
from policy_engine.data import storage
from policy_engine.errors import DataError, OutputError

BUCKET = "s3a://bucket"


@pytest.fixture(params=["here", "there", "there, without renames"])
def root(request, tmp_path, monkeypatch):
    """A folder on this machine, or the same one as if it were a store behind a URI."""
    if request.param == "here":
        return tmp_path
    system = SubTreeFileSystem(str(tmp_path), LocalFileSystem())
    opened = lambda location: (system, location.removeprefix(BUCKET).lstrip("/"))  # noqa: E731
    monkeypatch.setattr(storage, "_file_system", opened)
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
    with pytest.raises(DataError, match=r"C003 .* read: No such file"), storage.read_errors("here"):
        storage.read_bytes(tmp_path / "none")
    with pytest.raises(OutputError, match=r"O002 .* No such file"), storage.write_errors("here"):
        storage.write_bytes(tmp_path / "no" / "none", b"")
    with pytest.raises(DataError) as caught, storage.read_errors("here"):
        storage.exists("nowhere://host/a")
    assert caught.value.problems[0].code == "C003"
    assert "\n" not in str(caught.value)


def test_the_name_of_a_file_cannot_stand_for_two_lines_of_the_manifest():
    two = storage.manifest_digest({"a": "0" * 64, "b": "1" * 64})
    one = storage.manifest_digest({f"a\n{'1' * 64}  b": "0" * 64})
    assert one != two
    assert storage.manifest_digest({"a\\nb": "0" * 64}) != storage.manifest_digest(
        {"a\nb": "0" * 64}
    )


CHANGES = {
    "a hidden file": lambda root: (root / ".a").write_text("x"),
    "a file with an underscore": lambda root: (root / "_a").write_text("x"),
    "a file of no bytes": lambda root: (root / "none").touch(),
    "an empty folder": lambda root: (root / "b").mkdir(),
    "a file in a hidden folder": lambda root: ((root / ".b").mkdir(), (root / ".b" / "c").touch()),
    "a file that is renamed": lambda root: (root / "data").rename(root / "date"),
    "a folder that is renamed": lambda root: (root / "empty").rename(root / "empti"),
    "a folder that is removed": lambda root: (root / "empty").rmdir(),
    "a file that becomes a folder": lambda root: ((root / "x").unlink(), (root / "x").mkdir()),
    "a file that moves": lambda root: (root / "data").rename(root / "empty" / "data"),
    "a file of another name in bytes": lambda root: (root / os.fsdecode(b"\xff")).touch(),
    "a name that holds a newline": lambda root: (root / "data").rename(root / "data\n"),
}


def small_folder(root):
    (root / "empty").mkdir(parents=True)
    (root / "data").write_text("x")
    (root / "x").touch()
    return root


@pytest.mark.parametrize("change", CHANGES)
def test_the_digest_of_a_whole_folder_changes_with_everything_in_it(tmp_path, change):
    first, other = small_folder(tmp_path / "one"), small_folder(tmp_path / "other")
    before = storage.tree_digest(first)
    assert storage.tree_digest(other) == before
    CHANGES[change](first)
    assert storage.tree_digest(first) != before


@pytest.mark.parametrize("target", ["data", "nowhere", "."])
def test_a_folder_with_a_link_has_no_digest(tmp_path, target):
    root = small_folder(tmp_path / "one")
    (root / "link").symlink_to(target)
    with pytest.raises(OSError, match="'link' is a link"):
        storage.tree_digest(root)


@pytest.mark.parametrize("target", ["data", "nowhere", ".", "empty"])
@pytest.mark.parametrize("place", ["link", "empty/link", ".link"])
def test_a_folder_of_tables_with_a_link_has_no_digest(tmp_path, target, place):
    root = small_folder(tmp_path / "one")
    assert storage.digest(root)
    (root / place).symlink_to(target)
    with pytest.raises(OSError, match=f"'{place}' in the folder is a link"):
        storage.digest(root)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["x.jsonld", "registry.json"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    pipe = tmp_path / "set" / name
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    (tmp_path / "p.jsonld").write_text(people_policy())
    asked = ["--assignee", "urn:Ann", "--target", "urn:T", "--policy"]
    for arguments in (
        ["validate", str(pipe)],
        ["validate", str(pipe.parent)],
        ["decide", *asked, str(pipe.parent)],
        ["decide", *asked, str(tmp_path / "p.jsonld"), "--world", str(pipe)],
        ["decide", *asked, str(tmp_path / "p.jsonld"), "--owners", str(pipe)],
        ["decide", *asked, str(tmp_path / "p.jsonld"), "--certificate", str(pipe)],
    ):
        found = CliRunner().invoke(app, arguments)
        assert "it is a pipe" in f"{found.output}{found.exception}", arguments
        assert found.exit_code != 0
