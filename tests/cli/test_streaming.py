"""A release is sent to standard output once it is proven, and its certificate is a file."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from applying import asking
from building import DATASET

from policy_engine import certify_output
from policy_engine.certificate.beside import load_certificate
from policy_engine.cli import app

ROWS = "age,city\n" + "".join(f"{20 + row},{'ab'[row % 2]}\n" for row in range(12))
ASKED = asking(method="k-anonymity", k=3, quasi=["age"], insensitive=["city"])


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Return what runs a command as a process in a folder with a policy and data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "policy.jsonld").write_text(ASKED)

    def run(*more, **options):
        command = [sys.executable, "-m", "policy_engine", "apply", "policy.jsonld"]
        command += ["--data", f"{DATASET}=people.csv", "--output", "-", *more]
        return subprocess.run(command, check=False, **{"capture_output": True, **options})

    return run


@pytest.mark.nightly
def test_what_is_sent_is_what_was_certified(call, tmp_path):
    done = call("--certificate-to", "out.csv.certificate.jsonld", "--record", "r.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"age,city\n[20 - ")
    assert b"k" in done.stderr
    assert b"written: -" in done.stderr
    (tmp_path / "out.csv").write_bytes(done.stdout)
    certificate = load_certificate(tmp_path / "out.csv")
    assert certificate.output_digest == hashlib.sha256(done.stdout).hexdigest()
    data = {DATASET: tmp_path / "people.csv"}
    again = certify_output(tmp_path / "out.csv", ASKED, data, record=tmp_path / "r.json")
    assert again.holds
    assert json.loads((tmp_path / "r.json").read_text())["place"] == "standard output"


@pytest.mark.nightly
def test_nothing_is_sent_where_a_bound_cannot_be_kept(call, tmp_path):
    (tmp_path / "people.csv").write_text("age,city\n1,a\n2,b\n")
    done = call("--certificate-to", "out.csv.certificate.jsonld")
    assert done.returncode == 2
    assert (done.stdout, list(tmp_path.glob("*.certificate.jsonld"))) == (b"", [])


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform == "win32", reason="os.pipe is given to another process")
def test_without_a_reader_there_is_no_certificate(call, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    options = {"stdout": writing, "stderr": subprocess.PIPE, "capture_output": False}
    done = call("--certificate-to", "out.csv.certificate.jsonld", **options)
    os.close(writing)
    assert b"O002" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr
    assert (done.returncode, list(tmp_path.glob("*.certificate.jsonld"))) == (2, [])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--output", "-"], "--certificate-to FILE"),
        (["--output", "out", "--certificate-to", "x.csv.certificate.jsonld"], "--output -"),
        (["--output", "-", "--certificate-to", "x.jsonld"], "named after the file"),
        (["--output", "-", "--certificate-to", "x.y.certificate.jsonld"], "C004"),
        (
            ["--output", "-", "--certificate-to", "x.csv.certificate.jsonld", "--engine", "spark"],
            "local engine",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused_first(run_command, arguments, said):
    result = run_command("apply", "policy.jsonld", "--data", f"{DATASET}=people.csv", *arguments)
    assert said in result


def test_a_certificate_that_is_there_is_not_replaced(run_command, tmp_path):
    (tmp_path / "x.csv.certificate.jsonld").write_text("{}")
    arguments = ["--output", "-", "--certificate-to", "x.csv.certificate.jsonld"]
    said = run_command("apply", "policy.jsonld", "--data", f"{DATASET}=people.csv", *arguments)
    assert "O001" in said
    assert (tmp_path / "x.csv.certificate.jsonld").read_text() == "{}"


@pytest.fixture
def run_command(tmp_path, monkeypatch):
    """Return what runs a command in this process, and gives what it is refused for."""
    from typer.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "policy.jsonld").write_text(ASKED)

    def call(*arguments):
        result = CliRunner().invoke(app, [*arguments])
        assert result.exit_code == 2 or result.exception
        return f"{result.output} {result.exception}"

    return call
