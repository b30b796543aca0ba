import os
import signal
import stat
import subprocess
import sys

import pytest
from building import DATASET, PEOPLE
from everyday import everyday

from policy_engine import apply_policy, certify_output
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.publication import Publication
from policy_engine.certificate.record import load_record
from policy_engine.certificate.recording import RecordFile
from policy_engine.errors import (
    CertificateError,
    DataError,
    OutputError,
    PolicyEngineError,
    Problem,
)


def applied(folder, record="record.json", output="release", **more):
    data = {DATASET: folder / "people.csv"}
    given = folder / record if record and ":" not in record else record
    return apply_policy(
        folder / "policy.jsonld", data, output and folder / output, record=given, **more
    )


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o022])
def test_a_record_is_for_its_owner_alone(people, mask):
    before = os.umask(mask)
    try:
        applied(people)
    finally:
        os.umask(before)
    assert stat.S_IMODE((people / "record.json").stat().st_mode) == 0o600
    assert list(people.glob(".*")) == []


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("taken", ["record.json", "people.csv", "policy.jsonld", "link", "loop"])
def test_nothing_else_is_overwritten_by_a_record(people, taken, overwrite):
    (people / "record.json").write_text("{}")
    (people / "link").symlink_to(people / "people.csv")
    (people / "loop").symlink_to(people / "nowhere")
    before = files(people)
    with pytest.raises(OutputError, match="O001 The record exists") as told:
        applied(people, taken, overwrite=overwrite)
    hint = "Give another path, or overwrite=True for the output of that record."
    if overwrite and taken not in ("link", "loop"):
        hint = "Only the record of the replaced release can be overwritten; move this one away."
    assert told.value.problems[0].hint == hint
    assert files(people) == before
    assert not (people / "nowhere").exists()


@pytest.mark.parametrize(
    ("place", "why", "hint"),
    [
        ("", "A record must be a file, but '.' is a folder.", "Give the path of a file."),
        (".", "A record must be a file, but '{people}' is a folder.", "Give the path of a file."),
        ("none/record.json", "There is no folder '{people}/none' for the record.", ""),
        (
            "s3a://bucket/r.json",
            "A record must be a local file. Given: 's3a://bucket/r.json'.",
            "Give the path of a file.",
        ),
        (
            "table:record",
            "A record must be a local file. Given: 'table:record'.",
            "Give the path of a file.",
        ),
    ],
)
def test_what_is_no_place_for_a_record_is_refused_before_anything_is_done(people, place, why, hint):
    before = files(people)
    with pytest.raises(OutputError) as told:
        applied(people, place)
    assert told.value.problems == (Problem("O002", why.format(people=people), hint),)
    assert files(people) == before


def test_a_record_that_came_meanwhile_is_not_replaced(people, monkeypatch):
    applied(people)
    before, record = files(people), load_record(people / "record.json")
    monkeypatch.setattr(RecordFile, "_existing", lambda _self: None)
    file = RecordFile(people / "record.json", overwrite=True)
    with (
        pytest.raises(OutputError, match=r"O001 The record exists: '.*record\.json'"),
        file.writing(record, lambda: False),
    ):
        pass
    assert files(people) == before


def test_a_record_does_not_lie_in_the_output(people):
    for record in ("a.csv", "a.csv/record.json"):
        with pytest.raises(OutputError) as told:
            applied(people, record, output="a.csv")
        message = f"The record '{people / record}' may not be inside the output."
        assert told.value.problems == (Problem("O002", message, "Give another path."),)
    applied(people, "a.csv.json", output="out/a.csv")


def test_a_record_does_not_lie_beside_another_certificate(people):
    applied(people, "one.json", output="one")
    for output in ("two", None):
        with pytest.raises(OutputError, match=r"folder of another release, .*one'\. Give a path"):
            applied(people, "one/two.json", output=output)
    assert sorted(files(people / "one")) == ["anonPeople.csv", "certificate.jsonld"]


def test_a_record_is_replaced_with_its_release_and_not_with_another(people):
    applied(people)
    first = load_record(people / "record.json")
    with pytest.raises(OutputError, match="O001"):
        applied(people)
    with pytest.raises(OutputError, match="O001 The record exists"):
        applied(people, output="other", overwrite=True)
    assert load_record(people / "record.json") == first
    applied(people, overwrite=True)
    second = load_record(people / "record.json")
    assert second.nonce != first.nonce
    assert second.earlier == ()
    assert second.opens(load_certificate(people / "release").commitment)


