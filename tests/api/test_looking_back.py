"""What a release would tell together with those before it, before it is made."""

import json

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from typer.testing import CliRunner

from policy_engine import apply_policy, look_back, short_policy
from policy_engine.cli.commands import make_app

DATA = "http://example.com/Patients"
PATIENTS = pa.table(
    {
        "age": [21, 25, 29, 41, 45, 49],
        "zip": [10, 20, 21, 11, 12, 22],
        "disease": ["flu", "asthma", "angina", "hiv", "flu", "ulcer"],
    }
)


def policy(output, column, **more):
    return short_policy(
        policy=f"http://example.com/policy/{output}",
        target=DATA,
        assignee="http://example.com/Reader",
        purpose="http://example.com/Research",
        output=f"http://example.com/{output}",
        method="k-anonymity",
        k=3,
        quasi_identifier=[column],
        sensitive=["disease"],
        **more,
    )


@pytest.fixture
def ledger(tmp_path):
    ledger = tmp_path / "releases.ledger"
    apply_policy(policy("ByAge", "age"), {DATA: PATIENTS}, ledger=ledger)
    return ledger


def test_what_it_would_tell_is_what_it_tells(ledger):
    before = ledger.read_bytes()
    planned = look_back(policy("ByCode", "zip"), {DATA: PATIENTS}, ledger=ledger)
    assert ledger.read_bytes() == before
    made = apply_policy(policy("ByCode", "zip"), {DATA: PATIENTS}, ledger=ledger)
    assert planned == made.record.composition
    assert planned.together.below == 6


def test_a_plan_that_apply_would_refuse_says_so_and_exits_with_one(tmp_path):
    ledger, path = tmp_path / "releases.ledger", tmp_path / "patients.csv"
    pacsv.write_csv(PATIENTS, path)
    for name, column in (("ByAge", "age"), ("ByCode", "zip")):
        apply_policy(policy(name, column), {DATA: path}, ledger=ledger)
    file = tmp_path / "policy.jsonld"
    files = ["--data", f"{DATA}={path}", "--ledger", str(ledger)]
    file.write_text(json.dumps(policy("More", "zip", composition="intersected")))
    told = CliRunner().invoke(make_app("plan"), ["plan", str(file), *files])
    assert told.exit_code == 1
    assert "so apply refuses it" in " ".join(told.stdout.split())
    assert told.stderr.startswith("note: http://example.com/More would not be released: ")
    told = CliRunner().invoke(make_app("plan"), ["plan", str(file), *files, "--format", "json"])
    assert (told.exit_code, "B013" in told.stderr) == (1, True)
    assert json.loads(told.stdout)["composition"]["together"]["least"] == 1
    applied = [*files, "--output", str(tmp_path / "out")]
    refused = CliRunner().invoke(make_app("apply"), ["apply", str(file), *applied])
    assert refused.exception.code == "B013"
    file.write_text(json.dumps(policy("More", "zip")))
    assert CliRunner().invoke(make_app("plan"), ["plan", str(file), *files]).exit_code == 0


def test_a_plan_that_needs_a_ledger_says_so_and_exits_with_one(tmp_path):
    file, path = tmp_path / "policy.jsonld", tmp_path / "patients.csv"
    pacsv.write_csv(PATIENTS, path)
    file.write_text(json.dumps(policy("ByAge", "age", composition="intersected")))
    files, note = ["--data", f"{DATA}={path}"], "note: http://example.com/ByAge would not be "
    told = CliRunner().invoke(make_app("plan"), ["plan", str(file), *files])
    assert told.exit_code == 1
    said = " ".join(told.stdout.split())
    assert "earlier releases: not looked at, since no ledger of them is given with --ledger" in said
    assert told.stderr.startswith(note)
    assert "(B014)" in told.stderr
    applied = [*files, "--output", str(tmp_path / "out")]
    refused = CliRunner().invoke(make_app("apply"), ["apply", str(file), *applied])
    assert refused.exception.code == "B014"
    told = CliRunner().invoke(make_app("plan"), ["plan", str(file), *files, "--format", "json"])
    assert (told.exit_code, "B014" in told.stderr) == (1, True)
    assert "--ledger" in json.loads(told.stdout)["composition"]["reason"]
    without_data = CliRunner().invoke(make_app("plan"), ["plan", str(file)])
    assert (without_data.exit_code, without_data.stderr.startswith(note)) == (0, True)
    for given in (files, []):
        with_ledger = [*given, "--ledger", str(tmp_path / "new.ledger")]
        told = CliRunner().invoke(make_app("plan"), ["plan", str(file), *with_ledger])
        assert (told.exit_code, "note:" in told.stderr) == (0, False)


def test_a_ledger_that_is_not_there_is_not_made(tmp_path):
    planned = look_back(policy("A", "zip"), {DATA: PATIENTS}, ledger=tmp_path / "new.ledger")
    assert (planned.earlier, planned.unknown) == ((), ())
    assert not [*tmp_path.iterdir()]


def test_commands_say_it_as_text_and_json(tmp_path):
    ledger, path = tmp_path / "releases.ledger", tmp_path / "patients.csv"
    pacsv.write_csv(PATIENTS, path)
    apply_policy(policy("ByAge", "age"), {DATA: path}, ledger=ledger)
    (tmp_path / "policy.jsonld").write_text(json.dumps(policy("ByCode", "zip")))
    files = ["--data", f"{DATA}={path}", "--ledger", str(ledger)]
    text = CliRunner().invoke(make_app("plan"), ["plan", str(tmp_path / "policy.jsonld"), *files])
    assert "6 persons of 6 are one of fewer than 3 candidates" in " ".join(text.output.split())
    arguments = ["apply", str(tmp_path / "policy.jsonld"), *files, "--format", "json"]
    arguments += ["--output", str(tmp_path / "out")]
    answer = json.loads(CliRunner().invoke(make_app("apply"), arguments).stdout)
    assert answer["composition"]["together"]["below"] == 6
    assert "composition" not in answer["certificate"]
