"""Variables are nouns: none says only that something was found, given or told."""

import ast
import re
from pathlib import Path

import pytest

import policy_engine

ROOT = Path(policy_engine.__file__).parent
PARTICIPLES = {"asked", "found", "given", "known", "said", "shown", "told"}
# Before other words they are not variables, and are not looked at: parsing takes long.
MAY_BE_STORED = re.compile(rf"(?<![.\w])(?:{'|'.join(PARTICIPLES)})\b(?!\s+(?!in\b)\w|[.(\"'])")
PUBLIC = {
    ("api/disclosing.py", "audit_disclosure", "known"),
    ("cli/disclosing.py", "disclosure", "known"),
}
"""Parameters that users know: what an intruder knows is `pe:known` in a policy."""
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def stores(function):
    """Yield the names of parameters and variables in a function, those of inner ones included."""
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def participles(text):
    """Return the functions of a module with their variables that are participles."""
    if not MAY_BE_STORED.search(text):
        return set()
    tree = ast.parse(text)
    if PARTICIPLES.isdisjoint(stores(tree)):
        return set()
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    pairs = ((getattr(one, "name", "lambda"), name) for one in functions for name in stores(one))
    return {pair for pair in pairs if pair[1] in PARTICIPLES}


def test_variables_are_nouns():
    names = {
        (path.relative_to(ROOT).as_posix(), *pair)
        for path in ROOT.rglob("*.py")
        for pair in participles(path.read_text("utf-8"))
    }
    assert names - PUBLIC == set(), "Name what it is: rows, a sentence, the columns."
    assert names >= PUBLIC


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(known): ...", {("f", "known")}),
        ("def f():\n    found = told = 1", {("f", "found"), ("f", "told")}),
        ("def f(rows):\n    return rows.known", set()),
        ("f = lambda given: given", {("lambda", "given")}),
        ("class A:\n    known: int", set()),
    ],
)
def test_a_variable_is_a_parameter_or_is_assigned_within_a_function(text, names):
    assert participles(text) == names
