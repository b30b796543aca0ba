"""Numbers and categories as points of one space, in which MDAV measures distances.

Columns of different kinds count the same: two rows drawn at random are as far apart in one as in
any other. Categories are different or the same, as in Domingo-Ferrer and Torra, Data Mining and
Knowledge Discovery 11(2), 2005; as indicators, they have a mean, from which MDAV starts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.microaggregation.scaling import scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CATEGORIES = 64
"""Of a column with more categories, the rarer ones count as one."""


@dataclass(frozen=True)
class Attribute:
    """A column: `values` (rows,) are finite numbers or, where it is nominal, categories from 0.

    Numbers that are `missing`, (rows,), may be anything; a missing category is one of its own.
    `weight` tells how much the column counts.
    """

    values: NDArray[np.floating] | NDArray[np.integer]
    is_nominal: bool = False
    missing: NDArray[np.bool_] | None = None
    weight: float = 1.0


def mixed_points(attributes: Sequence[Attribute]) -> Floats:
    """Return rows as points, (rows, dimensions); their order changes none of them by a bit.

    A number is standardised. Where it is missing, it is at the mean, and as far from there as two
    rows are apart on average. Without a column that counts, all points are equal.
    """
    parts = [
        (_indicators(one.values) if one.is_nominal else _standardised(one)) * np.sqrt(one.weight)
        for one in attributes
    ]
    return np.asfortranarray(np.concatenate(parts, axis=1))


def _standardised(attribute: Attribute) -> Floats:
    values = attribute.values.astype(np.float64)[:, np.newaxis]
    missing = attribute.missing
    if missing is None or not missing.any():
        return scale(values).points(values)
    found = np.zeros((len(values), 2))
    if not missing.all():
        present = values[~missing]
        found[~missing, :1] = scale(present).points(present)
    found[missing, 1] = np.sqrt(2.0)
    return found


def _indicators(codes: NDArray[np.generic]) -> Floats:
    categories, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    rank = np.empty(len(categories), dtype=np.int64)
    rank[np.lexsort((categories, -counts))] = np.arange(len(categories))
    rank = np.minimum(rank, MOST_CATEGORIES - 1)
    share = np.bincount(rank, counts) / len(codes)
    found = np.zeros((len(codes), len(share)))
    apart = 1 - float((share * share).sum())
    if apart > 0:
        found[np.arange(len(codes)), rank[place]] = 1 / np.sqrt(apart)
    return found
