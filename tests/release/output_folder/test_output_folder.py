"""Folders of outputs: what leaves, what a checker has to decide, and what was changed."""

import json
import os
from pathlib import Path

import pytest

from policy_engine.errors import LedgerError, OutputError, RequestError
from policy_engine.methods.output_checks.profiles import PROFILES
from policy_engine.release.output_folder.folder import (
    OutputFolder,
    check_vacant,
    stored_file,
    try_folder,
    write_folder,
)
from policy_engine.release.output_folder.model import (
    FolderEvidence,
    OutputEvidence,
    Submission,
    SubmittedOutput,
)
from policy_engine.release.output_folder.steps import OpenLog

VERDICT = {"outcome": "released", "reasons": {}}
FILES = {
    "outputs/a.csv": b"1\n",
    "outputs/b.csv": b".\n",
    "held/b.csv": b"2\n",
    "checker.html": b"<html>checker</html>",
}


def output(name, status, whole=()):
    files = (stored_file(f"outputs/{name}.csv", FILES[f"outputs/{name}.csv"]),)
    held = tuple(stored_file(path, FILES[path]) for path in whole)
    return SubmittedOutput(
        name=name,
        kind="table",
        request="r",
        status=status,
        verdict=VERDICT,
        files=files,
        whole=held,
    )


@pytest.fixture
def folder(tmp_path):
    outputs = (output("a", "released"), output("b", "review", ["held/b.csv"]))
    submission = Submission(check="sacro 1.0", outputs=outputs)
    known = tuple(OutputEvidence(name=one.name, verdict=VERDICT) for one in outputs)
    evidence = FolderEvidence(check=PROFILES["sacro"].model_dump(mode="json"), outputs=known)
    write_folder(tmp_path / "folder", submission, evidence, FILES, by="rita")
    return tmp_path / "folder"


def words(folder):
    return {one.output.name: one.word for one in OutputFolder.read(folder).standings()}


def test_nothing_leaves_while_an_output_is_open(folder, tmp_path):
    assert words(folder) == {"a": "released", "b": "open"}
    with pytest.raises(LedgerError, match=r"K028.*'b'"):
        OutputFolder.read(folder).release(tmp_path / "out", by="carl")
    assert not (tmp_path / "out").exists()


def test_what_is_accepted_leaves_as_it_was_held(folder, tmp_path):
    OutputFolder.read(folder).decide("b", accepts=True, reason="Public.", by="carl")
    released = OutputFolder.read(folder).release(tmp_path / "out", by="carl")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == {
        "a.csv": b"1\n",
        "b.csv": b"2\n",
    }
    assert set(released) == {"a.csv", "b.csv"}
    states = [one.state for one in OutputFolder.read(folder).log.entries()]
    assert states == ["submitted", "accepted", "released"]


def test_what_is_rejected_stays_and_the_last_decision_counts(folder, tmp_path):
    for accepts in (True, False):
        OutputFolder.read(folder).decide("b", accepts=accepts, reason="Looked again.", by="carl")
    OutputFolder.read(folder).release(tmp_path / "out", by="carl")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.csv"]
    with pytest.raises(LedgerError, match="K028"):
        OutputFolder.read(folder).decide("a", accepts=False, reason="Late.", by="carl")


def test_of_final_decisions_the_first_one_counts(folder):
    first, second = OutputFolder.read(folder), OutputFolder.read(folder)
    first.decide("b", accepts=False, reason="Never.", by="carl", is_final=True)
    for accepts in (True, False):
        with pytest.raises(LedgerError, match=r"K028.*rejected already"):
            second.decide("b", accepts=accepts, reason="Fine.", by="sue", is_final=True)
    assert words(folder)["b"] == "rejected"


@pytest.mark.parametrize(("reason", "by"), [("", "carl"), ("Fine.", " ")])
def test_a_decision_has_a_reason_and_a_person(folder, reason, by):
    with pytest.raises(LedgerError, match="K028"):
        OutputFolder.read(folder).decide("b", accepts=True, reason=reason, by=by)


