"""What a model gives away about a column, from the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from policy_engine.audits.attribute import learning
from policy_engine.cli.commands import make_app


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    for name, number in (("_TREES", 10), ("_TRIAL_TREES", 10), ("_STEPS", 2_000)):
        monkeypatch.setattr(learning, name, number)


@pytest.fixture
def arguments(tmp_path):
    """A tree that follows all of its records, whose label is noise."""
    random = np.random.default_rng(2)
    rows = zip(*(random.integers(0, most, 400) for most in (500, 2, 2)), strict=True)
    text = "".join(f"{number},{'yn'[s]},{'ab'[label]}\n" for number, s, label in rows)
    (tmp_path / "people.csv").write_text(f"number,secret,label\n{text}")
    (tmp_path / "tree.json").write_text('{"name": "DecisionTreeClassifier"}')
    data = ["--data", str(tmp_path / "people.csv"), "--label", "label"]
    return [*data, "--model", str(tmp_path / "tree.json")]


def run(*arguments):
    return CliRunner().invoke(make_app("audit"), ["audit", "attribute", *arguments])


@pytest.mark.nightly
def test_the_verdict_comes_first_and_the_folder_has_figures_and_a_page(arguments, tmp_path):
    out = tmp_path / "audit"
    told = run(*arguments, "--secret", "secret", "--attacks", "confidence", "--out", str(out))
    assert told.exit_code == 0, told.output
    text = " ".join(told.stdout.split())
    assert "'secret'" in text[:90]
    assert "without the model: marginals" in text
    assert json.loads((out / "attribute.json").read_text())["strongest"] == "confidence"
    assert (out / "attribute.html").is_file()


@pytest.mark.nightly
def test_an_advantage_above_the_limit_exits_with_1(arguments):
    options = ("--secret", "secret", "--attacks", "confidence", "--format", "json")
    told = run(*arguments, *options)
    [attack] = json.loads(told.stdout)["attacks"]
    reached = attack["members"]["advantage"]["value"]
    assert reached > 0
    assert run(*arguments, *options, "--fail-above", f"{reached / 2}").exit_code == 1
    assert run(*arguments, *options, "--fail-above", "0.99").exit_code == 0


@pytest.mark.parametrize("options", [[], ["--secret", "label"], ["--secret", "nothing"]])
def test_what_cannot_be_secret_exits_with_2(arguments, options):
    told = run(*arguments, *options)
    assert told.exit_code != 0
    assert not told.stdout
