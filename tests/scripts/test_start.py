"""The scripts start on every system: by a shell, or by Python alone."""

import os
import subprocess
import sys

import pytest
from places import ROOT

FOLDER = ROOT / "scripts"


@pytest.fixture
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import environment
    import start

    yield start, environment
    for name in ("start", "environment"):
        sys.modules.pop(name, None)


def run(*arguments):
    return subprocess.run(
        [sys.executable, FOLDER / "start.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_script_of_the_shell_is_one_of_python_of_the_same_name(scripts):
    start, _ = scripts
    calls = {name: f'exec "$(dirname "$0")/python" {name} "$@"\n' for name in start.SCRIPTS}
    for name, call in calls.items():
        assert (FOLDER / name).read_text("utf-8").endswith(call)
        assert os.access(FOLDER / name, os.X_OK)
        assert f"\n{name} " in start.__doc__


def test_without_a_name_the_scripts_are_listed():
    listed, wrong = run("--help"), run("tset")
    assert (listed.returncode, wrong.returncode) == (0, 2)
    assert "build-pages  build the pages" in listed.stderr


def test_programs_lie_where_the_system_has_them(scripts, monkeypatch, tmp_path):
    _, environment = scripts
    made = environment.Environment(tmp_path)
    assert made.python == tmp_path / "bin" / "python"
    monkeypatch.setattr(environment.os, "name", "nt")
    assert made.program("ruff").parts[-2:] == ("Scripts", "ruff.exe")


def test_what_an_installer_said_last_is_told_with_the_reason(scripts, tmp_path):
    _, environment = scripts
    made = environment.Environment(tmp_path)
    failing = "print('x' * 9); print('Connection refused'); raise SystemExit(1)"
    with pytest.raises(environment.InstallationError) as caught:
        made.fetch([sys.executable, "-c", failing])
    assert "Connection refused\nno network" in str(caught.value)
    assert str(tmp_path / "install.log") in str(caught.value)
    made.fetch([sys.executable, "-c", "print('Connection refused')"])


def test_what_was_installed_is_installed_again_once_the_project_changed(
    scripts, monkeypatch, tmp_path
):
    _, environment = scripts
    made, fetched = environment.Environment(tmp_path / "env"), []
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(made, "make", lambda: made.folder.mkdir(exist_ok=True))
    monkeypatch.setattr(made, "_fetch_packages", fetched.append)
    monkeypatch.setattr(environment.subprocess, "run", lambda *_, **__: None)
    os.utime(tmp_path / "pyproject.toml", (1, 1))
    for _ in range(2):
        made.install(".[dev]", "little")
        made.install(".", "less")
    assert fetched == [".[dev]", "."]
    os.utime(tmp_path / "pyproject.toml", (2**32, 2**32))
    made.install(".", "less")
    assert fetched[2:] == ["."]


def test_java_is_known_by_its_version(scripts, monkeypatch, tmp_path):
    _, environment = scripts
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    for version, expected in (("17.0.9", True), ("1.8.0_392", False), ("21", True), ("11", False)):
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2023' >&2\n")
        java.chmod(0o755)
        assert environment._has_java_17() == expected
    java.unlink()
    assert not environment._has_java_17()
