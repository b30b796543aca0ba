"""Commands of pages, run as they are printed: those of the engine in this process."""

import re
import shlex
import subprocess
import sys
from contextlib import chdir
from dataclasses import dataclass

import pytest
from places import ROOT
from typer.testing import CliRunner

from policy_engine.cli import app
from policy_engine.cli.hints import format_error
from policy_engine.errors import PolicyEngineError

WIDTH = "100"
"""How many columns the terminal has that pages are written for."""

_SHELL = f"""policy-engine() {{ "{sys.executable}" -m policy_engine "$@"; }}
python() {{ "{sys.executable}" "$@"; }}
"""
_BLOCK = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code of a page: its language, what tests are told beside it, and its text."""

    language: str
    told: tuple[str, ...]
    text: str

    @property
    def file(self):
        return next((one.partition("=")[2] for one in self.told if one.startswith("file=")), "")


@dataclass(frozen=True)
class Command:
    """A line of a console, with what stands below it and what it is to exit with."""

    line: str
    said: str = ""
    status: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and what it exited with."""

    status: int
    output: str


def blocks(text):
    """Return the blocks of code of a page."""
    return [
        Block(language, tuple((told or "").split()), code)
        for language, told, code in _BLOCK.findall(text)
    ]


def commands(block):
    """Return the commands of a block; `status=1` beside it is what its last one exits with."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    status = next((int(one[7:]) for one in block.told if one.startswith("status=")), 0)
    found = []
    for number, part in enumerate(parts, 1):
        line, said = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL).groups()
        line = re.sub(r"\\\n *", "", line)
        found.append(Command(line, said, status if number == len(parts) else 0))
    return found


def run(line, folder):
    """Return what became of a command in a folder."""
    if line.startswith("pip install "):
        return Outcome(0, "")
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", WIDTH)
        if line.startswith("policy-engine ") and not re.search(r"[|><&;$]", line):
            return _outcome(CliRunner().invoke(app, shlex.split(line)[1:]))
        patch.setenv("PYTHONPATH", str(ROOT))
        done = subprocess.run(
            ["bash", "-c", _SHELL + line], capture_output=True, text=True, check=False
        )
        return Outcome(done.returncode, done.stdout + done.stderr)


def _outcome(result):
    """Return what a terminal would have seen: an error as its line, a bug as itself."""
    error = result.exception
    if isinstance(error, PolicyEngineError):
        return Outcome(error.exit_code, f"{result.output}{format_error(error)}\n")
    if error is not None and not isinstance(error, SystemExit):
        raise error
    return Outcome(result.exit_code, result.output)
