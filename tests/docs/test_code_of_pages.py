"""Every command and every line of Python in the documentation is run, or said to be an illustration
and checked as far as it can be: its commands have these options, its imports are there."""

import ast
import re
import shlex
from functools import cache
from importlib import import_module

import pytest
import typer
from consoles import blocks, commands
from places import ROOT

from policy_engine.cli.commands import make_app

RUN = {
    "commands": "test_command_reference.py",
    "data": "test_tutorial_pages.py",
    "gallery": "test_gallery_page.py",
    "policy-language": "test_policy_language.py",
    "tutorial-disclosure-risk": "test_tutorials.py",
    **{path.stem: "test_tutorial_pages.py" for path in (ROOT / "docs/tutorials").glob("*.md")},
}
"""By which test the code of a page is run, other than `>>>` examples, which test_docs.py runs."""

BESIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES = sorted([*BESIDE, *(ROOT / "docs").rglob("*.md")])
CODE = ("bash", "console", "pycon", "python", "sh")


def code_of(page, languages=CODE):
    """Return the blocks of a page that are code, but `>>>` examples."""
    found = [one for one in blocks(page.read_text("utf-8")) if one.language in languages]
    return [one for one in found if not one.text.startswith(">>> ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_is_run_or_said_to_be_an_illustration(page):
    left = [one.text for one in code_of(page) if "illustration" not in one.told]
    assert not left or page.stem in RUN, left[0]


@pytest.mark.parametrize("test", sorted(set(RUN.values())))
def test_what_runs_code_is_there(test):
    assert (ROOT / "tests" / "docs" / test).exists()


@cache
def every_command():
    return typer.main.get_command(make_app())


def unknown_options(line):
    """Return the options of a command line that its command does not have."""
    words = shlex.split(re.sub(r"\[(?= ?-)|(?<=\w)\]$", "", line), comments=True)
    command = every_command()
    rest = words[1:]
    while hasattr(command, "commands") and rest and rest[0] in command.commands:
        command = command.commands[rest.pop(0)]
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    if hasattr(command, "commands"):  # of one whose first command needs no name
        members = command.commands.values()
        known |= {f"--{name}" for name in command.commands}
        known |= {name for one in members for option in one.params for name in option.opts}
    known |= {"--help", "--install-completion", "--show-completion"}
    asked = {word.split("=")[0] for word in rest if word.startswith("--")}
    return asked - known


def whole(command):
    """Return a command with the lines below it that end what it has in quotation marks."""
    line, *below = [command.line, *command.said.splitlines()]
    while below and any(line.count(mark) % 2 for mark in "'\""):
        line += f" {below.pop(0).removesuffix(chr(92))}"
        if not any(line.count(mark) % 2 for mark in "'\""):
            break
    return line


def own_lines(page):
    every = [whole(command) for one in code_of(page) for command in commands(one)]
    return [line for line in every if line.startswith("policy-engine ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_have_the_options_that_they_are_shown_with(page):
    for line in own_lines(page):
        assert not unknown_options(line), line


def test_an_option_that_a_command_does_not_have_is_found():
    assert unknown_options("policy-engine apply p --data a=b --otput c") == {"--otput"}
    assert unknown_options("policy-engine budget show --ledger f --last 3") == {"--last"}
    assert not unknown_options("policy-engine check --triage folder --past other")


def names_imported(text):
    """Return the modules of the package that Python imports from, each with a name."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    own = [node for node in nodes if (node.module or "").split(".")[0] == "policy_engine"]
    return [(node.module, alias.name) for node in own for alias in node.names]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_can_be_read_and_imports_what_there_is(page):
    for block in code_of(page, ("python",)):
        for module, name in names_imported(block.text):
            assert hasattr(import_module(module), name), (module, name)
