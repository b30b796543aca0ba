"""Types are checked beside the tests; the first check that fails ends what runs, and is told."""

import signal
import subprocess
import sys

import pytest
from places import ROOT

# Stands for every program of an environment: notes that it runs, and ends as it is told to.
PROGRAM = """#!/bin/sh
name=$(basename $0); [ "$1" = -m ] && name=$2
[ "$1" = tests/compiling.py ] && name=compiling
echo "$name $*" >> {folder}/ran
trap 'echo "$name interrupted" >> {folder}/ran; exit 9' INT
echo "said by $name"
if [ -e {folder}/$name.waits ]; then
  while [ ! -e {folder}/$(cat {folder}/$name.waits) ]; do sleep 0.01; done
fi
touch {folder}/$name.ended
[ ! -e {folder}/$name.fails ] || exit 3
"""
CALL = """
import sys, pathlib
sys.path.insert(0, {scripts!r})
import checks, environment
environment.Environment.__init__.__defaults__ = (pathlib.Path({folder!r}),)
sys.exit(checks.main(sys.argv[1:]))
"""


@pytest.fixture
def folder(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("python", "ruff", "mypy", "lint-imports"):
        (programs / name).write_text(PROGRAM.format(folder=tmp_path))
        (programs / name).chmod(0o755)
    return tmp_path


def started(folder, *arguments):
    call = CALL.format(scripts=str(ROOT / "scripts"), folder=str(folder))
    return subprocess.Popen(
        [sys.executable, "-c", call, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def outcome(folder, *arguments):
    process = started(folder, *arguments)
    said, _ = process.communicate(timeout=60)
    return process.returncode, said, (folder / "ran").read_text().splitlines()


def test_every_check_is_run_and_arguments_go_to_the_tests(folder):
    status, said, ran = outcome(folder, "-k", "mondrian")
    assert status == 0, said
    assert ran[:2] == ["ruff check .", "ruff format --check ."]
    begun = sorted(line.split()[0] for line in ran[2:])
    assert begun == ["compiling", "lint-imports", "mypy", "pytest"]
    assert next(line for line in ran if line.startswith("pytest")).endswith(" -k mondrian")
    assert "said by mypy" in said


def test_tests_begin_while_types_are_still_checked(folder):
    (folder / "mypy.waits").write_text("pytest.ended")
    assert outcome(folder)[0] == 0


@pytest.mark.parametrize("check", ["mypy", "lint-imports"])
def test_a_check_that_fails_ends_the_tests_and_is_the_status(folder, check):
    (folder / f"{check}.fails").touch()
    (folder / "mypy.waits").write_text("compiling.ended")
    (folder / "pytest.waits").write_text("never")
    status, said, ran = outcome(folder)
    assert status == 3
    assert f"said by {check}" in said
    assert ("pytest interrupted" in ran) == any(line.startswith("pytest -m") for line in ran)
    assert not (folder / "pytest.ended").exists()


@pytest.mark.parametrize("command", ["compiling", "pytest"])
def test_a_command_that_fails_beside_the_types_is_the_status(folder, command):
    (folder / f"{command}.fails").touch()
    (folder / "mypy.waits").write_text("never")
    assert outcome(folder)[0] == 3


def test_faults_of_style_are_told_before_anything_else_is_begun(folder):
    (folder / "ruff.fails").touch()
    status, _, ran = outcome(folder)
    assert (status, ran) == (3, ["ruff check ."])


def test_whoever_ends_the_checks_ends_the_tests(folder):
    (folder / "pytest.waits").write_text("never")
    process = started(folder)
    assert "said by pytest\n" in process.stdout
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "pytest interrupted" in (folder / "ran").read_text()
