"""Compile a kernel to machine code once per installation."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba


def compiled(kernel: Callable[..., Any]) -> Any:
    """Return `kernel` compiled by numba, with the machine code cached on disk.

    Where no cache directory can be written (a read-only installation without a home), the
    kernel still works and is compiled once per process.
    """
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(kernel)
    except RuntimeError:
        return numba.njit(nogil=True, error_model="numpy")(kernel)


def is_cached(dispatcher: Any) -> bool:
    """Tell whether an earlier process left machine code of this kernel on disk."""
    folder = dispatcher.stats.cache_path
    name = dispatcher.py_func.__name__
    return folder is not None and any(Path(folder).glob(f"*.{name}-*.nbi"))
