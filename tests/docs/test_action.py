"""The action for GitHub: its steps are run as a shell runs them."""

import json
import os
import subprocess
import sys

import pytest
import yaml
from places import POLICIES, ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {one.get("name", one.get("uses")): one for one in ACTION["runs"]["steps"]}


@pytest.fixture
def run(tmp_path):
    command = tmp_path / "bin" / "policy-engine"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m policy_engine "$@"\n')
    command.chmod(0o755)
    outputs = tmp_path / "outputs"

    def call(policies, options=""):
        named = {"POLICIES": policies, "OPTIONS": options, "SARIF": "report.sarif"}
        search = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
        code = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        env = {**os.environ, **named, "PATH": search, "PYTHONPATH": code}
        env["GITHUB_OUTPUT"] = str(outputs)
        script = STEPS["Validate"]["run"]
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        status = outputs.read_text().strip().removeprefix("status=")
        report = json.loads((tmp_path / "report.sarif").read_text() or "null")
        return int(status), report, done.stdout + done.stderr

    return call


@pytest.mark.nightly
def test_valid_policies_pass_with_an_empty_report(run):
    status, report, _ = run(f"{POLICIES / 'customer.jsonld'} {POLICIES / 'adult.jsonld'}")
    assert (status, report["runs"][0]["results"]) == (0, [])


@pytest.mark.nightly
def test_a_problem_is_in_the_report_and_in_the_log(run, tmp_path):
    (tmp_path / "x.yaml").write_text("policy: http://ex.com/x\ntargte: y\n")
    status, report, log = run("x.yaml")
    places = [one["locations"][0]["physicalLocation"] for one in report["runs"][0]["results"]]
    assert status == 1
    assert places[0]["artifactLocation"]["uri"] == "x.yaml"
    assert "targte" in log


def test_a_name_is_never_a_command(run, tmp_path):
    status, _, _ = run("$(touch${IFS}made) `touch made` ;touch")
    assert status == 2
    assert not (tmp_path / "made").exists()


def test_every_input_is_used_and_the_last_step_fails_with_the_status():
    text = (ROOT / "action.yml").read_text("utf-8")
    assert all(f"inputs.{name} " in text for name in ACTION["inputs"])
    assert STEPS["Fail where a policy is not valid"]["run"] == 'exit "$STATUS"'
    scripts = [one["run"] for one in STEPS.values() if "run" in one]
    assert not any("${{" in one for one in scripts)
