"""The commands need nothing that Windows lacks, at import or later: it is hidden from a process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from building import ANALYST, DATASET, OUTPUT

SCRIPT = Path(__file__).parent / "without_posix.py"
DATA = ["--data", f"{DATASET}=people.csv"]


def results_of(commands, folder):
    """Return what commands end with, what they print and what is raised in them."""
    command = [sys.executable, SCRIPT, json.dumps(commands)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.nightly
def test_a_release_is_made_where_nothing_of_posix_is(people):
    release = ["apply", "policy.jsonld", *DATA, "--output", "out"]
    for status, output, error in results_of([["validate", "policy.jsonld"], release], people):
        assert (status, error) == (0, ""), output


@pytest.mark.nightly
def test_commands_run_where_nothing_of_posix_is(people):
    decide = ["decide", "--policy", "policy.jsonld", "--assignee", ANALYST, "--target", OUTPUT]
    commands = [
        ["plan", "policy.jsonld", *DATA],
        ["apply", "policy.jsonld", *DATA, "--output", "out", "--record", "record.json"],
        ["certify", "out", "--policy", "policy.jsonld"],
        [*decide, "--purpose", "marketing", "--certificate", "out"],
        ["apply", "policy.jsonld", *DATA, "--output", "sqlite:out.db#people"],
        ["init", "people.csv", "--yes", "--output", "drafted.yaml"],
    ]
    for status, output, error in results_of(commands, people):
        assert (status, error) == (0, ""), output


@pytest.mark.nightly
def test_the_service_says_where_it_runs(people):
    [[_, _, error]] = results_of([["serve", "--folder", "service"]], people)
    assert "The service runs on Linux and macOS" in error
