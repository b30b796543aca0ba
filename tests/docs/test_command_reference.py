"""The page of commands is made of the commands, and each example does what it says."""

import importlib.util

import command_reference
import pytest
from command_examples import EXAMPLES, FILES, NOT_RUN
from consoles import run
from places import ROOT

QUICK = {name: one for name, one in EXAMPLES.items() if not one.is_slow and name not in NOT_RUN}
SLOW = {name: one for name, one in EXAMPLES.items() if one.is_slow}
NEEDED = {"dp": "opendp", "audits": "sklearn", "": "policy_engine"}


def is_installed(example):
    return importlib.util.find_spec(NEEDED[example.extra]) is not None


def follow(examples, folder):
    """Run examples in their order, in a folder with their files."""
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    for example in filter(is_installed, examples):
        for line in example.before:
            done = run(line, folder)
            assert done.status in (0, 1), (line, done.output)
        done = run(example.line, folder)
        assert done.status == example.status, (example.line, done.output)
        assert done.output or "--output" in example.line, example.line


def test_the_page_is_the_one_that_the_commands_give():
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    hint = "run: python docs/generate/command_reference.py > docs/commands.md"
    assert page == command_reference.page(), hint


def test_every_command_has_an_example_that_calls_it():
    assert sorted(EXAMPLES) == sorted(command_reference.command_names())
    assert all(one.line.startswith(f"policy-engine {name} ") for name, one in EXAMPLES.items())


def test_what_is_not_run_is_a_command():
    assert set(EXAMPLES) > NOT_RUN


def test_examples_do_what_they_say(tmp_path):
    follow(QUICK.values(), tmp_path)


@pytest.mark.nightly
def test_examples_that_train_do_what_they_say(tmp_path):
    follow([EXAMPLES["sample"], *SLOW.values()], tmp_path)
