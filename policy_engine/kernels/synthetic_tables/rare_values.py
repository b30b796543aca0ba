"""Values of a column that noise hides, merged for counts of pairs, and shares of single values."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.synthetic_tables.drawing_rows import Codes
from policy_engine.kernels.synthetic_tables.tree_model import Floats

Count = TypeVar("Count", np.int64, np.float64)
_DEVIATIONS = 3
_MOST_EXPECTED = 2.0**40


def merged_values(noisy: Floats, deviation: float) -> Codes:
    """Return the class of each value, (values,): those whose noisy count is below three standard
    deviations of the noise are one class, the last, where they are two or more."""
    rare = noisy < _DEVIATIONS * deviation
    if rare.sum() <= 1 or rare.all():
        return np.arange(len(noisy), dtype=np.int64)
    classes = np.cumsum(~rare) - 1
    classes[rare] = int((~rare).sum())
    return classes.astype(np.int64)


def merged_counts(counts: NDArray[Count], classes: Sequence[Codes]) -> NDArray[Count]:
    """Return the counts of classes of values: of one column, or of two, (classes, classes)."""
    merged = np.zeros(tuple(int(one.max()) + 1 for one in classes), dtype=counts.dtype)
    np.add.at(merged, np.ix_(*classes), counts)
    return merged


def distance_from_independence(counts: Codes, expected: Floats) -> int:
    """Return the sum of the distances of counts of two columns from whole expected ones.

    A row more or less changes it by exactly 1, whatever is expected: of a million counts, the sum
    of distances from at most 2^40 does not overflow.
    """
    whole = np.rint(np.clip(expected, 0, _MOST_EXPECTED)).astype(np.int64)
    return int(np.abs(counts - whole).sum())
