import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem
from served import service

from policy_engine.errors import ServiceError
from policy_engine.service.files.blobs import ArrowBlobs, LocalBlobs
from policy_engine.service.settings import ServiceSettings

CONTENT = b"a,b\n1,2\n" * 1000
NAME = f"{hashlib.sha256(CONTENT).hexdigest()}.csv"


@pytest.fixture(params=["folder", "arrow"])
def store(request, tmp_path):
    """Files that are kept in a folder, or by a file system of Arrow, with copies in another one."""
    if request.param == "folder":
        return LocalBlobs(tmp_path / "kept")
    return arrow_blobs(tmp_path)


def arrow_blobs(folder, copies="copies"):
    (folder / "far").mkdir(exist_ok=True)
    system = SubTreeFileSystem(str(folder / "far"), LocalFileSystem())
    return ArrowBlobs(system, "bucket", LocalBlobs(folder / copies))


def sent(store, folder, content=CONTENT):
    path = folder / "part"
    path.write_bytes(content)
    store.put(path, NAME)
    return path


def test_a_file_is_kept_found_and_removed(store, tmp_path):
    part = sent(store, tmp_path)
    assert store.names() == {NAME}
    part.unlink()
    assert store.path(NAME).read_bytes() == CONTENT
    assert store.path(NAME).stat().st_mode & 0o777 == 0o400
    sent(store, tmp_path).unlink()
    store.remove(NAME)
    assert store.names() == set()
    store.remove(NAME)
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == []


def test_who_has_no_copy_fetches_one_and_compares_it_with_its_digest(tmp_path):
    sent(arrow_blobs(tmp_path), tmp_path)
    other = arrow_blobs(tmp_path, "other")
    with ThreadPoolExecutor(4) as threads:
        paths = [*threads.map(lambda _: other.path(NAME), range(4))]
    assert {one.read_bytes() for one in paths} == {CONTENT}
    (tmp_path / "far" / "bucket" / "files" / NAME).write_bytes(CONTENT[:-1])
    third = arrow_blobs(tmp_path, "third")
    with pytest.raises(ServiceError, match="something else"):
        third.path(NAME)
    assert [*(tmp_path / "third").iterdir()] == []
    sent(arrow_blobs(tmp_path), tmp_path)  # what is not whole is sent again
    assert third.path(NAME).read_bytes() == CONTENT


def test_what_was_changed_behind_the_service_is_not_handed_out(store, tmp_path):
    sent(store, tmp_path)
    place = store.path(NAME)
    place.chmod(0o600)
    place.write_bytes(CONTENT[::-1])
    if isinstance(store, LocalBlobs):
        with pytest.raises(ServiceError, match="not what was uploaded"):
            store.path(NAME)
        place.unlink()
        with pytest.raises(ServiceError, match="N013"):
            store.path(NAME)
    else:  # another copy is fetched
        assert store.path(NAME).read_bytes() == CONTENT


def test_another_file_of_the_same_size_is_not_taken_for_the_one_that_is_sent(tmp_path):
    store = arrow_blobs(tmp_path)
    far = tmp_path / "far" / "bucket" / "files" / NAME
    far.parent.mkdir(parents=True)
    far.write_bytes(b"x" * len(CONTENT))
    sent(store, tmp_path)
    assert far.read_bytes() == CONTENT


class BrokenSystem:
    """A file system that fails in the middle of what is sent, with a key in what it says."""

    def __init__(self, system):
        self.system = system

    def __getattr__(self, name):
        return getattr(self.system, name)

    def move(self, *_):
        raise OSError("the key AKIA123 may not do this")


def test_what_breaks_off_is_not_there_and_no_key_is_told(tmp_path):
    whole = arrow_blobs(tmp_path)
    broken = ArrowBlobs(BrokenSystem(whole.system), "bucket", whole.copies)
    with pytest.raises(ServiceError, match="N013") as caught:
        sent(broken, tmp_path)
    assert "AKIA" not in str(caught.value)
    assert (tmp_path / "part").exists()  # to be completed again
    with pytest.raises(ServiceError, match="N013"):
        arrow_blobs(tmp_path, "other").path(NAME)


@pytest.mark.parametrize(
    "url", ["far", "s3://KEY:hunter2@bucket/a", "s3://bucket/a?secret_key=hunter2", "odd://a/b"]
)
def test_a_storage_is_a_url_without_credentials(tmp_path, url):
    with pytest.raises(ServiceError, match="N012") as caught, service(tmp_path, storage=url):
        pass
    assert "hunter2" not in str(caught.value)


def test_the_settings_say_where_files_are():
    assert ServiceSettings(folder=".", storage="s3://bucket/a").storage == "s3://bucket/a"
