"""Certificates that are renewed under today's policy."""

import json

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem
from typer.testing import CliRunner

from policy_engine import apply_policy, certify_output, decide_request
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.publication import renew, renewing
from policy_engine.cli import app
from policy_engine.data import storage
from policy_engine.decision import Request
from policy_engine.engines.engine import StoredData
from policy_engine.errors import CertificateError, DataError, OutputError, Problem
from policy_engine.policy.model import READ
from policy_engine.release.locking import hold
from policy_engine.release.staging import JOURNAL
from policy_engine.terms import expand_term

ASKED = Request(assignee=ANALYST, action=READ, targets=(OUTPUT,), purpose=expand_term("marketing"))


@pytest.fixture
def released(people):
    (people / "own.jsonld").write_text(people_policy())
    release = apply_policy(
        people / "own.jsonld",
        {DATASET: people / "people.csv"},
        people / "out",
        record=people / "record.json",
    )
    return people, release.path


def permits(people):
    return decide_request([people / "own.jsonld"], [people / "out"], ASKED).permitted


def revised(people, **keys):
    text = json.loads((people / "own.jsonld").read_text())
    (people / "own.jsonld").write_text(json.dumps({**text, **keys}))


def test_a_renewed_certificate_is_valid_for_the_policy_as_it_is_now(released):
    people, path = released
    earlier = load_certificate(people / "out")
    revised(people, conflict="perm")
    assert not permits(people)
    certify_output(path, people / "own.jsonld")
    assert not permits(people)
    renewed = certify_output(path, people / "own.jsonld", write=True)
    assert permits(people)
    assert load_certificate(people / "out") == renewed
    assert renewed.commitment == earlier.commitment
    opened = certify_output(path, people / "own.jsonld", record=people / "record.json")
    assert opened.commitment == earlier.commitment
    assert sorted(one.name for one in (people / "out").iterdir()) == sorted(
        ["certificate.jsonld", path.name]
    )


def test_a_certificate_that_falls_short_is_not_written(released):
    people, path = released
    before = (people / "out" / "certificate.jsonld").read_bytes()
    text = json.loads((people / "own.jsonld").read_text())
    for one in text["permission"][0]["action"]["refinement"]:
        if one["leftOperand"] == "mosaicrown:k":
            one["rightOperand"] = 1000
    (people / "own.jsonld").write_text(json.dumps(text))
    with pytest.raises(CertificateError, match="V001"):
        certify_output(path, people / "own.jsonld", write=True)
    assert (people / "out" / "certificate.jsonld").read_bytes() == before


def test_a_certificate_of_another_file_stays_and_so_does_one_beside_a_run(released):
    people, path = released
    other = path.with_name("other.csv")
    other.write_bytes(path.read_bytes())
    with pytest.raises(DataError) as told:
        certify_output(other, people / "own.jsonld", write=True)
    message = f"There is no certificate beside {str(other)!r} to renew."
    hint = "Only policy-engine apply can certify how an output was made."
    assert told.value.problems == (Problem("C002", message, hint),)
    held = hold(people / "out")
    try:
        with pytest.raises(OutputError, match="O001 Another run"):
            certify_output(path, people / "own.jsonld", write=True)
    finally:
        held.release()


def test_the_command_renews_a_certificate_and_says_so(released):
    people, _ = released
    revised(people, conflict="perm")
    arguments = ["certify", str(people / "out"), "--policy", str(people / "own.jsonld")]
    done = CliRunner().invoke(app, [*arguments, "--write"])
    assert done.exit_code == 0
    assert "the certificate was renewed with its commitment to the owner's record" in done.stdout
    assert permits(people)


@pytest.fixture(params=["here", "there"])
def place(request, released, monkeypatch):
    """The place of the output, on this machine or as if it were behind a URI."""
    people, path = released
    if request.param == "here":
        return path
    system = SubTreeFileSystem(str(people), LocalFileSystem())
    opened = lambda at: (system, at.removeprefix("s3a://bucket").lstrip("/"))  # noqa: E731
    monkeypatch.setattr(storage, "_file_system", opened)
    return f"s3a://bucket/out/{path.name}"


def test_what_was_changed_since_it_was_measured_is_not_certified(released, place):
    people, path = released
    before = (people / "out" / "certificate.jsonld").read_bytes()
    own = load_certificate(people / "out")
    renewed = own.model_copy(update={"time": own.time.replace(year=2020)})
    output = path.read_text()
    path.write_text(output.replace("flu", "cold", 1))
    with pytest.raises(CertificateError, match="V004 The output is not the one"):
        renew(place, renewed, lambda: StoredData.from_file(path))
    assert (people / "out" / "certificate.jsonld").read_bytes() == before
    path.write_text(output)
    renew(place, renewed, lambda: StoredData.from_file(path))
    assert load_certificate(people / "out") == renewed
    assert len([*(people / "out").iterdir()]) == 2  # nothing marks the folder as in use


def test_nothing_is_renewed_while_a_release_is_half_published(released, place):
    people, path = released
    before = (people / "out" / "certificate.jsonld").read_bytes()
    (people / "out" / JOURNAL).touch()
    with pytest.raises(CertificateError, match="V010"):
        renew(place, load_certificate(path.with_name("certificate.jsonld")), None)
    assert (people / "out" / "certificate.jsonld").read_bytes() == before


def test_a_certificate_that_cannot_be_written_stays(released, monkeypatch):
    people, path = released
    before = (people / "out" / "certificate.jsonld").read_bytes()

    def full(*_given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(renewing, "write_file", full)
    with pytest.raises(OutputError, match=f"^{path}: O002 The output cannot be written: No space"):
        renew(path, load_certificate(people / "out"), lambda: StoredData.from_file(path))
    assert (people / "out" / "certificate.jsonld").read_bytes() == before
