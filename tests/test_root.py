"""The names that the package exports."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import policy_engine

TREE = ast.parse(Path(policy_engine.__file__).read_text(encoding="utf-8"))


def imported_for_checkers():
    """Return the module of each name in the block that type checkers alone read."""
    [block] = [node for node in TREE.body if isinstance(node, ast.If)]
    assert all(isinstance(node, ast.ImportFrom) for node in block.body)
    return {
        one.asname or one.name: node.module.removeprefix("policy_engine.")
        for node in block.body
        for one in node.names
    }


def test_what_is_exported_listed_and_imported_lazily_is_one():
    assert imported_for_checkers() == policy_engine._HOMES
    assert [*policy_engine.__all__] == sorted(policy_engine._HOMES)
    assert dir(policy_engine) == sorted([*policy_engine.__all__, "__version__"])


@pytest.mark.parametrize("name", policy_engine.__all__)
def test_an_exported_name_is_what_its_home_has(name):
    found = getattr(policy_engine, name)
    known = getattr(import_module(f"policy_engine.{policy_engine._HOMES[name]}"), name)
    assert getattr(found, "__wrapped__", found) is known
