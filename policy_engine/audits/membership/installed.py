"""Whether models run installed code alone: its version decides what it does, and a file's does not.

Code of a user's own may be another at the next audit, under the same name.
"""

import json
import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from policy_engine.engines.versions import version_of

_PACKAGES = (
    *("numpy", "pandas", "scikit-learn", "joblib", "skops", "xgboost", "lightgbm", "onnxruntime"),
    *("keras", "tensorflow", "tensorflow-cpu", "torch", "jax"),
)
_DEEPEST = 8


def versions() -> str:
    """Return the versions of all packages by which models are opened."""
    return json.dumps([version_of(name) for name in _PACKAGES])


def are_installed(modules: Iterable[ModuleType | None]) -> bool:
    """Tell whether all of some modules are of Python, of an installed package, or of this one."""
    files = [str(getattr(one, "__file__", None) or "") for one in modules]
    folders = _installed_folders()
    return all(file.startswith(folders) for file in files if file)


def is_installed(thing: Any) -> bool:
    """Tell whether the class of an object, and of all that it is set to, is installed code."""
    names = {str(getattr(one, "__module__", None) or "builtins") for one in _code_of(thing, 0)}
    modules = [sys.modules.get(name) for name in names]
    return "__main__" not in names and None not in modules and are_installed(modules)


def versions_of_parts(thing: Any) -> str:
    """Return the packages of an estimator's class and of those of its settings, with versions."""
    roots = {str(getattr(one, "__module__", "")).partition(".")[0] for one in _code_of(thing, 0)}
    versions = {name: version_of(name) for name in sorted(roots & {*_PACKAGES})}
    return " ".join(f"{name} {version}" for name, version in versions.items())


def _code_of(thing: Any, depth: int) -> Iterator[Any]:
    """Yield the classes and functions of an estimator's settings, and of those in these."""
    yield thing if callable(thing) and hasattr(thing, "__qualname__") else type(thing)
    parts: Iterable[Any] = ()
    if hasattr(thing, "get_params") and not isinstance(thing, type):
        parts = thing.get_params(deep=False).values()
    elif isinstance(thing, dict):
        parts = thing.values()
    elif isinstance(thing, list | tuple):
        parts = thing
    if depth < _DEEPEST:
        for one in parts:
            yield from _code_of(one, depth + 1)


def _installed_folders() -> tuple[str, ...]:
    """Return the folders of installed code."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages()}
    folders.add(str(Path(__file__).parents[2]))  # of this package
    return tuple(os.path.join(one, "") for one in folders)  # noqa: PTH118
