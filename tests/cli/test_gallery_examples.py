"""Every policy of the gallery can be planned, and its commands are ones that there are."""

import shlex

import pytest
import typer
from places import POLICIES
from typer.testing import CliRunner

from policy_engine.api.planning import check_policy
from policy_engine.cli import app
from policy_engine.cli.gallery_examples import GALLERY, example_named, write_example
from policy_engine.errors import PolicyEngineError

MADE = [one for one in GALLERY if one.make and not one.extra]


def test_gallery_has_every_policy_of_the_project():
    assert {one.policy for one in GALLERY} == {path.name for path in POLICIES.glob("*.jsonld")}


@pytest.mark.parametrize("example", GALLERY, ids=lambda one: one.name)
def test_example_is_written_with_what_it_needs(example, tmp_path):
    path, *_ = write_example(example, tmp_path / "new", 100)
    targets = {one.iri for rule in check_policy(path).permissions for one in rule.targets}
    assert example.dataset in targets
    assert (tmp_path / "new" / example.data).exists() == (example.make is not None)
    assert bool(example.fetch) == (example.make is None)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("example", MADE, ids=lambda one: one.name)
def test_commands_of_an_example_do_what_they_say(example, tmp_path, monkeypatch):
    write_example(example, tmp_path, 3_000)
    monkeypatch.chdir(tmp_path)
    for command in example.commands:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, result.output


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "customers.csv").write_text("mine")
    with pytest.raises(PolicyEngineError, match="O001"):
        write_example(example_named("customer"), tmp_path, 100)
    assert [path.name for path in tmp_path.iterdir()] == ["customers.csv"]


def test_an_example_that_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(PolicyEngineError, match="Did you mean 'customer'"):
        example_named("custommer")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("example", GALLERY, ids=lambda one: one.name)
def test_commands_of_an_example_are_understood(example):
    for line in example.commands:
        program, *words = shlex.split(line)
        assert program == "policy-engine"
        command = typer.main.get_command(app)
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        command.make_context(command.name, words)
