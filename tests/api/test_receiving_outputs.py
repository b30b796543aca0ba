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
