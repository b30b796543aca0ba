import json
import sys

import pytest
from places import POLICIES
from typer.testing import CliRunner

from policy_engine.cli import app, main

CUSTOMER = str(POLICIES / "customer.jsonld")
REQUEST = {"assignee": "http://org/user", "target": "http://example.com/Customer"}
ASKED = ["--assignee", REQUEST["assignee"], "--target", REQUEST["target"]]


def run(*arguments, text=None):
    return CliRunner().invoke(app, [*map(str, arguments)], input=text)


def packed(folder):
    result = run("bundle", CUSTOMER, "--output", folder / "b", "--format", "json")
    return folder / "b", json.loads(result.stdout)["digest"]


def test_the_digest_and_the_next_command_are_printed(tmp_path):
    result = run("bundle", CUSTOMER, "--output", tmp_path / "b")
    assert result.exit_code == 0
    _, digest = packed(tmp_path)
    assert f"1 files, sha-256 {digest}" in result.stdout
    assert f"decide --bundle {tmp_path / 'b'}" in result.stdout


def test_decide_answers_by_a_bundle_as_by_its_policies(tmp_path):
    bundle, digest = packed(tmp_path)
    by_files = run("decide", "--policy", CUSTOMER, *ASKED, "--format", "json")
    by_bundle = run(
        "decide", "--bundle", bundle, "--bundle-digest", digest, *ASKED, "--format", "json"
    )
    assert (by_bundle.exit_code, by_files.exit_code) == (1, 1)
    assert json.loads(by_bundle.stdout)["reason"] == json.loads(by_files.stdout)["reason"]


def test_batch_decide_answers_by_a_bundle(tmp_path):
    bundle, _ = packed(tmp_path)
    result = run("batch-decide", "--bundle", bundle, text=json.dumps(REQUEST))
    assert (result.exit_code, json.loads(result.stdout)["effect"]) == (0, "deny")


@pytest.fixture
def errors(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["policy-engine", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        return capsys.readouterr().err

    return call


def test_a_bundle_that_was_changed_ends_with_two(tmp_path, errors):
    bundle, digest = packed(tmp_path)
    wrong = errors("decide", "--bundle", bundle, "--bundle-digest", "0" * 64, *ASKED)
    assert digest in wrong
    bundle.write_bytes(bundle.read_bytes()[:-1])
    assert "C018" in errors("decide", "--bundle", bundle, *ASKED)


def test_policies_or_a_bundle_must_be_given(errors):
    assert "--bundle FILE" in errors("decide", *ASKED)
    alone = ["--policy", CUSTOMER, "--bundle-digest", "0" * 64]
    assert "Give it as well" in errors("decide", *alone, *ASKED)
