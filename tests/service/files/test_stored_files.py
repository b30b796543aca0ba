import shutil

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
    path = files.path(files.keep("abc", "csv"))
    assert path.stat().st_mode & 0o777 == 0o400
    assert not files.part("abc").exists()
