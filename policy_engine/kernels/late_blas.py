"""Numba without SciPy, until a kernel multiplies matrices.

Loading machine code makes numba load all that it could compile. One of these modules tries whether
linear algebra is there, by importing a third of SciPy: a tenth of the time of a small run.
"""

import importlib
import sys
from importlib.util import find_spec


def load_without_scipy() -> None:
    """Load the part of numba that tries linear algebra, and take it for there where SciPy is
    installed: it is loaded once something is compiled that needs it."""
    if "numba.np.arraymath" in sys.modules or find_spec("scipy") is None:
        return
    linear_algebra = importlib.import_module("numba.np.linalg")
    ensure = getattr(linear_algebra, "ensure_blas", None)
    if ensure is None or "numba.np.arraymath" in sys.modules:  # a version that differs
        return
    linear_algebra.ensure_blas = _take_for_there  # type: ignore[attr-defined]
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linear_algebra.ensure_blas = ensure  # type: ignore[attr-defined]


def _take_for_there() -> None:
    """Do what `ensure_blas` does where linear algebra is there, which is nothing to its caller."""
