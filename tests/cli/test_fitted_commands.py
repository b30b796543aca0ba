"""`audit membership --fitted` from the command line."""

import json
import pickle

import pyarrow as pa
import pyarrow.csv
import pytest
from fitted_faults import Memory
from typer.testing import CliRunner

from policy_engine.cli import app
from policy_engine.errors import AuditError, RequestError


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    (folder / "model.pkl").write_bytes(pickle.dumps(Memory()))
    rows = {"age": range(40), "was": [1] * 20 + [0] * 20, "ill": ["no"] * 40}
    pyarrow.csv.write_csv(pa.table({**rows, "age": list(range(40))}), folder / "people.csv")
    return folder


def run(files, *arguments):
    given = ["--data", str(files / "people.csv"), "--label", "ill", "--members", "was"]
    return CliRunner().invoke(app, ["audit", "membership", *given, *arguments])


@pytest.mark.nightly
def test_a_fitted_model_is_attacked_and_told_of(files):
    out = files / "out"
    arguments = ["--fitted", str(files / "model.pkl"), "--trust-pickle", "--classes", "no,yes"]
    answer = run(files, *arguments, "--out", str(out), "--fail-above", "0.9")
    assert answer.exit_code == 1, answer.output
    found = json.loads((out / "audit.json").read_text())
    assert found["fitted"]["kind"] == "pickle"
    assert found["fitted"]["model"] == "Memory"
    assert {"audit.json", "audit.html"} < {one.name for one in out.iterdir()}
    assert [one for one in out.iterdir() if "scores" in one.name]
    page = (out / "audit.html").read_text()
    assert "model.pkl" in page
    assert found["fitted"]["digest"] in page
    assert "attacked: a fitted model as it is, Memory of fitted_faults" in answer.stdout


def test_a_pickle_is_refused_in_the_words_of_the_command(files):
    error = run(files, "--fitted", str(files / "model.pkl")).exception
    assert isinstance(error, AuditError)
    assert error.code == "A015"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "arguments",
    [
        ["--trust-pickle"],
        ["--model-class", "net.py:Net"],
        ["--retrain"],
        ["--reference", "other.onnx"],
        ["--views", "2"],
    ],
)
def test_options_of_a_fitted_model_need_one(arguments, files):
    error = run(files, *arguments).exception
    assert isinstance(error, RequestError)
    assert "--fitted" in str(error)
