"""Numbers and categories as points of one space, in which MDAV measures distances.

Columns of different kinds count the same: two rows drawn at random are as far apart in one as in
any other. Categories are different or the same, as in Domingo-Ferrer and Torra, Data Mining and
Knowledge Discovery 11(2), 2005; as indicators, they have a mean, from which MDAV starts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CATEGORIES = 64
"""Of a column with more categories, the rarer ones count as one."""


@dataclass(frozen=True)
class Attribute:
    """The values that a column's codes stand for, and how many rows of the table have each.

    `values` (codes,) are finite numbers, ascending; if they are None, the codes are categories,
    a missing one among them. Where numbers `has_missing`, code 0 is that, and its value means
    nothing. `counts` (codes,). `weight` tells how much the column counts.
    """

    counts: Ints
    values: Floats | None = None
    has_missing: bool = False
    weight: float = 1.0


@dataclass(frozen=True)
class Placement:
    """Where the codes of a column lie: `points` (codes, dimensions), whose distances are squared.

    `places` (codes,) has them on one line, ascending, None for categories, of which any two are
    `apart`.
    """

    points: Floats
    places: Floats | None = None
    apart: float = 0.0

    def width(self, first: int, last: int) -> float:
        """Return how far the codes from the first to the last one reach."""
        if self.places is None:
            return self.apart if first < last else 0.0
        return float(self.places[last] - self.places[first])


def place(attribute: Attribute) -> Placement:
    """Return where the codes of a column lie, which depends on the values and counts alone.

    A number is standardised. Where it is missing, it is at the mean, and as far from there as two
    rows are apart on average; on a line, it comes before all others.
    """
    if attribute.values is None:
        return _indicators(attribute.counts, math.sqrt(attribute.weight))
    blank, factor = int(attribute.has_missing), math.sqrt(attribute.weight)
    places = np.zeros(len(attribute.counts))
    places[blank:] = factor * _standardised(attribute.values[blank:], attribute.counts[blank:])
    if not blank:
        return Placement(places[:, np.newaxis], places)
    points = np.column_stack([places, np.zeros(len(places))])
    points[0, 1] = factor * _ALONE
    places[0] = places[1:].min(initial=0.0) - factor * _ALONE
    return Placement(points, places)


_ALONE = math.sqrt(2.0)


def _standardised(values: Floats, counts: Ints) -> Floats:
    """Return values less their mean, over their standard deviation; 0 where all are the same."""
    occurs = counts > 0
    if not occurs.any():
        return np.zeros(len(values))
    low, high = float(values[occurs].min()), float(values[occurs].max())
    width = high / 2 - low / 2
    # Halves, whose difference is finite for all finite numbers. Sums are rounded once.
    shares = (values / 2 - low / 2) / (width or 1.0)
    rows = int(counts.sum())
    away = shares - math.fsum(shares * counts) / rows
    deviation = math.sqrt(math.fsum(away * away * counts) / rows) if width > 0 else 0.0
    return away / deviation if deviation > 0 else np.zeros(len(values))


def _indicators(counts: Ints, factor: float) -> Placement:
    categories = np.arange(len(counts))
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.lexsort((categories, -counts))] = categories
    rank = np.minimum(rank, MOST_CATEGORIES - 1)
    share = np.bincount(rank, counts) / max(int(counts.sum()), 1)
    points = np.zeros((len(counts), len(share)))
    different = 1 - math.fsum(share * share)
    if different > 0:
        points[categories, rank] = factor / math.sqrt(different)
    return Placement(points, apart=float(points.max(initial=0.0)) * _ALONE)


def points_of(codes: NDArray[np.int32], placements: Sequence[Placement]) -> Floats:
    """Return rows of codes (rows, columns) as points, (rows, dimensions)."""
    columns = zip(codes.T, placements, strict=True)
    parts = [placement.points.T[:, column] for column, placement in columns]
    return np.concatenate(parts).T
