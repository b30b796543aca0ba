"""Every step of a publication: done again, undone, or never reached, it leaves a whole release."""

import json
import os
from collections import defaultdict
from contextlib import suppress
from itertools import count
from types import SimpleNamespace

import pytest
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

from policy_engine.certificate.publication import journal
from policy_engine.certificate.publication.journal import (
    CertifiedPair,
    CopiedPart,
    Journal,
    JournalPart,
    discard,
    find_journal,
    sweep,
)
from policy_engine.data import storage
from policy_engine.errors import OutputError, Problem
from policy_engine.release.staging import BACK, CERTIFICATE, JOURNAL, OLD, STAGING

STAGED = f"{STAGING}{'0' * 32}"
PAIRS = (
    CertifiedPair(CERTIFICATE, "a.csv"),
    CertifiedPair(f"b.csv.{CERTIFICATE}", "b.csv"),
    CertifiedPair(f"c.csv.{CERTIFICATE}"),  # refused: there is no output
)
NAMES = [name for pair in PAIRS for name in (pair.certificate, pair.file) if name]


def placed(root, **texts):
    """Put texts in the places of a part, and return the part's places."""
    for name, text in texts.items():
        (root / name).write_text(text)
    return (f"file:{root}/{name}" for name in ("staged", "place", "kept"))


def state(root):
    return {path.name: path.read_text() for path in root.iterdir()}


