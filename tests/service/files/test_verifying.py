import hashlib
import os

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
