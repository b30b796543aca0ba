"""Folders that were made elsewhere, as who reviews them receives and sees them."""

import io
import shutil
from pathlib import Path

import pytest

from policy_engine.api.checking_outputs import check_tables
from policy_engine.api.receiving_outputs import preview_tables, receive_outputs
from policy_engine.errors import LedgerError
from policy_engine.release.output_folder.folder import OutputFolder


@pytest.fixture
def archive(tmp_path):
    (tmp_path / "one.csv").write_text("region,n\nnorth,70\nsouth,44\n")
    check_tables(tmp_path / "one.csv", profile="sacro", out=tmp_path / "sent", by="rita")
    path = shutil.make_archive(str(tmp_path / "sent"), "zip", tmp_path / "sent")
    return io.BytesIO(Path(path).read_bytes())


def test_what_is_received_has_a_log_of_its_own(archive, tmp_path):
    key = b"k" * 32
    receive_outputs(archive, tmp_path / "received", by="person-1", key=key)
    read = OutputFolder.read(tmp_path / "received", key)
    [first] = read.log.entries()
    assert (first.by, first.chain) == ("person-1", "hmac-sha-256")
    read.decide("one", accepts=True, reason="Published.", by="carl")
    assert set(read.hand_out(by="person-1")) == {"one.csv"}
    assert read.log.entries()[-1].state == "released"
    read.hand_out(by="person-1")
    assert len(read.log.entries()) == 3


def test_what_says_that_it_is_released_waits_for_a_person_all_the_same(tmp_path):
    (tmp_path / "two.csv").write_text("region,n\nnorth,70\nsouth,44\n")
    checked = check_tables(
        tmp_path / "two.csv", profile="sacro", kind="counts", out=tmp_path / "sent", by="rita"
    )
    assert checked.is_released
    path = shutil.make_archive(str(tmp_path / "sent"), "zip", tmp_path / "sent")
    sent = io.BytesIO(Path(path).read_bytes())
    read = receive_outputs(sent, tmp_path / "received", by="rita")
    assert [one.word for one in read.standings()] == ["open"]
    with pytest.raises(LedgerError, match="K028"):
        read.hand_out(by="rita")
    read.decide("two", accepts=True, reason="Enough persons.", by="carl")
    assert read.hand_out(by="rita")["two.csv"].startswith(b"region,")


def test_tables_are_seen_as_they_may_leave(archive, tmp_path):
    read = receive_outputs(archive, tmp_path / "received", by="rita")
    [output] = read.submission.outputs
    [held] = preview_tables(read, output.whole)
    assert (held.columns, held.rows[0], held.is_cut) == (
        ("region", "totals"),
        ("north", "70.0"),
        False,
    )


@pytest.fixture
def preview(archive, tmp_path):
    """Return a function that gives the preview of a table whose file has some content."""
    read = receive_outputs(archive, tmp_path / "received", by="rita")
    [output] = read.submission.outputs
    [file] = output.whole

    def previewed(content):
        (read.folder / file.path).write_bytes(content)
        [table] = preview_tables(read, output.whole)
        assert table.path == file.path
        return table

    return previewed


@pytest.mark.parametrize("content", [b"", b"a\n" + b"x" * 200_000 + b"\n", b"a" * 2_000_000])
def test_a_table_that_cannot_be_shown_is_said_to_be_so(preview, content):
    table = preview(content)
    assert (table.is_unreadable, table.is_cut, table.rows) == (True, True, ())


def test_of_large_tables_the_beginning_is_shown(preview):
    wide = preview(b"h\n" + b",".join([b"7"] * 300) + b"\n")
    assert (len(wide.rows[0]), wide.is_cut, wide.is_unreadable) == (100, True, False)
    long = preview(b"h\n" + b"7\n" * 500)
    assert (len(long.rows), long.is_cut) == (200, True)
    heavy = preview(b"h\n" + (b"7" * 9_000 + b"\n") * 100)
    assert 0 < len(heavy.rows) < 100
    assert heavy.is_cut
    assert {len(cell) for [cell] in heavy.rows} == {9_000}


def test_tables_beyond_the_first_ones_are_files(preview, monkeypatch):
    monkeypatch.setattr("policy_engine.api.receiving_outputs._MOST_TABLES", 0)
    assert preview(b"a\n1\n").is_unreadable
