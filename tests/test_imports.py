"""What is imported within functions: what is slow to load, and nothing else."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import policy_engine

ROOT = Path(policy_engine.__file__).parent
HEAVY = {"duckdb", "dp_accounting", "h5py", "joblib", "jinja2", "keras", "lightgbm", "matplotlib"}
HEAVY |= {
    "highspy",
    "numba",
    "numpy",
    "onnx",
    "onnxruntime",
    "opendp",
    "pandas",
    "polars",
    "pyarrow",
}
HEAVY |= {"pydantic", "pyld", "pyspark", "rdflib", "rich", "scipy", "sklearn", "skops", "sqlglot"}
HEAVY |= {"tensorflow", "threadpoolctl", "torch", "typer", "xgboost", "yaml"}
HEAVY |= {"sqlite3", "importlib.metadata"}  # of Python's own
FEW = 10
"""So many modules are loaded within a few milliseconds: more are a stage's own slow start."""


def name_of(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}
IMPORTS = ast.Import | ast.ImportFrom
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def library(name):
    """Return what is loaded for a module of another package: its core is not told apart."""
    top = name if name in HEAVY else name.split(".")[0]
    return "pydantic" if top == "pydantic_core" else top


def imported(node):
    """Return the modules that a statement imports, those of other packages by their libraries."""
    if isinstance(node, ast.Import):
        return [library(one.name) for one in node.names]
    names = [f"{node.module}.{one.name}" for one in node.names]
    whole = [one if one in FILES else node.module for one in names]
    return [one if one in FILES else library(one) for one in whole]


def statements(nodes):
    """Yield what is run when a module is imported, without what type checkers alone read."""
    for node in nodes:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef | ast.ExceptHandler):
            yield from statements(ast.iter_child_nodes(node))


@cache
def parts(module):
    """Return the modules that one imports at once, and the statements by which it does later."""
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    found = [*statements(tree.body)]
    first = [node for node in found if isinstance(node, IMPORTS)]
    functions = [node for node in found if isinstance(node, FUNCTIONS)]
    later = [one for node in functions for one in ast.walk(node) if isinstance(one, IMPORTS)]
    return {name for node in first for name in imported(node)}, later


@cache
def loaded_by(module):
    """Return all that importing a module loads: modules of the package, and other libraries."""
    found, queue = set(), [module]
    while queue:
        name = queue.pop()
        if name not in found and name != "policy_engine":
            found.add(name)
            queue += [*parts(name)[0], name.rpartition(".")[0]] if name in FILES else []
    return found


def is_slow(name, module):
    """Tell whether a module would load late what takes long."""
    more = (loaded_by(name) if name in FILES else {name}) - loaded_by(module)
    return bool(more & HEAVY) or len(more) >= FEW


@pytest.mark.nightly
def test_what_is_imported_within_a_function_is_slow_to_load():
    # The root is loaded with whatever module is: it imports nothing before a name is asked for.
    modules = [one for one in FILES if one != "policy_engine"]
    needless = {
        f"{FILES[module].relative_to(ROOT)}:{node.lineno}"
        for module in modules
        for node in parts(module)[1]
        if not any(is_slow(name, module) for name in imported(node))
    }
    assert not needless, "Import it at the top."


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "module", "told"),
    [
        ("numpy", "policy_engine.policy", True),
        ("numpy", "policy_engine.engines.tables", False),
        ("json", "policy_engine.errors", False),
        ("policy_engine.engines.tables", "policy_engine.policy", True),
        ("policy_engine.errors", "policy_engine.policy", False),
    ],
)
def test_slow_is_what_is_heavy_and_not_loaded_before(name, module, told):
    assert is_slow(name, module) == told


def test_no_two_public_classes_have_one_name():
    """One name, one meaning: what a class is called tells which one it is."""
    homes = defaultdict(list)
    for module, path in FILES.items():
        for name in re.findall(r"(?m)^class ([A-Za-z]\w*)", path.read_text("utf-8")):
            homes[name].append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}
