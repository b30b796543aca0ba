"""Certificates that are renewed under today's policy."""

import json

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from typer.testing import CliRunner

from policy_engine import apply_policy, certify_output, decide_request
from policy_engine.certificate.beside import load_certificate
from policy_engine.cli import app
from policy_engine.decision import Request
from policy_engine.errors import CertificateError, DataError, OutputError
from policy_engine.policy.model import READ
from policy_engine.release.locking import hold
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
    with pytest.raises(DataError, match=r"C002 No certificate lies beside .*other\.csv") as told:
        certify_output(other, people / "own.jsonld", write=True)
    assert "told by apply, which certifies" in told.value.problems[0].hint
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