def test_a_decision_about_an_unknown_output_is_refused(folder):
    with pytest.raises(LedgerError, match=r"K028.*'c'.*'a' and 'b'"):
        OutputFolder.read(folder).decide("c", accepts=True, reason="x", by="carl")


@pytest.mark.parametrize("name", ["outputs.json", "evidence.json", "checker.html"])
def test_what_is_said_of_outputs_cannot_be_changed(folder, name):
    text = (folder / name).read_text()
    (folder / name).write_text(text.replace("review", "released").replace("10", "2"))
    (folder / name).write_text((folder / name).read_text() + " ")
    with pytest.raises(LedgerError, match=f"K027.*{name}"):
        OutputFolder.read(folder)


def test_a_file_that_was_changed_neither_is_accepted_nor_leaves(folder, tmp_path):
    (folder / "held" / "b.csv").write_bytes(b"3\n")
    with pytest.raises(LedgerError, match=r"K027.*held/b.csv"):
        OutputFolder.read(folder).decide("b", accepts=True, reason="x", by="carl")
    (folder / "held" / "b.csv").write_bytes(b"2\n")
    OutputFolder.read(folder).decide("b", accepts=True, reason="x", by="carl")
    (folder / "outputs" / "a.csv").write_bytes(b"9\n")
    with pytest.raises(LedgerError, match=r"K027.*outputs/a.csv"):
        OutputFolder.read(folder).release(tmp_path / "out", by="carl")
    assert not (tmp_path / "out").exists()


def test_a_link_to_another_file_is_not_followed(folder, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"1\n")
    (folder / "outputs" / "a.csv").unlink()
    (folder / "outputs" / "a.csv").symlink_to(tmp_path / "a.csv")
    OutputFolder.read(folder).decide("b", accepts=False, reason="x", by="carl")
    with pytest.raises(LedgerError, match="K027"):
        OutputFolder.read(folder).release(tmp_path / "out", by="carl")


def test_a_log_that_was_changed_is_not_trusted(folder):
    import sqlite3

    OutputFolder.read(folder).decide("b", accepts=False, reason="Too small.", by="carl")
    with sqlite3.connect(folder / "steps.db") as connection:
        [entry] = connection.execute("SELECT entry FROM steps WHERE number = 2").fetchone()
        changed = json.loads(entry) | {"state": "accepted"}
        text = json.dumps(changed, sort_keys=True, separators=(",", ":"))
        connection.execute("UPDATE steps SET entry = ? WHERE number = 2", (text,))
    connection.close()
    with pytest.raises(LedgerError, match="K027"):
        OutputFolder.read(folder)


def test_steps_that_were_cut_off_are_missed_by_who_kept_the_head(folder, tmp_path):
    import sqlite3

    OutputFolder.read(folder).decide("b", accepts=True, reason="Fine.", by="carl")
    OutputFolder.read(folder).decide("b", accepts=False, reason="Too small.", by="dora")
    head = str(OutputFolder.read(folder).log.head)
    assert OutputFolder.read(folder, expect=head).standings()[1].word == "rejected"
    with sqlite3.connect(folder / "steps.db") as connection:
        connection.execute("DELETE FROM steps WHERE number = 3")
    connection.close()
    assert words(folder)["b"] == "accepted"
    with pytest.raises(LedgerError, match=r"K027.*does not contain the head 3:"):
        OutputFolder.read(folder, expect=head).release(tmp_path / "out", by="carl")
    with pytest.raises(RequestError, match="U001"):
        OutputFolder.read(folder, expect="no head")


def test_two_files_of_one_name_do_not_leave(tmp_path):
    files = {"outputs/a.csv": b"1\n", "held/A.csv": b"2\n"}
    first, second = (stored_file(path, content) for path, content in files.items())
    outputs = tuple(
        SubmittedOutput(
            name=name, kind="table", request="r", status="released", verdict=VERDICT, files=(one,)
        )
        for name, one in (("a", first), ("A", second))
    )
    submission = Submission(check="sacro 1.0", outputs=outputs)
    write_folder(tmp_path / "f", submission, FolderEvidence(check={}, outputs=()), files, by="rita")
    with pytest.raises(LedgerError, match=r"K028.*same name: 'a.csv'"):
        OutputFolder.read(tmp_path / "f").release(tmp_path / "out", by="carl")
    assert not (tmp_path / "out").exists()


