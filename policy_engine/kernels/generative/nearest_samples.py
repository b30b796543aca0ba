"""The smallest distances of records to a stream of samples, without a matrix of all of them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.generative.folded_categories import hidden_square

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]

RECORDS = 512
SAMPLES = 512
"""The sides of a block, whose distances fit the second cache: where they do not, it is slower."""


class Block(NamedTuple):
    """Some records and some samples of their class, and how near they are.

    `records` (r,) are places, `points` (r, d) and `samples` (s, d) what lies there, and `parts`
    (r, s) the squared distances less the squared lengths of the records, `lengths` (r,), from
    their middle, in single precision. `ranks` (r, k) and `sample_ranks` (s, k) are of categories
    that share features, by which pairs are farther apart than `parts` say.
    """

    records: Ints
    points: Floats32
    lengths: Floats32
    samples: Floats32
    parts: Floats32
    ranks: Floats32
    sample_ranks: Floats32


class ComparedRecords:
    """Records that samples are compared with, by class where there are groups.

    `points` (n, d) are finite. A sample is compared with the records of its group; group -1 is
    compared with none. Without `groups` (n,) each is compared with all. The last columns of points,
    so many as there are `ranks`, are ranks of categories (see `folded_categories`).
    """

    def __init__(self, points: NDArray[Any], groups: Ints | None = None, *, ranks: int = 0) -> None:
        points = np.asarray(points, np.float32)
        self._columns, self._width = points.shape[1:], points.shape[1] - ranks
        self._points, self._ranks = points[:, : self._width], points[:, self._width :]
        # Lengths, and so the errors of their differences, are small around the middle.
        self._middle = self._points.mean(axis=0, dtype=np.float64).astype(np.float32)
        lengths = _lengths(self._points - self._middle)
        self._square = np.float32(lengths.mean()) if len(points) else np.float32(0)
        self._groups = groups
        self._places = (
            {0: np.arange(len(points))}
            if groups is None
            else {int(one): np.flatnonzero(groups == one) for one in np.unique(groups) if one >= 0}
        )
        self._buffer = np.empty(RECORDS * SAMPLES, np.float32)

    def __len__(self) -> int:
        return len(self._points)

    @property
    def mean_square(self) -> np.float32:
        """The mean of the squared lengths, from the middle of the records."""
        return self._square

    def blocks(self, samples: NDArray[Any], groups: Ints | None = None) -> Iterator[Block]:
        """Yield blocks of records with samples (m, d) of their groups (m,), each pair once.

        The `parts` of one are overwritten by the next. Raises ValueError where there are groups of
        records and none of samples, or another number of columns.
        """
        samples = np.asarray(samples, np.float32)
        if samples.shape[1:] != self._columns:
            raise ValueError(f"samples of {samples.shape}, records of {self._columns} columns")
        if self._groups is not None and groups is None:
            raise ValueError("records have groups, and samples have none")
        for group, places in self._places.items():
            own = samples if self._groups is None else samples[groups == group]
            if len(own):
                yield from self._group_blocks(places, own)

    def _group_blocks(self, places: Ints, all_columns: Floats32) -> Iterator[Block]:
        samples, ranks = np.split(all_columns, [self._width], axis=1)
        # [x, 1] · [-2 g, |g|²] is the squared distance less |x|², in one product.
        augmented = np.empty((len(samples), samples.shape[1] + 1), np.float32)
        np.subtract(samples, self._middle, out=augmented[:, :-1])
        augmented[:, -1] = _lengths(augmented[:, :-1])
        augmented[:, :-1] *= -2
        for first in range(0, len(places), RECORDS):
            records = places[first : first + RECORDS]
            points = self._points[records]
            sides = np.ones((len(points), augmented.shape[1]), np.float32)
            np.subtract(points, self._middle, out=sides[:, :-1])
            lengths = _lengths(sides[:, :-1])
            for start in range(0, len(samples), SAMPLES):
                end = min(start + SAMPLES, len(samples))
                parts = self._buffer[: len(records) * (end - start)].reshape(len(records), -1)
                np.matmul(sides, augmented[start:end].T, out=parts)
                yield Block(
                    *(records, points, lengths, samples[start:end], parts),
                    *(self._ranks[records], ranks[start:end]),
                )


def _lengths(points: Floats32) -> Floats32:
    lengths: Floats32 = np.einsum("ij,ij->i", points, points)
    return lengths


class NearestSamples:
    """The `nearest` smallest squared distances of records to all samples seen so far.

    Exact: products of matrices in single precision say which samples may be nearer than those
    known, and these are measured (MOSAICrOWN D5.2, section 4.4, Monte Carlo attack by the median).
    Memory does not grow with the number of samples.
    """

    def __init__(
        self,
        points: NDArray[Any],
        groups: Ints | None = None,
        nearest: int = 1,
        *,
        ranks: int = 0,
    ) -> None:
        self._records = ComparedRecords(points, groups, ranks=ranks)
        self._squares = np.full((len(self._records), nearest), np.inf)

    @property
    def squares(self) -> Floats:
        """The squared distances, ascending, (n, nearest); inf where there were too few samples."""
        return self._squares

    def update(self, samples: NDArray[Any], groups: Ints | None = None) -> None:
        """Compare samples (m, d) with the records of their groups (m,)."""
        for block in self._records.blocks(samples, groups):
            least = block.parts.min(axis=1) + block.lengths
            slack = SLACK * (block.lengths + self._records.mean_square)
            rows = np.flatnonzero(least - slack < self._squares[block.records, -1])
            _insert(
                rows,
                block.records,
                slack - block.lengths,
                block.points,
                block.samples,
                block.parts,
                block.ranks,
                block.sample_ranks,
                self._squares,
            )

    def merge(self, squares: Floats) -> None:
        """Take in what other samples gave for the same records, (n, nearest).

        Raises ValueError for another shape.
        """
        if squares.shape != self._squares.shape:
            raise ValueError(f"{squares.shape} is not {self._squares.shape}")
        width = squares.shape[1]
        self._squares = np.sort(np.concatenate([self._squares, squares], axis=1), axis=1)[:, :width]


SLACK = np.float32(4e-6)
"""The error of squared distances in single precision, as a share of the squared lengths."""


@compiled
def _insert(rows, places, shifts, points, samples, parts, ranks, others, squares):  # type: ignore[no-untyped-def]
    """Measure the samples that may be among the nearest, and put them in their place."""
    last = squares.shape[1] - 1
    for row in rows:
        best = squares[places[row]]
        limit = best[last] + shifts[row]
        for sample in range(parts.shape[1]):
            if parts[row, sample] >= limit:
                continue
            total = 0.0
            for column in range(points.shape[1]):
                away = np.float64(points[row, column]) - np.float64(samples[sample, column])
                total += away * away
            total += hidden_square(ranks[row], others[sample])
            if total < best[last]:
                place = last
                while place > 0 and best[place - 1] > total:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = total
                limit = best[last] + shifts[row]
