import json

from typer.testing import CliRunner

from policy_engine.cli import app


def run(*arguments):
    return CliRunner().invoke(app, ["example", *arguments])


def test_examples_are_listed():
    assert "customer-close" in run().output
    assert {one["name"] for one in json.loads(run("--format", "json").stdout)} >= {"adult"}


def test_example_says_what_to_do_next(tmp_path):
    result = run("customer", "--output", str(tmp_path / "try"), "--rows", "100")
    assert result.exit_code == 0
    assert f"next, in {tmp_path / 'try'}:\n  policy-engine apply customer.jsonld" in result.output
    assert len((tmp_path / "try" / "customers.csv").read_text().splitlines()) == 101


def test_example_tells_how_data_are_fetched(tmp_path):
    answer = json.loads(run("adult", "--output", str(tmp_path), "--format", "json").stdout)
    assert answer["fetch"].startswith("curl ")
    assert answer["files"] == [str(tmp_path / "adult.jsonld")]
