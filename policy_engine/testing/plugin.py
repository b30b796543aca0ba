"""A plugin of pytest: a fixture for every policy, and one that runs a test for each of them."""

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_OPTION = "policies"
_FIXTURE = "policy"
_NO_LETTER = re.compile(r"\W+", re.ASCII)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the files of policies, as patterns from the folder of the configuration."""
    parser.addini(
        _OPTION, "Policies, as patterns: policies/*.jsonld. Each has a fixture.", "args", []
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register a fixture for every policy: `customer_policy` is that of customer.jsonld."""
    files = policy_files(config)
    if files:
        named = {fixture_name(file): file for file in files}
        if len(named) < len(files):
            twice = sorted(str(file) for file in files if file not in named.values())
            message = f"Two policies have one name, and so would their fixtures: {twice[0]}."
            raise pytest.UsageError(message)
        fixtures = ModuleType("policy_fixtures")
        vars(fixtures).update((name, _loading(name, file)) for name, file in named.items())
        config.pluginmanager.register(fixtures, "policy-fixtures")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `policy` once for each, where nothing else gives it a value."""
    files = policy_files(metafunc.config)
    if files and _FIXTURE in metafunc.fixturenames and not _is_given(metafunc):
        names = [file.relative_to(metafunc.config.rootpath).as_posix() for file in files]
        metafunc.parametrize(_FIXTURE, files, indirect=False, ids=names)


def policy_files(config: pytest.Config) -> list[Path]:
    """Return the files that the configuration names, each once, in the order of their names.

    Raises UsageError for a pattern that is none, or matches no file.
    """
    return sorted({file for one in config.getini(_OPTION) for file in _matching(config, one)})


def _matching(config: pytest.Config, pattern: str) -> list[Path]:
    try:
        files = [file for file in config.rootpath.glob(pattern) if file.is_file()]
    except (ValueError, NotImplementedError, IndexError) as error:
        message = f"{_OPTION}: {pattern!r} is not a pattern from the folder of the configuration"
        raise pytest.UsageError(f"{message}: {error}.") from None
    if not files:
        raise pytest.UsageError(f"{_OPTION}: no file matches {pattern!r}.")
    return files


def fixture_name(file: Path) -> str:
    """Return the name of a policy's fixture: `my_customer_policy` of my-customer.policy.yaml."""
    stem = file.name.partition(".")[0]
    return f"{_NO_LETTER.sub('_', stem).strip('_').lower()}_policy"


def _is_given(metafunc: pytest.Metafunc) -> bool:
    """Tell whether a fixture of the tests' own, or their parameters, have the name."""
    definitions = metafunc.definition._fixtureinfo.name2fixturedefs  # noqa: SLF001 (no other way)
    marks = metafunc.definition.iter_markers("parametrize")
    names = (name for mark in marks for name in _names(mark.args[0]))
    return _FIXTURE in definitions or _FIXTURE in names


def _names(argument: Any) -> list[str]:
    return [one.strip() for one in argument.split(",")] if isinstance(argument, str) else argument


def _loading(name: str, file: Path) -> Callable[..., Any]:
    @pytest.fixture(name=name, scope="session")
    def load() -> Any:
        from policy_engine.testing.assertions import assert_valid  # noqa: PLC0415 (as used)

        return assert_valid(file)

    return load
