"""What a class of rows that cannot be told apart tells of their sensitive values.

The homogeneity attack of Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam: l-diversity, ACM
TKDD 1(1), 2007.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Homogeneity:
    """How many rows' sensitive values are told by their class, of `rows`.

    `certain` are those in classes of one value; `expected` those of which the commonest value of
    the class is right, and `baseline` those of which the commonest value of the table is.
    """

    rows: int
    certain: int
    expected: int
    baseline: int


def homogeneity(classes: Ints, values: NDArray[np.int32]) -> Homogeneity:
    """Return what classes tell whoever knows in which one a person is.

    `classes` (rows,) and `values` (rows,) are numbered from 0, -1 being a missing value, which is
    one as any other.
    """
    size = int(values.max(initial=-1)) + 2
    keys, counts = np.unique(classes.astype(np.int64) * size + values + 1, return_counts=True)
    of_class, sizes = keys // size, np.bincount(classes)
    most = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(most, of_class, counts)
    certain = int(sizes[most == sizes].sum())
    overall = int(np.bincount(values + 1).max(initial=0))
    return Homogeneity(len(values), certain, int(most.sum()), overall)
