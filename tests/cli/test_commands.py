"""The commands are loaded one by one, each with no more than it needs."""

import subprocess
import sys

import pytest
import typer
from building import modules_loaded_by
from typer.testing import CliRunner

from policy_engine.cli import app
from policy_engine.cli.commands import COMMANDS, make_app


def engine_modules(loaded):
    return {name for name in loaded if name.split(".")[0] == "policy_engine"}


def test_the_version_loads_no_parser_and_no_stage():
    loaded = modules_loaded_by("--version", cwd=None)
    assert engine_modules(loaded) == {"policy_engine", "policy_engine.cli"}
    assert not loaded & {"typer", "click", "pydantic", "dataclasses"}


def test_validation_loads_its_own_command_alone_and_few_modules(people):
    loaded = engine_modules(modules_loaded_by("validate", "policy.jsonld", cwd=people))
    commands = {name for name in loaded if name.startswith("policy_engine.cli.")}
    own = (
        *("answers", "commands", "hints", "options", "parsing", "shared_options"),
        *("table_options", "validating"),
    )
    assert commands == {f"policy_engine.cli.{name}" for name in own}
    above = ("api", "audits", "certificate", "decision", "engines", "release")
    assert not {name for name in loaded if name.split(".")[1:2] and name.split(".")[1] in above}
    # Each takes about half a millisecond of every run.
    assert len(loaded) <= 107


def test_a_submodule_is_imported_from_the_root_without_the_verbs():
    code = "import sys; from policy_engine import terms; print('policy_engine.api' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


@pytest.mark.one_in(16)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_by_itself_is_what_it_is_among_all(name):
    run = CliRunner().invoke
    alone, among = run(make_app(name), [name, "--help"]), run(app, [name, "--help"])
    assert alone.exit_code == among.exit_code == 0
    assert alone.output == among.output
    assert list(typer.main.get_command(make_app(name)).commands) == [name]


def test_what_is_no_command_is_refused_with_all_in_view():
    assert make_app("validat") is not make_app("validate")
    assert [*typer.main.get_command(make_app("validat")).commands] == [*COMMANDS]
    refused = CliRunner().invoke(make_app("validat"), ["validat"])
    assert refused.exit_code == 2
    assert "validate" in refused.stderr
