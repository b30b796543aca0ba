"""What a killed writer left at the end of a log, told from what was damaged."""

import os

import pytest

from policy_engine.decision.log import pending
from policy_engine.decision.log.pending import complete_size, pending_note

WHOLE, NEW = b"first\nsecond\n", b"third entry\n"
NOTE = b"%d\n%b" % (len(WHOLE), NEW)


def size(tmp_path, text, note=None):
    path = tmp_path / "log.jsonl"
    path.write_bytes(text)
    if note is not None:
        path.with_name("log.jsonl.pending").write_bytes(note)
    number = os.open(path, os.O_RDONLY)
    try:
        return complete_size(path, number)
    finally:
        os.close(number)


@pytest.mark.parametrize("torn", [b"t", b"third ent"])
def test_the_beginning_of_the_entry_that_was_noted_is_none(tmp_path, torn):
    assert size(tmp_path, WHOLE + torn, NOTE) == len(WHOLE)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (b"", NOTE),
        (WHOLE, NOTE),
        (WHOLE + NEW, NOTE),
        (WHOLE + b"thi", None),
        (WHOLE + b"thx", NOTE),
        (WHOLE + b"third entry and more", NOTE),
        (WHOLE + b"thi", b"%d\n%b" % (len(WHOLE) - 1, NEW)),
        (WHOLE + b"thi", b"-1\n%b" % NEW),
        (WHOLE + b"thi", b"99\n%b" % NEW),
        (WHOLE + b"thi", b"x\n"),
        (WHOLE + b"thi", b""),
    ],
    ids=str,
)
def test_whatever_else_stands_there_is_left_to_be_told(tmp_path, text, note):
    assert size(tmp_path, text, note) == len(text)


@pytest.mark.parametrize(
    ("before", "length", "is_noted"), [(0, 16, False), (0, 17, True), (15, 1, False), (15, 2, True)]
)
def test_an_entry_is_noted_where_a_kill_could_tear_it(
    tmp_path, monkeypatch, before, length, is_noted
):
    monkeypatch.setattr(pending, "_PAGE", 16)
    path, data = tmp_path / "log.jsonl", b"x" * length
    note = path.with_name("log.jsonl.pending")
    with pending_note(path, before, data):
        assert note.exists() == is_noted
        assert not is_noted or note.read_bytes() == b"%d\n%b" % (before, data)
        assert not is_noted or note.stat().st_mode & 0o077 == 0
    assert not note.exists()
