"""Values that are counted: drawn by their counts, and how probable each is; arrays of files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.synthesising.coding import Codes, Floats

Arrays = Mapping[str, NDArray[Any]]
"""What a file holds of a generator, by name."""


_MOST = 2**62


def drawn_codes(counts: Codes, n: int, generator: np.random.Generator) -> Codes:
    """Return codes that are drawn by their counts (values,), (n,)."""
    ends = np.cumsum(counts)
    places = generator.integers(ends[-1], size=n)
    return np.searchsorted(ends, places, side="right").astype(np.int64)


def log_shares(counts: Codes, codes: Codes) -> Floats:
    """Return the logarithms of the shares of values by their codes, (n,); -1 means unknown."""
    shares = np.append(counts / counts.sum(), 0.0)
    with np.errstate(divide="ignore"):
        logarithms: Floats = np.log(shares)[codes]
    return logarithms


def counts_of(arrays: Arrays, place: int, values: int) -> Codes:
    """Return how often a column has each value. Raises ValueError where that is not told."""
    counts = integers(arrays, f"counts_{place}")
    if counts.shape != (values,) or (counts < 0).any() or not 0 < counts.sum() < _MOST:
        raise ValueError(f"counts_{place} are not those of {values} values")
    return counts


def integers(arrays: Arrays, name: str) -> Codes:
    """Return an array of integers by its name, of 64 bits. Raises ValueError without one."""
    array = arrays.get(name)
    if array is None or array.dtype.kind != "i" or array.ndim != 1:
        raise ValueError(f"{name} are not integers in a row")
    return array.astype(np.int64)


def floats(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Floats:
    """Return an array of finite floats of a shape. Raises ValueError without one."""
    array = arrays.get(name)
    if array is None or array.dtype != np.float64 or array.shape != shape:
        raise ValueError(f"{name} are not floats of shape {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} are not all finite")
    return array