@pytest.mark.parametrize(
    ("kind", "step", "replaces", "before", "after"),
    [
        (JournalPart, "take_out", True, "staged=new place=old", "staged=new kept=old"),
        (JournalPart, "take_out", True, "place=new kept=old", "place=new kept=old"),
        (JournalPart, "take_out", True, "staged=new kept=old", "staged=new kept=old"),
        (JournalPart, "take_out", False, "staged=new place=foreign", "staged=new place=foreign"),
        (JournalPart, "put_in", True, "staged=new kept=old", "place=new kept=old"),
        (JournalPart, "put_in", True, "place=new kept=old", "place=new kept=old"),
        (JournalPart, "take_back", True, "place=new kept=old", "staged=new kept=old"),
        (JournalPart, "take_back", True, "staged=new place=old", "staged=new place=old"),
        (JournalPart, "take_back", True, "kept=old", "kept=old"),
        (JournalPart, "put_back", True, "staged=new kept=old", "staged=new place=old"),
        (JournalPart, "put_back", True, "staged=new place=old", "staged=new place=old"),
        (CopiedPart, "keep", True, "staged=new place=old", "staged=new place=old kept=old"),
        (CopiedPart, "keep", False, "staged=new", "staged=new"),
        (CopiedPart, "take_out", True, "staged=new place=old kept=old", "staged=new kept=old"),
        (CopiedPart, "take_out", False, "staged=new place=part", "staged=new"),
        (CopiedPart, "take_out", True, "place=new", "place=new"),
        (CopiedPart, "put_in", True, "staged=new", "staged=new place=new"),
        (CopiedPart, "put_in", True, "place=new", "place=new"),
        (CopiedPart, "take_back", False, "staged=new place=new", "staged=new"),
        (CopiedPart, "take_back", True, "staged=new place=new kept=old", "staged=new kept=old"),
        (CopiedPart, "take_back", True, "staged=new place=old", "staged=new place=old"),
        (CopiedPart, "put_back", True, "kept=old", "place=old kept=old"),
        (CopiedPart, "put_back", True, "place=old", "place=old"),
        (CopiedPart, "put_back", False, "kept=foreign", "kept=foreign"),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_a_step_does_what_is_left_to_do_and_nothing_else(
    tmp_path, kind, step, replaces, before, after
):
    places = placed(tmp_path, **dict(one.split("=") for one in before.split()))
    getattr(kind(*places, replaces=replaces), step)()
    assert state(tmp_path) == dict(one.split("=") for one in after.split())


@pytest.mark.parametrize("step", ["take_out", "put_in", "take_back", "put_back"])
def test_nothing_that_came_meanwhile_is_moved_onto(tmp_path, step):
    before = {
        "take_out": {"staged": "new", "place": "old", "kept": "foreign"},
        "put_in": {"staged": "new", "place": "foreign"},
        "take_back": {"place": "new"},
        "put_back": {"kept": "old", "place": "foreign"},
    }[step]
    part = JournalPart(*placed(tmp_path, **before), replaces=True)
    if step == "take_back":  # what is in the place is taken for what was staged there
        part.take_back()
        assert state(tmp_path) == {"staged": "new"}
        return
    taken = part.kept if step == "take_out" else part.location
    message = f"{taken!r} appeared while a release was being published."
    with pytest.raises(OutputError) as told:
        getattr(part, step)()
    assert told.value.problems == (Problem("O001", message, "Move it away."),)
    assert state(tmp_path) == before


class Killed(BaseException):
    pass


def fail_at(monkeypatch, error_at):
    """Raise in place of a step the error that there is for its number, from 0 on, if there is one.

    Of a folder that is copied meanwhile, one file is there. Returns the steps begun.
    """
    begun, copy, write = [], storage.copy, storage.write_bytes

    def watched(name, step):
        def call(*given):
            begun.append(name)
            error = error_at(len(begun) - 1)
            if error is None:
                return step(*given)
            if step == copy and storage.is_folder(given[0]):
                storage.make_folder(given[1])
                write(storage.join(given[1], "0"), b"new")
            raise error

        return call

    for name in ("move", "copy", "remove", "write_bytes", "sync"):
        monkeypatch.setattr(storage, name, watched(name, getattr(storage, name)))
    return begun


def killed_at(number):
    return lambda at: Killed() if at >= number else None


def lay(folder, text):
    """Lay outputs, folders of two files each, and their certificates."""
    folder.mkdir(exist_ok=True)
    for name in NAMES:
        file = folder / name
        if name in ("a.csv", "b.csv"):
            file.mkdir()
            (file / "0").write_text(text)
            (file / "1").write_text(text)
        else:
            file.write_text(text)


def content(folder):
    """Return the texts of a folder's files, but those that runs keep there for themselves."""
    files = (path for path in folder.rglob("*") if path.is_file())
    texts = {path.relative_to(folder).as_posix(): path.read_text() for path in files}
    return {name: text for name, text in texts.items() if not name.startswith(".policy-engine.")}


@pytest.fixture(params=["renamed", "copied"])
def ready(request, tmp_path, monkeypatch):
    """Return how to make a folder, and what is to be published into it from a stage."""
    monkeypatch.setattr(storage, "can_rename", lambda _place: request.param == "renamed")
    monkeypatch.setattr(os, "fsync", lambda _handle: None)
    numbers = count()

    def made(*, replaces):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        if replaces:
            lay(folder, "old")
        before = content(folder)
        lay(folder / STAGED, "new")
        replaced = NAMES if replaces else []
        return folder, Journal(f"file:{folder}", STAGED, PAIRS, replaced), before

    return made


def recover(folder):
    """Do what the next run begins with."""
    place = f"file:{folder}"
    found = find_journal(place, place)
    if found:
        found.finish()
    sweep(place, "")


AFTER = {
    **dict.fromkeys((name for name in NAMES if CERTIFICATE in name), "new"),
    **{f"{name}.csv/{part}": "new" for name in "ab" for part in "01"},
}
EARLIER = pytest.mark.parametrize("replaces", [True, False], ids=["old", "none"])


@EARLIER
def test_a_publication_that_is_broken_off_is_found_as_it_was_begun(ready, monkeypatch, replaces):
    folder, published, _ = ready(replaces=replaces)
    with monkeypatch.context() as patched, suppress(Killed):
        fail_at(patched, lambda _: Killed() if (folder / JOURNAL).exists() else None)
        published.carry_out()
    assert find_journal(f"file:{folder}", f"file:{folder}") == published


@pytest.mark.one_in(4)
@EARLIER
def test_a_publication_that_is_killed_at_any_step_is_whole_once_the_next_run_begins(
    ready, monkeypatch, replaces
):
    ends = []
    for number in count():
        folder, published, before = ready(replaces=replaces)
        with monkeypatch.context() as patched, suppress(Killed):
            fail_at(patched, killed_at(number))
            published.carry_out()
            break
        if not (folder / JOURNAL).exists():
            assert content(folder) in (before, AFTER)
        with monkeypatch.context() as patched, suppress(Killed):
            fail_at(patched, killed_at(number % 11))  # the next run is killed, too
            recover(folder)
        recover(folder)
        ends.append(content(folder))
        assert {*storage.names(folder)} == {name.split("/")[0] for name in ends[-1]}
    assert content(folder) == AFTER
    begun = ends.index(AFTER)
    assert 1 < begun < len(ends)
    assert ends == [before] * begun + [AFTER] * (len(ends) - begun)


@pytest.mark.one_in(8)
@EARLIER
@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()], ids=repr)
def test_a_publication_that_fails_at_any_step_is_undone_at_once_or_was_over(
    ready, monkeypatch, replaces, error
):
    ends = []
    for number in count():
        folder, published, before = ready(replaces=replaces)
        with monkeypatch.context() as patched:
            begun = fail_at(patched, {number: error}.get)
            try:
                published.carry_out()
            except (OSError, KeyboardInterrupt) as raised:
                is_undone = raised is error
            else:
                is_undone = False
        assert not (folder / JOURNAL).exists()
        ends.append(content(folder))
        assert ends[-1] in (before, AFTER)
        if isinstance(error, OSError):
            assert ends[-1] == (before if is_undone else AFTER)
        if len(begun) <= number:
            break
    assert ends[0] == before
    assert ends[-1] == AFTER
    assert ends[-4] == before  # only the last two steps come after the journal has gone


