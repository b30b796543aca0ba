"""The trust file of a service: what changes it is noticed, whatever times it is given."""

import os

from signing import key_of, trust_text

from policy_engine.service.resources.kept_trust import KeptTrust


def test_a_file_that_is_changed_in_its_place_with_its_old_time_is_another_one(tmp_path):
    path = tmp_path / "trust.json"
    first, second = (
        trust_text({"key": key_of(number).public.did, "outputs": ["*"]}) for number in (1, 2)
    )
    assert len(first) == len(second)
    path.write_text(first)
    kept, before = KeptTrust(path), path.stat()
    state = kept.state()
    assert kept.state() == state
    path.write_text(second)
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # the clock of the file system ticks
        path.write_text(second)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert kept.state() != state
    path.unlink()
    assert kept.state() is None
