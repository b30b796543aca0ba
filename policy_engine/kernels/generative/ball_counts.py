"""How many samples lie within some distances of records, and how near those are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.generative.folded_categories import hidden_square, hidden_squares
from policy_engine.kernels.generative.nearest_samples import SLACK, ComparedRecords, Floats, Ints

_NEAREST = 1e-6
"""The least squared distance that is told from 0, as a share of the smallest squared radius."""
_PAIRS = 4_000_000
_DIGITS = 12
_NARROW = 256
"""Points with fewer columns are measured exactly, as rows of tables are, which tie."""


class BallCounts:
    """The samples within each radius of each record, in a stream of samples.

    `radii` (r,) are positive and ascending; what is a radius away but for rounding is within. These
    are the Monte Carlo attacks of MOSAICrOWN D5.2, section 4.4.2, for several radii at once; memory
    does not grow with the number of samples.
    """

    def __init__(
        self, points: NDArray[Any], groups: Ints | None, radii: Floats, *, ranks: int = 0
    ) -> None:
        self._records = ComparedRecords(points, groups, ranks=ranks)
        self.radii = radii
        shape = len(self._records), len(radii)
        self.rings = np.zeros(shape, np.int64)
        self.logarithms = np.zeros(shape)
        self.compared = np.zeros(shape[0], np.int64)

    def update(self, samples: NDArray[Any], groups: Ints | None = None) -> None:
        """Count samples (m, d) for the records of their groups (m,)."""
        squares = self.radii**2
        for block in self._records.blocks(samples, groups):
            self.compared[block.records] += len(block.samples)
            slack = SLACK * (block.lengths + self._records.mean_square)
            arrays = block.parts, block.lengths, slack, block.records
            sides = block.points, block.samples, block.ranks, block.sample_ranks
            _count(*arrays, *sides, squares, squares[0] * _NEAREST, self.rings, self.logarithms)

    def merge(self, rings: Ints, logarithms: Floats, compared: Ints) -> None:
        """Take in what other samples gave for the same records and radii."""
        self.rings = self.rings + rings
        self.logarithms = self.logarithms + logarithms
        self.compared = self.compared + compared

    def shares(self) -> Floats:
        """Return the share of the samples within each radius, (n, r): formula 4.3."""
        shares: Floats = self.rings.cumsum(axis=1) / np.maximum(self.compared, 1)[:, None]
        return shares

    def weights(self) -> Floats:
        """Return the mean over the samples of log(radius / distance) within the radius, (n, r).

        Formula 4.4, -log distance, with the radius as the unit: whatever the scale of the space,
        no sample within the radius then counts less than one outside.
        """
        counts, logarithms = self.rings.cumsum(axis=1), self.logarithms.cumsum(axis=1)
        sums = counts * np.log(self.radii) - logarithms
        means: Floats = np.maximum(sums, 0) / np.maximum(self.compared, 1)[:, None]
        # What is equal but for the order of sums is equal.
        return means.round(_DIGITS)


@compiled
def _count(  # type: ignore[no-untyped-def]
    parts, lengths, slack, places, points, samples, ranks, others, squares, least, rings, logarithms
):
    """Add each pair to the ring between two radii that it lies in."""
    last = len(squares) - 1
    for row in range(parts.shape[0]):
        place, room = places[row], slack[row]
        limit = squares[last] + room - lengths[row]
        for sample in range(parts.shape[1]):
            if parts[row, sample] <= limit:
                square = np.float64(parts[row, sample]) + lengths[row]
                if points.shape[1] < _NARROW:
                    square = 0.0
                    for column in range(points.shape[1]):
                        away = np.float64(points[row, column]) - np.float64(samples[sample, column])
                        square += away * away
                square = max(square + hidden_square(ranks[row], others[sample]), least)
                ring = 0
                while ring <= last and square > squares[ring] + room:
                    ring += 1
                if ring <= last:
                    rings[place, ring] += 1
                    logarithms[place, ring] += 0.5 * np.log(square)


def pooled_quantiles(
    points: NDArray[Any],
    groups: Ints | None,
    samples: NDArray[Any],
    sample_groups: Ints | None,
    shares: Floats,
    *,
    ranks: int = 0,
) -> Floats:
    """Return quantiles of the distances of all pairs of a record and a sample of its group, (r,).

    The percentile heuristic of MOSAICrOWN D5.2, section 4.4.2. Of many samples only the first
    are used, enough for four million pairs. Raises ValueError without any such pair.
    """
    records = ComparedRecords(points, groups, ranks=ranks)
    distances, pairs, step = [], 0, max(_PAIRS // (4 * len(records)), 1)
    for start in range(0, len(samples), step):
        part = slice(start, start + step)
        own = None if sample_groups is None else sample_groups[part]
        for block in records.blocks(samples[part], own):
            squares = (block.parts + block.lengths[:, None]).ravel()
            if ranks:
                squares += hidden_squares(block.ranks, block.sample_ranks).ravel()
            distances.append(np.sqrt(np.maximum(squares, 0)))
            pairs += len(squares)
        if pairs >= _PAIRS:
            break
    if not pairs:
        raise ValueError("no record has a sample of its group")
    return np.quantile(np.concatenate(distances).astype(np.float64), shares)