@pytest.mark.one_in(12)
@EARLIER
@pytest.mark.parametrize("pause", [1, 2, 5])
def test_a_publication_that_cannot_be_undone_either_is_whole_once_the_next_run_begins(
    ready, monkeypatch, replaces, pause
):
    full, broken = OSError(28, "No space left"), OSError(5, "broken")
    for number in count():
        folder, published, before = ready(replaces=replaces)
        errors = defaultdict(lambda: None, dict.fromkeys(range(number + pause, 99), broken))
        errors[number] = full
        with monkeypatch.context() as patched:
            begun = fail_at(patched, errors.__getitem__)
            try:
                published.carry_out()
            except OSError as error:
                assert error is (full if len(begun) > number else None)  # noqa: PT017
        if (folder / JOURNAL).exists():
            recover(folder)
        assert content(folder) in (before, AFTER)
        if len(begun) <= number:
            break


def test_what_went_wrong_is_told_though_something_came_that_cannot_be_moved_back_onto(
    tmp_path, monkeypatch
):
    folder, move = tmp_path / "out", storage.move
    lay(folder, "old")
    lay(folder / STAGED, "new")
    full = OSError(28, "No space left")

    def taken(source, target):
        if target == folder / "a.csv":
            target.write_text("foreign")
            raise full
        move(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(storage, "move", taken)
        with pytest.raises(OSError, match="No space left") as told:
            Journal(folder, STAGED, PAIRS, NAMES).carry_out()
    assert told.value is full
    assert (folder / JOURNAL).exists()  # nobody takes for a release what lies there
    with pytest.raises(OutputError, match=r"O001 .*a\.csv' appeared while a release was being"):
        recover(folder)
    (folder / "a.csv").unlink()
    recover(folder)
    assert {*content(folder).values()} == {"old"}


def test_a_publication_whose_stage_is_gone_is_over(tmp_path):
    folder = tmp_path / "out"
    lay(folder, "new")
    facts = {"stage": STAGED, "pairs": [PAIR], "replaced": []}
    (folder / JOURNAL).write_text(json.dumps(facts))
    recover(folder)
    assert {*storage.names(folder)} == {*NAMES}
    assert content(folder) == AFTER


@pytest.fixture
def order(monkeypatch):
    """The steps of a publication in their order, each with the names that it is of."""
    steps = []

    def watched(name, step):
        def call(*given):
            steps.append((name, *(storage.name(one) for one in given if isinstance(one, str))))
            return step(*given)

        return call

    for name in ("move", "sync", "write_bytes"):
        monkeypatch.setattr(storage, name, watched(name, getattr(storage, name)))
    return steps


@pytest.mark.parametrize("ready", ["renamed"], indirect=True)
def test_the_mark_that_turns_a_publication_back_is_on_the_disk_before_anything_is_undone(
    ready, order
):
    folder, published, _ = ready(replaces=False)
    (folder / NAMES[-1]).write_text("foreign")
    with pytest.raises(OutputError, match="appeared while a release was being published"):
        published.carry_out()
    mark = order.index(("write_bytes", BACK))
    assert order[mark + 1] == ("sync", STAGED)
    assert "move" in [name for name, *_ in order[mark + 2 :]]
    assert content(folder) == {NAMES[-1]: "foreign"}


@pytest.mark.parametrize("ready", ["renamed"], indirect=True)
def test_a_publication_is_over_on_the_disk_too(ready, order):
    folder, published, _ = ready(replaces=True)
    published.carry_out()
    last = max(number for number, step in enumerate(order) if step[0] == "move")
    assert order[last] == ("move", JOURNAL, JOURNAL)
    assert {*order[last + 1 :]} == {("sync", folder.name), ("sync", STAGED)}


def test_a_journal_in_a_store_is_of_whoever_may_write_there(tmp_path, monkeypatch):
    system = SubTreeFileSystem(str(tmp_path), LocalFileSystem())
    opened = lambda at: (system, at.removeprefix("s3a://bucket").lstrip("/"))  # noqa: E731
    monkeypatch.setattr(storage, "_file_system", opened)
    facts = {"stage": STAGED, "pairs": [PAIR], "replaced": []}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / JOURNAL).write_text(json.dumps(facts))
    (tmp_path / "out" / STAGED).mkdir()
    found = find_journal("s3a://bucket/out", "s3a://bucket/out/stage")
    assert found == Journal("s3a://bucket/out", STAGED, (CertifiedPair(**PAIR),))
    found.finish()
    sweep("s3a://bucket/out", "")
    assert [*(tmp_path / "out").iterdir()] == []


