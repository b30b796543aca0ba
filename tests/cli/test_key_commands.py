import json
import stat
from pathlib import Path

import pytest
from building import ANALYST, DATASET, OUTPUT
from signing import key_of, trust_text
from typer.testing import CliRunner

from policy_engine.cli.commands import make_app
from policy_engine.errors import PolicyEngineError

DECIDE = ("decide", "--policy", "policy.jsonld", "--certificate", "out", "--assignee", ANALYST)
DECIDE += ("--target", OUTPUT, "--purpose", "marketing")


@pytest.fixture
def run(people, monkeypatch):
    monkeypatch.chdir(people)

    def call(*arguments, status=0):
        app = make_app(arguments[0])
        result = CliRunner().invoke(app, [*map(str, arguments)])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result

    return call


@pytest.fixture
def market(run, people):
    """A signed policy, a signed release of it in `out`, and a trust file of the key."""
    did = run("key", "new", "--output", "key").stdout.strip()
    run("sign", "policy.jsonld", "--key", "key")
    data = ("--data", f"{DATASET}=people.csv")
    run("apply", "policy.jsonld", *data, "--output", "out", "--sign", "key")
    entry = {"key": did, "policies": ["*"], "outputs": ["*"]}
    (people / "trust.json").write_text(trust_text(entry))
    return people


def test_a_key_is_made_shown_and_rotated(run, people):
    made = run("key", "new", "--output", "key").stdout
    assert made.startswith("did:key:z6Mk")
    assert stat.S_IMODE((people / "key").stat().st_mode) == 0o600
    assert run("key", "show", "key", "--public").stdout == made
    assert made.strip() in run("key", "show", "key").stdout
    new = run("key", "rotate", "key", "--output", "next", "--statement", "rotation.json").stdout
    statement = json.loads((people / "rotation.json").read_text())
    assert statement["issuer"] == made.strip()
    assert statement["credentialSubject"]["id"] == new.strip()
    printed = run("key", "rotate", "key", "--output", "other").stdout
    assert json.loads(printed)["issuer"] == made.strip()
    for file in ("key", "next", "other"):
        secret = (people / file).read_text().splitlines()[1]
        assert secret not in made + new + printed


@pytest.mark.parametrize("words", [["key", "show"], ["key", "rotate"], ["verify"], []])
def test_a_key_in_the_place_of_its_file_is_not_printed(words, people):
    key_of(1).write(people / "key")
    text = (people / "key").read_text()
    result = CliRunner().invoke(make_app(*words[:1]), [*words, text])
    assert result.exception.code == "Y001"
    assert text.splitlines()[1] not in result.output + str(result.exception)


def test_a_key_that_is_there_is_not_overwritten(run):
    run("key", "new", "--output", "key")
    with pytest.raises(PolicyEngineError, match="O001"):
        run("key", "new", "--output", "key")


def test_a_decision_says_in_its_first_line_whether_it_is_signed(run, market):
    assert run(*DECIDE).stdout.startswith("permit (unsigned): ")
    assert run(*DECIDE, "--trust", "trust.json").stdout.startswith("permit: ")
    as_json = json.loads(run(*DECIDE, "--trust", "trust.json", "--format", "json").stdout)
    assert as_json["signatures"] == "trusted"
    assert json.loads(run(*DECIDE, "--format", "json").stdout)["signatures"] == "unsigned"
    (market / "trust.json").write_text(trust_text())
    denied = run(*DECIDE, "--trust", "trust.json", status=1)
    assert denied.stdout.startswith("deny: Y009 ")


def test_many_requests_are_answered_under_a_trust_file(run, market):
    request = {"assignee": ANALYST, "target": OUTPUT, "purpose": "marketing"}
    (market / "requests.jsonl").write_text(json.dumps(request))
    parts = ("batch-decide", "requests.jsonl", "--policy", "policy.jsonld", "--certificate", "out")
    answer = json.loads(run(*parts, "--trust", "trust.json").stdout)
    assert (answer["effect"], answer["signatures"]) == ("permit", "trusted")
    assert json.loads(run(*parts).stdout)["signatures"] == "unsigned"


