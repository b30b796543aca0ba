"""The benchmark of published figures runs, and its exact part is exact."""

import json
import subprocess
import sys

import pytest
from places import ROOT, SHARED_DATA


def rows_of(folder, *parts):
    script, report = ROOT / "benchmarks" / "disclosure_risk.py", folder / "report.json"
    command = [sys.executable, str(script), "--quick", "--json", str(report), "--only", *parts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {row["what"]: row for row in json.loads(report.read_text())["rows"]}


@pytest.mark.nightly
def test_the_worked_example_is_printed_as_it_was_published(tmp_path):
    rows = rows_of(tmp_path, "worked")
    assert len(rows) == 14
    assert all(row["published"] == row["ours"] for row in rows.values())


@pytest.mark.nightly
@pytest.mark.skipif(not (SHARED_DATA / "eia.csv").exists(), reason="no reference tables")
def test_published_tables_are_within_their_bands_for_two_keys(tmp_path):
    rows = rows_of(tmp_path, "swapping", "transparency")
    assert {f"{name} RSLD, p=20" for name in ("census", "eia")} <= set(rows)