# -- what is read back ----------------------------------------------------------------------------


def test_no_journal_is_none_and_one_that_is_sound_comes_back(tmp_path):
    assert find_journal(tmp_path, tmp_path) is None
    replaced = [CERTIFICATE, "b.csv"]
    facts = {"stage": STAGED, "pairs": [vars(one) for one in PAIRS], "replaced": replaced}
    (tmp_path / JOURNAL).write_text(json.dumps(facts))
    assert find_journal(tmp_path, tmp_path) == Journal(tmp_path, STAGED, PAIRS, replaced)


PAIR = {"certificate": CERTIFICATE, "file": "a.csv"}


@pytest.mark.parametrize(
    "facts",
    [
        {"stage": f"{STAGED}/.."},
        {"stage": STAGED[:-1]},
        {"stage": ""},
        {"replaced": "a.csv"},
        {"replaced": ["b.csv"]},
        {"replaced": [1]},
        {"replaced": {"a.csv": 1}},
        {"replaced": None},
        {"pairs": []},
        {"pairs": [PAIR, {"certificate": f"a.csv.{CERTIFICATE}", "file": "a.csv"}]},
        {"pairs": [PAIR, {"certificate": CERTIFICATE, "file": "b.csv"}]},
        {"pairs": [{"certificate": f"..{CERTIFICATE}"}]},
        {"pairs": [{"certificate": f"a/b.{CERTIFICATE}"}]},
        {"pairs": [{"certificate": f"{STAGING}.{CERTIFICATE}"}]},
        {"pairs": [{"certificate": "a.csv"}]},
        {"pairs": [{"certificate": ""}]},
        {"pairs": [{"certificate": CERTIFICATE, "file": ".."}]},
        {"pairs": [{"certificate": CERTIFICATE, "file": "a/b"}]},
        {"pairs": [{"certificate": CERTIFICATE, "file": 1}]},
        {"pairs": [PAIR, {**PAIR, "certificate": f"b.csv.{CERTIFICATE}", "file": "../b.csv"}]},
        {"more": 1},
    ],
    ids=str,
)
def test_a_journal_of_what_no_run_publishes_is_not_obeyed(tmp_path, facts):
    sound = {"stage": STAGED, "pairs": [PAIR], "replaced": [] if "pairs" in facts else ["a.csv"]}
    place = tmp_path / JOURNAL
    place.write_text(json.dumps(sound))
    assert find_journal(tmp_path, tmp_path)
    place.write_text(json.dumps({**sound, **facts}))
    with pytest.raises(OutputError) as told:
        find_journal(tmp_path, tmp_path)
    hint = "Check the release beside it, then remove the journal."
    message = f"{str(place)!r} is not the journal of a publication."
    assert told.value.problems == (Problem("O002", message, hint),)


