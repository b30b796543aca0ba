"""The commands need nothing that Windows lacks, at import or later: it is hidden from a process."""

import json
import subprocess
import sys
from pathlib import Path

from building import ANALYST, DATASET, OUTPUT

SCRIPT = Path(__file__).parent / "without_posix.py"


def test_commands_run_where_nothing_of_posix_is(people):
    data = ["--data", f"{DATASET}=people.csv"]
    decide = ["decide", "--policy", "policy.jsonld", "--assignee", ANALYST, "--target", OUTPUT]
    commands = [
        ["validate", "policy.jsonld"],
        ["plan", "policy.jsonld", *data],
        ["apply", "policy.jsonld", *data, "--output", "out", "--record", "record.json"],
        ["certify", "out", "--policy", "policy.jsonld"],
        [*decide, "--purpose", "marketing", "--certificate", "out"],
        ["apply", "policy.jsonld", *data, "--output", "sqlite:out.db#people"],
        ["init", "people.csv", "--yes", "--output", "drafted.yaml"],
        ["serve", "--folder", "service"],
    ]
    done = subprocess.run(
        [sys.executable, SCRIPT, json.dumps(commands)],
        capture_output=True,
        text=True,
        cwd=people,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *others, serve = json.loads(done.stdout.splitlines()[-1])
    assert [(status, error) for status, _, error in others] == [(0, "")] * len(others), others
    assert serve[0] == 2 or "C011" in serve[2]
