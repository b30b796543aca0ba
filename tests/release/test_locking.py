"""One run at a time makes a release in a folder."""

import os

import pytest
from building import DATASET

from policy_engine import apply_policy
from policy_engine.certificate.publication import Publication
from policy_engine.data import storage
from policy_engine.errors import OutputError
from policy_engine.release import locking
from policy_engine.release.locking import hold
from policy_engine.release.staging import CLAIM, LOCK


@pytest.fixture(params=["locks", "claims"])
def kind(request, monkeypatch):
    """Folders whose files can be locked, and those where they cannot."""

    def unsupported(_handle):
        raise locking._NoLocksError

    if request.param == "claims":
        monkeypatch.setattr(locking, "_lock", unsupported)
    monkeypatch.setattr(locking, "_PAUSE", 0.001)
    return request.param


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("kind")
def test_a_folder_is_held_by_one_at_a_time_and_nothing_stays(tmp_path):
    first = hold(tmp_path)
    assert len(names(tmp_path)) == 1
    with pytest.raises(OutputError, match="O001 Another run is making a release"):
        hold(tmp_path)
    assert first.is_kept()
    first.release()
    assert names(tmp_path) == []
    hold(tmp_path).release()


@pytest.mark.usefixtures("kind")
def test_who_waits_is_told_once_and_comes_next(tmp_path):
    first, told = hold(tmp_path), []

    def waiting():
        told.append("waiting")
        first.release()

    second = hold(tmp_path, waiting)
    assert told == ["waiting"]
    assert second.is_kept()
    second.release()


def test_locks_and_claims_see_each_other(tmp_path, monkeypatch):
    lock = hold(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(locking, "find_spec", lambda _name: None)
        with pytest.raises(OutputError, match="O001"):
            hold(tmp_path)
        lock.release()
        claim = hold(tmp_path)
    with pytest.raises(OutputError, match="O001"):
        hold(tmp_path)
    claim.release()
    assert names(tmp_path) == []


def test_a_claim_whose_run_may_be_dead_is_named_and_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(locking, "find_spec", lambda _name: None)
    hold(tmp_path)
    [left] = names(tmp_path)
    assert left.startswith(CLAIM)
    with pytest.raises(OutputError, match=rf"process {os.getpid()} of .* remove .*{left}"):
        hold(tmp_path)
    assert names(tmp_path) == [left]
    (tmp_path / left).unlink()
    hold(tmp_path).release()


def test_a_lock_that_a_killed_run_left_is_taken(tmp_path):
    (tmp_path / LOCK).touch()
    hold(tmp_path).release()
    assert names(tmp_path) == []


def test_a_lock_that_goes_away_while_it_is_taken_is_made_anew(tmp_path, monkeypatch):
    lock, is_first = locking._lock, [True]

    def slow(handle):
        if is_first.pop() if is_first else False:
            (tmp_path / LOCK).unlink()
        return lock(handle)

    monkeypatch.setattr(locking, "_lock", slow)
    held = hold(tmp_path)
    assert held.is_kept()
    held.release()


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path):
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"):
        hold(tmp_path)
    assert names(tmp_path) == [LOCK]


@pytest.mark.parametrize(("folder_mode", "mode"), [(0o755, 0o600), (0o775, 0o660), (0o777, 0o666)])
def test_who_may_write_into_the_folder_may_lock_it(tmp_path, folder_mode, mode):
    tmp_path.chmod(folder_mode)
    held = hold(tmp_path)
    assert (tmp_path / LOCK).stat().st_mode & 0o777 == mode
    held.release()


@pytest.mark.usefixtures("kind")
def test_a_second_run_is_told_and_the_first_keeps_what_it_staged(released):
    out = released / "out"
    data = {DATASET: released / "people.csv"}
    with Publication(out / "a.csv", overwrite=False) as first:
        first.staged.write_text("x")
        with pytest.raises(OutputError, match="O001 Another run"):
            apply_policy(released / "policy.jsonld", data, out / "b.csv", overwrite=True)
        assert first.staged.read_text() == "x"
    assert not out.exists()


@pytest.mark.usefixtures("kind")
def test_a_run_waits_for_another_where_it_is_asked_to(people):
    out, told = people / "out" / "a.csv", []
    first = Publication(out, overwrite=False)
    first.__enter__()

    def progress(stage, _done, _total):
        told.append(stage)
        if stage.startswith("waiting"):
            first.__exit__(None, None, None)

    data = {DATASET: people / "people.csv"}
    apply_policy(people / "policy.jsonld", data, out, wait=True, progress=progress)
    assert told.count("waiting for another run") == 1
    assert names(people / "out") == ["a.csv", "certificate.jsonld"]


@pytest.mark.usefixtures("kind")
def test_a_run_whose_lock_was_removed_publishes_nothing(people):
    out = people / "out"
    with Publication(out / "a.csv", overwrite=False) as place:
        place.staged.write_text("x")
        for name in names(out):
            if name == LOCK or name.startswith(CLAIM):
                (out / name).unlink()
        with pytest.raises(OutputError, match="O001 The lock of"):
            place.publish(None)
    assert not out.exists()


def test_a_store_is_held_by_claims(tmp_path, monkeypatch):
    from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

    system = SubTreeFileSystem(str(tmp_path), LocalFileSystem())
    monkeypatch.setattr(storage, "_file_system", lambda place: (system, place.partition("//")[2]))
    (tmp_path / "out").mkdir()
    first = hold("s3a://out")
    with pytest.raises(OutputError, match=r"O001 .* remove 's3a://out/"):
        hold("s3a://out")
    first.release()
    assert names(tmp_path / "out") == []


@pytest.mark.usefixtures("kind")
def test_a_folder_that_cannot_be_listed_is_given_back(tmp_path, monkeypatch):
    def denied(_folder):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(storage, "names", denied)
        with pytest.raises(PermissionError):
            hold(tmp_path)
    assert names(tmp_path) == []
    hold(tmp_path).release()


def test_a_claim_that_cannot_be_written_is_taken_back(tmp_path, monkeypatch):
    def full(place, _data):
        place.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(storage, "write_bytes", full)
        with pytest.raises(OSError, match="No space left"):
            locking._Claim(tmp_path)
    assert names(tmp_path) == []
