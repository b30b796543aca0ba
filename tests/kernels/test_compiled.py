"""Machine code that an earlier version left behind is made anew, and no reason to fail."""

import ast
import pickle
import re

from places import ROOT

from policy_engine.kernels import compiled as module
from policy_engine.kernels.compiled import compiled


class Gone:
    """A class that an index names, and a later version has not."""


def doubled(number):
    return 2 * number


def test_an_index_that_names_what_is_gone_counts_for_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    first = compiled(doubled)
    assert first(2) == 4
    [index] = tmp_path.rglob("*.nbi")
    version, stamp = first._cache._cache_file._version, module._digest_of_kernels()
    gone = pickle.dumps(version) + pickle.dumps((stamp, {"key": Gone()}))
    index.write_bytes(gone)
    monkeypatch.delattr(f"{__name__}.Gone")
    assert compiled(doubled)(3) == 6


def test_no_function_of_python_calls_what_kernels_alone_can_call():
    folder = ROOT / "policy_engine"
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*.py")}
    # Only kernels import others' kernels by their own names; the rest need not be parsed.
    homes = ("axis", "boundaries", "constraint", "cuts", "extent", "sorting", "summary")
    imports = re.compile(rf"^from policy_engine\.kernels\.({'|'.join(homes)}) import", re.MULTILINE)
    trees = {
        path.relative_to(folder).with_suffix("").as_posix(): ast.parse(text)
        for path, text in texts.items()
        if "@linked" in text or imports.search(text)
    }
    assert {f"kernels/{one}" for one in homes} >= {
        path.relative_to(folder).with_suffix("").as_posix()
        for path, text in texts.items()
        if "\n@linked\n" in text
    }
    linked = {
        (place, function.name)
        for place, tree in trees.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and "linked" in _decorators(function)
    }
    assert linked
    for place, tree in trees.items():
        names = {name for home, name in linked if home == place} | _imported(tree, linked)
        for top in tree.body:
            if not {"compiled", "linked", "inlined"} & _decorators(top):
                called = {one.id for one in ast.walk(top) if isinstance(one, ast.Name)}
                assert not called & names, place


def _decorators(node):
    return {getattr(one, "id", "") for one in getattr(node, "decorator_list", ())}


def _imported(tree, linked):
    """Return the names that a module imports of those that kernels alone can call."""
    return {
        one.asname or one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for one in node.names
        if (node.module.removeprefix("policy_engine.").replace(".", "/"), one.name) in linked
    }