def test_a_release_that_is_refused_leaves_no_record(people):
    (people / "people.csv").write_text(PEOPLE.splitlines(keepends=True)[0] + "Ann,20,Rome,flu,1\n")
    before = files(people)
    with pytest.raises(PolicyEngineError):
        applied(people)
    assert files(people) == before


class Stop(BaseException):
    pass


def test_a_publication_that_fails_leaves_the_record_as_it_was(people, monkeypatch):
    def fails(*_):
        assert (people / "record.json").exists(), "the record comes first"
        raise Stop

    with monkeypatch.context() as patched:
        patched.setattr(Publication, "publish", fails)
        with pytest.raises(Stop):
            applied(people)
    assert not (people / "record.json").exists()
    applied(people)
    before = files(people)
    with monkeypatch.context() as patched:
        patched.setattr(Publication, "publish", fails)
        with pytest.raises(Stop):
            applied(people, overwrite=True)
    assert files(people) == before


def test_a_failure_after_the_publication_keeps_the_record(people, monkeypatch):
    publish = Publication.publish

    def fails_late(self, *given):
        publish(self, *given)
        raise Stop

    monkeypatch.setattr(Publication, "publish", fails_late)
    with pytest.raises(Stop):
        applied(people)
    record = load_record(people / "record.json")
    assert record.opens(load_certificate(people / "release").commitment)


KILLED = """
import os
from pathlib import Path
from policy_engine import apply_policy
from policy_engine.certificate.publication import Publication
publish = Publication.publish
def killed(self, certificate):
    if {publishes}:
        publish(self, certificate)
    os.kill(os.getpid(), 9)
Publication.publish = killed
folder = Path({folder!r})
data, record = {{{dataset!r}: folder / "people.csv"}}, folder / "record.json"
policy, output = folder / "policy.jsonld", folder / "release"
apply_policy(policy, data, output, overwrite=True, record=record)
"""


@pytest.mark.nightly
@pytest.mark.parametrize("when", everyday(("before", "after"), "after"))
def test_a_kill_while_a_release_is_replaced_loses_no_record(people, when):
    applied(people)
    code = KILLED.format(folder=str(people), dataset=DATASET, publishes=when == "after")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    record = people / "record.json"
    assert certify_output(people / "release", people / "policy.jsonld", record=record).holds
    assert len(load_record(record).earlier) == 1
    applied(people, overwrite=True)
    assert load_record(record).earlier == ()


def test_a_release_in_memory_has_its_record_and_another_where_it_is_written(people):
    made = applied(people, output=None)
    assert load_record(people / "record.json") == made.record
    assert made.record.opens(made.certificate.commitment)
    written = made.write(people / "release", record=people / "second.json")
    assert load_record(people / "second.json") == written.record
    assert written.record.opens(load_certificate(people / "release").commitment)
    assert not made.record.opens(written.certificate.commitment)


def test_without_a_record_nothing_is_left_to_open_the_certificate(people):
    made = applied(people, record=None)
    assert made.certificate.commitment is not None
    assert not any(made.record.nonce.encode() in text for text in files(people).values())


def test_a_record_is_read_as_a_record(people):
    applied(people)
    args = people / "release", people / "policy.jsonld"
    with pytest.raises(CertificateError, match="V005"):
        certify_output(*args, record=people / "people.csv")
    with pytest.raises(DataError, match="C003") as told:
        certify_output(*args, record=people)
    assert str(people) in str(told.value)


def test_a_record_has_any_name_that_the_disk_bears(people):
    name = "r" * 255
    applied(people, name)
    applied(people, name, overwrite=True)
    certify_output(people / "release", people / "policy.jsonld", record=people / name)