def test_whoever_finds_a_journal_that_cannot_be_read_is_told_where_the_release_may_lie(tmp_path):
    (tmp_path / JOURNAL).write_text("{}")
    (tmp_path / STAGED).mkdir()
    (tmp_path / "a.csv").touch()
    with pytest.raises(OutputError) as told:
        find_journal(tmp_path, tmp_path)
    assert told.value.problems[0].hint == (
        f"The replaced release may be in {STAGED!r}, as '{OLD}certificate' and "
        f"'{OLD}output': move it away, then remove the journal."
    )


def test_the_journal_of_whoever_made_another_folder_is_not_obeyed(tmp_path, monkeypatch):
    folder, own = tmp_path / "folder", tmp_path / "own"
    folder.mkdir()
    (folder / JOURNAL).write_text(json.dumps({"stage": STAGED, "pairs": [PAIR], "replaced": []}))
    users = {folder / JOURNAL: 7, own: 7}
    state = lambda path: SimpleNamespace(st_uid=users[path])  # noqa: E731
    monkeypatch.setattr(journal, "os", SimpleNamespace(lstat=state))
    assert find_journal(folder, own)
    users[own] = 8
    with pytest.raises(OutputError) as told:
        find_journal(folder, own)
    message = f"Another user's run was interrupted while publishing into {str(folder)!r}."
    hint = "That user can finish it with any run into that folder."
    assert told.value.problems == (Problem("O002", message, hint),)


# -- what is swept away ---------------------------------------------------------------------------


def stage(folder, digit, *names):
    path = folder / f"{STAGING}{digit * 32}"
    path.mkdir()
    for name in names:
        (path / name).write_text("x")
    return path


def test_all_stages_of_other_runs_are_swept_whatever_lies_between_them(tmp_path):
    stage(tmp_path, "0", "a.csv")
    (tmp_path / f"{STAGING}{'1' * 32}").write_text("mine")
    (tmp_path / f"{STAGING}{'2' * 32}").symlink_to(tmp_path)
    own = stage(tmp_path, "3", "a.csv")
    stage(tmp_path, "4", f"{OLD}output", JOURNAL)  # its publication had come to its end
    stage(tmp_path, "5")
    sweep(tmp_path, own.name)
    assert [*storage.names(tmp_path)] == [f"{STAGING}{digit * 32}" for digit in "123"]


def test_a_stage_that_cannot_be_removed_keeps_no_other(tmp_path, monkeypatch):
    first, second = stage(tmp_path, "0"), stage(tmp_path, "1")
    remove = storage.remove

    def removed(place):
        if place == first:
            raise PermissionError(13, "Permission denied")
        remove(place)

    monkeypatch.setattr(storage, "remove", removed)
    sweep(tmp_path, "")
    assert (first.exists(), second.exists()) == (True, False)


def test_what_was_to_be_replaced_is_never_swept_without_the_journal_that_says_where_it_belongs(
    tmp_path,
):
    kept = stage(tmp_path, "0", f"{OLD}certificate", f"{OLD}output", "a.csv")
    with pytest.raises(OutputError) as told:
        sweep(tmp_path, "")
    places = f"{str(kept / f'{OLD}certificate')!r} and {str(kept / f'{OLD}output')!r}"
    message = f"A publication was interrupted and its journal is missing. It kept {places}."
    hint = f"That is the release it was replacing. Move it away, then remove {str(kept)!r}."
    assert told.value.problems == (Problem("O002", message, hint),)
    assert len([*kept.iterdir()]) == 3


@pytest.mark.parametrize("left", range(4))
def test_a_stage_whose_removal_was_broken_off_is_removed_by_the_next_run(
    tmp_path, monkeypatch, left
):
    place = stage(tmp_path, "0", f"{OLD}certificate", f"{OLD}output", JOURNAL)
    calls, remove = count(), storage.remove

    def broken(place):
        if next(calls) == left:
            if storage.is_folder(place):  # what a folder holds goes in any order
                (place / JOURNAL).unlink()
            raise OSError(5, "Input/output error")
        remove(place)

    with monkeypatch.context() as patched, suppress(OSError):
        patched.setattr(storage, "remove", broken)
        discard(place)
    sweep(tmp_path, "")
    assert [*tmp_path.iterdir()] == []