def test_a_query_runs_on_what_is_covered(run, market):
    parts = ("query", "SELECT count(*) AS n FROM anonPeople", "--policy", "policy.jsonld")
    parts += ("--certificate", "out", "--data", f"{OUTPUT}=out", "--assignee", ANALYST)
    parts += ("--purpose", "marketing", "--format", "json")
    assert json.loads(run(*parts, "--trust", "trust.json").stdout) == [{"n": 6}]
    assert run(*parts).stderr.startswith("note: unsigned")
    assert "unsigned" not in run(*parts, "--trust", "trust.json").stderr
    (market / "trust.json").write_text(trust_text())
    assert "Y009" in run(*parts, "--trust", "trust.json", status=1).output


@pytest.mark.nightly
def test_an_output_is_certified_and_compared_under_a_trust_file(run, market):
    certify = ("certify", "out", "--policy", "policy.jsonld", "--trust", "trust.json")
    compare = ("compare", "people.csv", "out", "--trust", "trust.json", "--no-classifier")
    run(*certify)
    run(*compare)
    with pytest.raises(PolicyEngineError, match="Y013"):
        run(*certify, "--write")
    run(*certify, "--write", "--sign", "key")
    assert run(*DECIDE, "--trust", "trust.json").stdout.startswith("permit: ")
    (market / "trust.json").write_text(trust_text())
    for command in (certify, compare):
        with pytest.raises(PolicyEngineError, match="Y009"):
            run(*command)


@pytest.mark.nightly
@pytest.mark.usefixtures("market")
def test_measures_say_in_their_first_line_that_nobody_looked_at_signatures(run):
    certify = ("certify", "out", "--policy", "policy.jsonld")
    compare = ("compare", "people.csv", "out", "--no-classifier")
    for command in (certify, compare):
        assert run(*command).stdout.startswith("unsigned: ")
        assert "unsigned" not in run(*command, "--trust", "trust.json").output
        as_data = run(*command, "--format", "json")
        assert as_data.stderr.startswith("note: unsigned")
        assert json.loads(as_data.stdout)


def test_a_release_that_was_exchanged_is_neither_certified_nor_compared(run, market):
    [output] = [path for path in (market / "out").iterdir() if path.suffix == ".csv"]
    output.write_text(output.read_text().replace("\n", "\r\n"))
    for trust in ((), ("--trust", "trust.json")):
        for command in (
            ("certify", "out", "--policy", "policy.jsonld"),
            ("compare", "people.csv", "out", "--no-classifier"),
        ):
            with pytest.raises(PolicyEngineError, match=r"V00[24]"):
                run(*command, *trust)


def test_a_release_whose_certificate_was_changed_is_not_taken_for_uncertified(run, market):
    file = market / "out" / "certificate.jsonld"
    file.write_text(file.read_text().replace('"rows_out": 6', '"rows_out": 7'))
    compare = ("compare", "people.csv", "out", "--no-classifier", "--policy", "policy.jsonld")
    with pytest.raises(PolicyEngineError, match="Y006"):
        run(*compare[:2], next((market / "out").glob("*.csv")), *compare[3:])


def test_verify_says_what_holds_and_what_was_not_looked_at(run, market):
    [output] = [path for path in (market / "out").iterdir() if path.suffix == ".csv"]
    parts = ("verify", "out/certificate.jsonld", "--trust", "trust.json")
    found = run(*parts, "--output", output)
    assert found.stdout.startswith("valid\n")
    assert "not checked: its figures" in found.stdout
    assert run(*parts).stdout.startswith("valid, but no output was seen\n")
    assert json.loads(run(*parts, "--format", "json").stdout)["valid"]
    output.write_text("age\n20\n")
    assert "V004" in run(*parts, "--output", output, status=1).stdout
    assert "Y009" in run("verify", "out/certificate.jsonld", status=1).stdout
    assert "Y005" in run("verify", "policy.jsonld", "--trust", "trust.json", status=1).stdout


def test_the_script_is_printed_as_it_is(run):
    from policy_engine.trust import verify_certificate

    text = Path(verify_certificate.__file__).read_text(encoding="utf-8")
    assert run("verify", "--script").stdout == text
