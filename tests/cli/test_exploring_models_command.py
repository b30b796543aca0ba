import json

import pytest
from building import DATASET, OUTPUT, anonymize, permission, policy
from typer.testing import CliRunner

from policy_engine.cli.commands import make_app

LEARNT = ("--for-model", "buys", "--draws", "2")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    rows = (
        f"{37 * row % 101},{row % 3},{'yes' if 37 * row % 101 > 50 else 'no'}\n"
        for row in range(101)
    )
    (folder / "in.csv").write_text("age,city,buys\n" + "".join(rows))
    parts = {"method": "k-anonymity", "k": 5, "quasi": ["age", "city"], "insensitive": ["buys"]}
    rule = permission(action=[anonymize(**parts)], output=OUTPUT)
    (folder / "policy.jsonld").write_text(policy([rule]))
    return folder


@pytest.fixture(scope="module")
def tree(files):
    """The file that describes a model that is trained in no time."""
    (files / "tree.json").write_text('{"name": "DecisionTreeClassifier"}')
    return str(files / "tree.json")


def run(files, *arguments):
    own = (str(files / "policy.jsonld"), "--data", f"{DATASET}={files / 'in.csv'}")
    return CliRunner().invoke(make_app("explore"), ["explore", *own, *arguments])


@pytest.mark.nightly
def test_the_best_way_is_told_drawn_and_written_as_a_policy(files):
    picture, written = files / "models.svg", files / "best.jsonld"
    told = run(
        *(files, *LEARNT, "--k", "5,90"),
        *("--chart", str(picture), "--write-policy", str(written)),
    )
    assert told.exit_code == 0, told.output
    words = " ".join(told.output.split())
    assert "trains the best model of 'buys': accuracy" in words
    assert "It was chosen by the rows that it was tested on" in words
    assert "fewer than k, which is 90" in words
    assert "Mondrian, median-mode" in picture.read_text()
    refinements = json.loads(written.read_text())["permission"][0]["action"][0]["refinement"]
    assert "pe:algorithm" in [one["leftOperand"] for one in refinements]


@pytest.mark.nightly
def test_a_comparison_is_printed_as_json(files, tree):
    told = run(files, *LEARNT, "--k", "5", "--model", tree, "--format", "json")
    made = json.loads(told.stdout)
    assert (made["label"], made["measure"], made["splits"]) == ("buys", "accuracy", 2)
    [best] = [one for one in made["runs"] if one["is_chosen"]]
    assert best["setting"] == {"k": 5}
    assert set(best["outcome"]["auc"]) == {"value", "low", "high"}
    assert made["refinements"][0] == {
        "leftOperand": "mosaicrown:k",
        "operator": "eq",
        "rightOperand": 5,
    }


@pytest.mark.nightly
def test_a_described_model_is_the_one_that_learns(files, tree):
    told = run(files, *LEARNT, "--k", "5", "--model", tree)
    assert "2 splits: DecisionTreeClassifier learnt from" in " ".join(told.output.split())


@pytest.mark.nightly
def test_nothing_is_chosen_and_written_where_nothing_keeps_the_bounds(files, tree):
    written = files / "none.jsonld"
    told = run(files, *LEARNT, "--k", "2", "--model", tree, "--write-policy", str(written))
    assert told.exit_code == 1
    assert "Nothing was chosen" in told.output
    assert not written.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "m.json"], "U001 --model is for --for-model COLUMN."),
        (["--write-policy", "p.jsonld"], "U001 --write-policy is for --for-model COLUMN."),
        ([*LEARNT, "--report", "page.html"], "U001 --report is not for --for-model"),
        ([*LEARNT, "--chart", "page.html"], "O002 The ending of 'page.html' is not known."),
        ([*LEARNT, "--vary", "q=1"], "M004 'k-anonymity' has no parameter 'q'."),
        (["--for-model", "age"], "M004 'age' is not released as it is"),
    ],
)
def test_options_that_do_not_fit_are_one_error(files, arguments, message):
    told = run(files, *arguments)
    assert told.exit_code in (1, 2)
    assert message in " ".join(f"{told.output} {told.exception}".split())