def test_a_log_with_a_key_is_read_with_that_key_alone(tmp_path):
    submission = Submission(check="sacro 1.0", outputs=(output("a", "released"),))
    evidence = FolderEvidence(check={}, outputs=())
    write_folder(tmp_path / "f", submission, evidence, FILES, by="rita", key=b"k" * 32)
    assert OutputFolder.read(tmp_path / "f", b"k" * 32).standings()[0].word == "released"
    with pytest.raises(LedgerError):
        OutputFolder.read(tmp_path / "f", b"x" * 32)


def test_a_folder_that_is_not_empty_is_left_alone(folder):
    with pytest.raises(OutputError, match="O001"):
        write_folder(
            folder,
            Submission(check="x", outputs=()),
            FolderEvidence(check={}, outputs=()),
            {},
            by="x",
        )
    assert words(folder)["a"] == "released"


def test_a_folder_without_a_log_is_none(tmp_path):
    with pytest.raises(LedgerError, match="K027"):
        OutputFolder.read(tmp_path)


def test_a_page_or_a_file_that_is_gone_or_is_not_one_is_seen(folder):
    (folder / "checker.html").unlink()
    with pytest.raises(LedgerError, match=r"K027.*checker.html"):
        OutputFolder.read(folder)
    os.mkfifo(folder / "checker.html")
    with pytest.raises(LedgerError, match=r"K027.*checker.html"):
        OutputFolder.read(folder)


def test_a_file_that_was_changed_is_seen_by_who_reviews(folder):
    OutputFolder.read(folder).check_files()
    (folder / "held" / "b.csv").write_bytes(b"3\n")
    with pytest.raises(LedgerError, match=r"K027.*held/b.csv"):
        OutputFolder.read(folder).check_files()


def test_nothing_is_released_into_the_folder_that_is_checked(folder):
    OutputFolder.read(folder).decide("b", accepts=True, reason="x", by="carl")
    with pytest.raises(OutputError, match="O002"):
        OutputFolder.read(folder).release(folder / "outputs" / "z", by="carl")
    assert len(OutputFolder.read(folder).log.entries()) == 2


@pytest.mark.parametrize("is_logged", [True, False])
def test_what_is_released_is_in_the_log_before_it_is_seen(folder, tmp_path, monkeypatch, is_logged):
    OutputFolder.read(folder).decide("b", accepts=True, reason="x", by="carl")
    read = OutputFolder.read(folder)

    def fail(*_, **__):
        raise OSError("The power is off.")

    with monkeypatch.context() as patch:
        patch.setattr(*((Path, "rename") if is_logged else (OpenLog, "add")), fail)
        with pytest.raises((OutputError, LedgerError), match=r"O002|K027"):
            read.release(tmp_path / "out", by="carl")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    states = [one.state for one in OutputFolder.read(folder).log.entries()]
    assert states[2:] == (["released"] if is_logged else [])
    OutputFolder.read(folder).release(tmp_path / "out", by="carl")
    assert len([*(tmp_path / "out").iterdir()]) == 2


def test_a_folder_that_could_not_be_written_is_told_before(tmp_path):
    try_folder(tmp_path / "new", FILES)
    assert not [*tmp_path.iterdir()]
    with pytest.raises(OutputError, match="O002"):
        try_folder(tmp_path / "new", {f"outputs/{'x' * 300}.csv": b""})
    assert not [*tmp_path.iterdir()]


def test_a_link_that_leads_nowhere_is_not_a_place_for_a_folder(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(OutputError, match=r"O002.*leads nowhere"):
        check_vacant(tmp_path / "link")
