"""Compile a kernel to machine code once per installation."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.options import DefaultOptions
from numba.core.types.misc import unliteral

from policy_engine.kernels.late_blas import load_without_scipy

load_without_scipy()

# No kernel is passed to another: without what that takes, it is compiled sooner.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
if hasattr(DefaultOptions, "_nrt"):
    # Kernels allocate nothing, so that references to arrays need no counting: a fifth of the time,
    # and threads that count at one place wait for each other.
    _OPTIONS["_nrt"] = False


def compiled(kernel: Callable[..., Any]) -> Any:
    """Return `kernel` compiled by numba, with the machine code cached on disk.

    A kernel works on arrays given to it and allocates none. Where no cache directory is writable
    (a read-only installation without a home), it still works and is compiled once per process.
    """
    return _compiled(kernel, _OPTIONS)


def linked(kernel: Callable[..., Any]) -> Any:
    """Return a kernel that other kernels alone call, compiled as `compiled` does.

    Python cannot call it: what takes the arguments from there, one array after the other, is a
    fifth of what a kernel with a table of arrays takes to compile.
    """
    return _compiled(kernel, {**_OPTIONS, "no_cpython_wrapper": True})


def _compiled(kernel: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    try:
        dispatcher = numba.njit(cache=True, **options)(kernel)
    except RuntimeError:
        dispatcher = numba.njit(**options)(kernel)
    if hasattr(dispatcher, "get_call_template"):
        dispatcher.get_call_template = _whatever_constants(dispatcher.get_call_template)
    # numba compares a kernel's own file alone: when a kernel of another file changes, the machine
    # code of those that call it would be stale.
    file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = _digest_of_kernels()  # noqa: SLF001
    if hasattr(file, "_load_index"):
        file._load_index = _unless_stale(file._load_index)  # noqa: SLF001
    return dispatcher


def _whatever_constants(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that chooses machine code by the types of arguments alone."""

    # numba would compile a kernel again for each constant that another kernel calls it with: a
    # third of the time that compiling takes.
    def choose_by_types(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        plain: Any = unliteral
        return choose(tuple(map(plain, args)), {name: plain(arg) for name, arg in kws.items()})

    return choose_by_types


def _unless_stale(load: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that loads an index of machine code, empty if it names what is gone."""

    # numba unpickles the whole index before it checks whether it is stale, and an index that an
    # earlier version of this package wrote may refer to classes that no longer exist.
    def load_or_forget() -> Any:
        try:
            return load()
        except (AttributeError, ImportError):
            return {}

    return load_or_forget


@cache
def _digest_of_kernels() -> str:
    """Return the sha-256 of all kernels' sources."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def inlined(kernel: Callable[..., Any]) -> Any:
    """Return a kernel that becomes part of the kernels that call it."""
    # It saves the call, to which a table of arrays is two hundred arguments.
    return numba.njit(inline="always", **_OPTIONS)(kernel)


def is_cached(dispatcher: Any) -> bool:
    """Return whether an earlier process left machine code of this kernel on disk."""
    folder = dispatcher.stats.cache_path
    name = dispatcher.py_func.__name__
    return folder is not None and any(Path(folder).glob(f"*.{name}-*.nbi"))
