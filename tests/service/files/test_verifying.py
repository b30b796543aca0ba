import hashlib
import os
from pathlib import Path
from types import SimpleNamespace

from policy_engine.service.files import verifying
from policy_engine.service.files.verifying import VerifiedFiles

CONTENT = b"a,b\n1,2\n"


def test_a_file_is_read_again_only_once_it_has_changed(tmp_path, monkeypatch):
    path = tmp_path / f"{hashlib.sha256(CONTENT).hexdigest()}.csv"
    path.write_bytes(CONTENT)
    readings = []
    real = verifying.digest_of_file
    monkeypatch.setattr(verifying, "digest_of_file", lambda one: readings.append(one) or real(one))
    files = VerifiedFiles()
    assert files.has(path)
    assert files.has(path)
    assert len(readings) == 1
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(1, 1))
    assert not files.has(path)
    assert not files.has(path)
    path.write_bytes(CONTENT)
    assert files.has(path)
    assert len(readings) == 4


def test_a_time_that_was_set_back_does_not_hide_a_change(tmp_path, monkeypatch):
    """Whoever changes a file in its place can set back its time of change, but not that of that."""
    path = tmp_path / f"{hashlib.sha256(CONTENT).hexdigest()}.csv"
    path.write_bytes(CONTENT)
    files = VerifiedFiles()
    assert files.has(path)
    before = path.stat()
    path.write_bytes(CONTENT[::-1])
    names = ("st_size", "st_mtime_ns", "st_dev", "st_ino")
    status = {name: getattr(before, name) for name in names}
    status["st_ctime_ns"] = before.st_ctime_ns + 1
    monkeypatch.setattr(Path, "stat", lambda _self: SimpleNamespace(**status))
    assert not files.has(path)