@pytest.mark.parametrize("name", ["release/certificate.jsonld", ".policy-engine.lock"])
def test_a_record_takes_no_name_that_a_release_needs(people, name):
    with pytest.raises(OutputError, match="O002 A record cannot be named"):
        applied(people, name)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("output", "record"),
    [
        ("rel", "rel/record.json"),
        ("rel", "rel/kept/record.json"),
        ("rel", "rel/../rel/record.json"),
        ("rel", "link/record.json"),
        ("rel/out.csv", "rel/record.json"),
    ],
)
@pytest.mark.parametrize("exists", [False, True])
def test_a_record_does_not_lie_in_the_folder_of_the_release(people, output, record, exists):
    (people / "link").symlink_to(people / "rel")
    if exists:
        (people / "rel" / "kept").mkdir(parents=True)
    before = files(people)
    apart = "O002 The record .* only for the owner.* Give a path outside that folder"
    with pytest.raises(OutputError, match=apart) as told:
        applied(people, record, output=output)
    message = f"The record {str(people / record)!r} is only for the owner, but would be in the "
    assert told.value.problems[0].message == f"{message}folder of the release, '{people}/rel'."
    made = applied(people, record=None, output=None)
    with pytest.raises(OutputError, match=apart):
        made.write(people / output, record=people / record)
    assert files(people) == before
    assert made.write(people / output, record=people / "record.json").path


def test_a_record_may_lie_below_the_folder_of_an_output_that_is_a_file(people):
    (people / "kept").mkdir()
    applied(people, "kept/record.json", output="out.csv")
    assert load_record(people / "kept" / "record.json")


@pytest.mark.parametrize("had_earlier", [False, True])
def test_a_record_that_cannot_be_written_leaves_what_there_was(people, monkeypatch, had_earlier):
    made = applied(people, "record.json" if had_earlier else None)
    before = files(people)
    file = RecordFile(people / "record.json", made.path, people / "release", overwrite=True)

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    told = r"record\.json: O002 The output cannot be written: No space left on device\.$"
    with pytest.raises(OutputError, match=told), file.writing(made.record, lambda: False):
        raise AssertionError("nothing is published without its record")
    assert files(people) == before


def test_a_record_that_is_not_written_once_more_opens_both_releases(people, monkeypatch):
    first = applied(people)
    file = RecordFile(people / "record.json", first.path, people / "release", overwrite=True)
    second = first.record.model_copy(update={"nonce": "1" * 64})
    with file.writing(second, lambda: True):
        monkeypatch.setattr(file, "_write", fail)
    record = load_record(people / "record.json")
    assert [*record.with_earlier()] == [second, first.record]


def fail(*_given, **_more):
    raise OSError(5, "Input/output error")


def test_a_record_is_written_where_files_cannot_be_linked(people, monkeypatch):
    monkeypatch.setattr(os, "link", fail)
    made = applied(people)
    assert load_record(people / "record.json") == made.record
    assert stat.S_IMODE((people / "record.json").stat().st_mode) == 0o600
    assert list(people.glob(".*")) == []
    monkeypatch.setattr(RecordFile, "_existing", lambda _self: None)
    before = files(people)
    late = RecordFile(people / "record.json", overwrite=True)
    with pytest.raises(OutputError, match="O002"), late.writing(made.record, lambda: False):
        pass
    assert files(people) == before


def test_a_record_that_is_there_is_told_with_its_place(people):
    file = people / "record.json"
    applied(people)
    for overwrite, output, hint in [
        (False, "release", "Give another path, or overwrite=True for the output of that record."),
        (True, "other", "Only the record of the replaced release can be overwritten; move this"),
    ]:
        with pytest.raises(OutputError) as told:
            RecordFile(file, people / output / "anonPeople.csv", overwrite=overwrite)
        [problem] = told.value.problems
        assert (problem.code, problem.message) == ("O001", f"The record exists: {str(file)!r}.")
        assert problem.hint.startswith(hint)
    with pytest.raises(OutputError, match="O001 The record exists"):
        RecordFile(file, overwrite=True)  # of a release in memory there is no place to compare


def test_a_record_of_a_release_elsewhere_lies_wherever_there_is_a_folder(people, monkeypatch):
    monkeypatch.chdir(people)
    for output in ("s3a://bucket/out/a.csv", "table:people"):
        assert RecordFile(people / "record.json", output, output, overwrite=False)
    with pytest.raises(OutputError, match="O002 A record cannot be named"):
        RecordFile(people / "certificate.jsonld", "s3a://bucket/out/a.csv", overwrite=False)
