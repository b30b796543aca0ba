"""The Dockerfile and the compose file: what they name is there, and containers can do little."""

import fnmatch
import inspect
import json
import re
import shlex
import tomllib

import pytest
import yaml
from places import ROOT

from policy_engine.cli.commands import COMMANDS
from policy_engine.cli.serving import serve

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
IGNORED = (ROOT / ".dockerignore").read_text("utf-8").split()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]


def instructions(word):
    """Return what stands behind a word at the beginnings of lines."""
    return re.findall(rf"^{word} (.*)$", DOCKERFILE, re.MULTILINE)


def copied():
    """Return what stages copy from the clone."""
    lines = [shlex.split(one) for one in instructions("COPY") if "--from" not in one]
    return sorted({source for *sources, _ in lines for source in sources})


def options_of_serve():
    return {f"--{name.replace('_', '-')}" for name in inspect.signature(serve).parameters}


@pytest.mark.parametrize("source", copied())
def test_what_is_copied_is_there_and_sent_to_the_builder(source):
    assert (ROOT / source).exists()
    kept = [one[1:] for one in IGNORED if one.startswith("!")]
    assert any(source == one or source.startswith(f"{one}/") for one in kept)
    left_out = [one for one in IGNORED if not one.startswith(("!", "*"))]
    assert not any(fnmatch.fnmatch(source, one) for one in left_out)


def test_the_service_is_run_by_a_user_of_its_own():
    last = DOCKERFILE.rsplit("\nFROM ", 1)[1]
    assert re.search(r"^USER (?!root|0\b)", last, re.MULTILINE)
    assert "VOLUME /data" in last


def test_what_starts_is_the_command_with_options_that_it_has():
    [entry], [others] = instructions("ENTRYPOINT"), instructions("CMD")
    words = [*json.loads(entry), *json.loads(others), *SERVICES["service"]["command"]]
    assert words[:2] == ["policy-engine", "serve"]
    assert {one for one in words if one.startswith("--")} <= options_of_serve()


def test_what_says_that_it_is_well_is_a_program():
    [check] = instructions("HEALTHCHECK")
    program = json.loads(check.split("CMD ", 1)[1])
    compile(program[2], "healthcheck", "exec")
    assert "/readyz" in program[2]


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_can_do_little(name):
    one = SERVICES[name]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in one["security_opt"]
    assert all(port.startswith("127.0.0.1:") for port in one.get("ports", []))
    assert not one.get("privileged")


def test_the_database_is_reached_by_the_service_alone_and_waited_for():
    assert SERVICES["database"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert "ports" not in SERVICES["database"]
    assert "test" in SERVICES["database"]["healthcheck"]
    assert SERVICES["service"]["depends_on"] == {"database": {"condition": "service_healthy"}}


def test_what_is_kept_is_in_volumes_that_are_declared():
    used = {one.split(":")[0] for service in SERVICES.values() for one in service["volumes"]}
    assert used == set(COMPOSE["volumes"])


def test_no_password_is_written_down():
    text = (ROOT / "compose.yaml").read_text("utf-8")
    values = re.findall(r"^\s+\w*PASSWORD: (.*)$", text, re.MULTILINE)
    assert values
    assert all(one.startswith("${POSTGRES_PASSWORD:?") for one in values)


def test_what_a_wheel_includes_is_copied():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert set(included) <= set(copied())


def test_hooks_call_commands_that_there_are():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert {shlex.split(one["entry"])[1] for one in hooks} <= set(COMMANDS)
    [validate] = hooks
    assert re.search(validate["files"], "policies/customer.jsonld")
    assert not re.search(validate["files"], "compose.yaml")
