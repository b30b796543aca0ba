import os
import shutil
import subprocess

import pytest

from policy_engine.errors import ServiceError
from policy_engine.service.files.folder import FileFolder


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "a.b", "x\0", "é"])
def test_no_name_from_outside_is_a_path(tmp_path, name):
    with pytest.raises(ServiceError, match="N003"):
        FileFolder(tmp_path).part(name)


def test_a_file_that_the_disk_has_no_room_for_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 50, 50))
    with pytest.raises(ServiceError, match="N008"):
        FileFolder(tmp_path).check_space(100)


def test_a_file_that_is_kept_is_written_no_more(tmp_path):
    files = FileFolder(tmp_path)
    with files.appending("abc", 0) as file:
        file.write(b"x\n1\n")
    name = files.name("abc", "csv")
    files.keep("abc", name)
    assert files.path(name).stat().st_mode & 0o777 == 0o400
    assert files.part("abc").read_bytes() == b"x\n1\n"
    files.keep("abc", name)
    files.forget_part("abc")
    assert files.path(name).read_bytes() == b"x\n1\n"
    assert (files.blobs.names(), files.parts()) == ({name}, set())


def kept(files, upload, content):
    with files.appending(upload, 0) as file:
        file.write(content)
    name = files.name(upload, "csv")
    files.keep(upload, name)
    return name


def test_a_file_that_is_read_is_there_until_the_end_and_its_place_tells_no_digest(tmp_path):
    files = FileFolder(tmp_path)
    name = kept(files, "abc", b"x\n1\n")
    with files.reading(lambda: {"a": name}) as held:
        files.forget(name)
        assert held["a"].read_bytes() == b"x\n1\n"
        assert name.partition(".")[0] not in str(held["a"])
    assert [*(tmp_path / "reading").iterdir()] == []


def test_a_file_that_is_replaced_before_it_is_read_is_looked_for_again(tmp_path):
    files = FileFolder(tmp_path)
    names = iter([f"{'0' * 64}.csv", kept(files, "abc", b"x\n2\n")])
    with files.reading(lambda: {"a": next(names)}) as held:
        assert held["a"].read_bytes() == b"x\n2\n"


def test_a_file_that_is_lost_is_told_at_once(tmp_path):
    files, names = FileFolder(tmp_path), []

    def find():
        names.append(f"{'0' * 64}.csv")
        return {"a": names[0]}

    with pytest.raises(ServiceError, match="N013"), files.reading(find):
        pass
    assert len(names) == 2


def test_what_a_process_left_that_was_ended_is_removed(tmp_path):
    files = FileFolder(tmp_path)
    for one in ("1-ab", "12-ab"):
        (tmp_path / "reading" / one).mkdir(parents=True)
    files.forget_readings(1)
    assert [one.name for one in (tmp_path / "reading").iterdir()] == ["12-ab"]
    files.forget_readings()
    assert [*(tmp_path / "reading").iterdir()] == []


def test_what_processes_leave_that_ended_is_removed_and_nothing_of_living_ones(tmp_path):
    files = FileFolder(tmp_path)
    own, ended = files.new_spill(), subprocess.Popen(["true"])
    ended.wait()
    for one in (tmp_path / "reading" / f"{ended.pid}-ab", own.with_name(f"{ended.pid}-cd")):
        one.mkdir(parents=True)
        (one / "0.csv").write_text("x")
    living = tmp_path / "reading" / f"{os.getpid()}-ab"
    living.mkdir()
    files.forget_ended()
    assert [*living.parent.iterdir()] == [living]
    assert [*own.parent.iterdir()] == [own]
    assert own.stat().st_mode & 0o777 == 0o700
    files.forget_spills()
    assert not own.exists()
