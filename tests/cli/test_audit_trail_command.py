import json

import pytest
from places import POLICIES
from typer.testing import CliRunner

from policy_engine.cli import app
from policy_engine.errors import PolicyEngineError
from policy_engine.policy import load_policy
from policy_engine.trust.signers import PrivateKey

CUSTOMER = POLICIES / "customer.jsonld"
ASKED = ["--assignee", "http://org/user", "--target", "http://example.com/Customer"]


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def trail(tmp_path):
    log = tmp_path / "log.jsonl"
    assert run("decide", "--policy", CUSTOMER, *ASKED, "--log", log).exit_code == 1
    file = tmp_path / "trail"
    result = run("audit-trail", file, "--policy", CUSTOMER, "--log", log)
    assert result.exit_code == 0, result.output
    return file


def test_a_trail_is_packed_and_verified(trail):
    result = run("audit-trail", trail, "--verify")
    assert result.exit_code == 0
    assert "logs/1.jsonl: It is intact: entries 1 to 1" in result.stdout
    assert result.stdout.endswith("Nothing fails, 2 not checked.\n")


def test_whose_signatures_were_checked_is_said_first(trail):
    """Where nobody's were, everything else says so in its first line, too."""
    first = run("audit-trail", trail, "--verify").output.partition("\n")[0]
    assert first == "unsigned: signatures were not checked; to check them, give --trust FILE"
    trust = trail.parent / "trust.json"
    trust.write_text('{"trust": 1, "keys": [], "unsigned-policies": ["*"]}')
    given = "audit-trail", trail, "--verify", "--trust", trust
    assert run(*given).output.startswith(str(trail))
    assert json.loads(run(*given, "--format", "json").stdout)["signatures"] == "trusted"
    packed = "audit-trail", trail.parent / "t3", "--policy", CUSTOMER, "--trust", trust
    assert run(*packed).output.startswith(str(trail.parent / "t3"))
    told = run("audit-trail", trail.parent / "t3", "--verify", "--format", "json")
    assert told.stderr.startswith("note: unsigned: signatures were checked by the trust files in")
    assert json.loads(told.stdout)["signatures"] == "packed"


def test_what_fails_exits_with_one(trail):
    tmp_path = trail.parent
    other = tmp_path / "other.yaml"
    other.write_text("policy: http://ex.com/p\ntarget: http://ex.com/T\naction: read\n")
    made = "audit-trail", tmp_path / "t2", "--policy", other, "--log", tmp_path / "log.jsonl"
    result = run(*made, "--format", "json")
    assert result.exit_code == 1
    assert not json.loads(result.stdout)["holds"]
    assert "FAILS" in run("audit-trail", tmp_path / "t2", "--verify").stdout


def test_what_was_cut_off_or_signed_by_another_exits_with_one(trail):
    assert run("audit-trail", trail, "--verify", "--expect", "1").exit_code == 0
    assert run("audit-trail", trail, "--verify", "--expect", "1", "--expect", "2").exit_code == 1
    did = PrivateKey.new().public.did
    assert run("audit-trail", trail, "--verify", "--signer", did).exit_code == 1


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--verify", "--policy", str(CUSTOMER)], "U001"),
        ([], "U001"),
        (["--verify", "--digest", "0" * 64], "C018"),
        (["--verify", "--status", "x"], "U001"),
        (["--verify", "--expect", "x"], "U001"),
        (["--verify", "--signer", "x"], "Y003"),
        (["--verify", "--trust", "x", "--trust", "y"], "U001"),
        (["--verify", "--trust", "absent"], "C003"),
        (["--policy", str(CUSTOMER), "--expect", "1"], "U001"),
        (["--policy", str(CUSTOMER)], "O001"),
    ],
)
def test_what_cannot_be_meant_is_refused(trail, words, code):
    result = run("audit-trail", trail, *words)
    assert isinstance(result.exception, PolicyEngineError)
    assert result.exception.code == code


@pytest.mark.nightly
def test_a_trust_file_is_packed_and_another_is_brought_along(trail):
    """The policy of the trail is not signed: who decides keeps it, or else it does not count."""
    kept, none = trail.with_name("kept.json"), trail.with_name("none.json")
    uid = load_policy(CUSTOMER).uid
    kept.write_text(json.dumps({"trust": 1, "keys": [], "unsigned-policies": [uid]}))
    none.write_text(json.dumps({"trust": 1, "keys": []}))
    made = run("audit-trail", trail.with_name("t2"), "--policy", CUSTOMER, "--trust", kept)
    assert "the trust file trust/1.json: It covers" in made.stdout
    assert run("audit-trail", trail.with_name("t2"), "--verify").exit_code == 0
    refused = run("audit-trail", trail.with_name("t2"), "--verify", "--trust", none)
    assert refused.exit_code == 1
    assert "FAILS        the trust file that is given: Y009" in refused.stdout
