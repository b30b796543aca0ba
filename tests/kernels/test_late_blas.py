import subprocess
import sys

import pytest

LOADED = """
import sys
import numba
import numpy as np
from policy_engine.kernels import compiled
assert "numba.np.arraymath" in sys.modules
assert "scipy.linalg" not in sys.modules
import numba.np.arraymath, numba.np.linalg
assert numba.np.arraymath._HAVE_BLAS
assert numba.np.linalg.ensure_blas.__module__ == "numba.np.linalg"
product = numba.njit(lambda one, other: np.dot(one, other))
assert product(np.eye(2), np.full((2, 2), 3.0)).tolist() == [[3.0, 3.0], [3.0, 3.0]]
assert "scipy.linalg" in sys.modules
"""


@pytest.mark.nightly
def test_scipy_is_loaded_once_something_is_compiled_that_needs_it():
    subprocess.run([sys.executable, "-c", LOADED], check=True)
