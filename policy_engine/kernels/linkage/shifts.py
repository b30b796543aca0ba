"""What maskings make of known values where that is told by probabilities of cells: transition
matrices, and how far ranks move, measured by masking again what is at hand.

Cells of ranks are equally many ranks, or nearly so, and numbered from 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.column_likelihood import CellTransitions, ColumnLikelihood
from policy_engine.kernels.rank_swapping import Variant, most_ranks, rank_swap

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PAIRS = 2_000_000
"""Of values before and after swapping; so few that they take no time that is noticed."""
_MOST_DRAWS = 2_000
_ROWS = 20_000
"""Moves are proportional to the number of rows; those of so many are like those of more."""
_CELLS = 24
"""Of ranks, in a window of rank swapping."""
_BUCKETS = 40
"""A move by more buckets has a probability below 2**-40."""
_EDGES = 4
"""Windows at either end of a column in which moves are not like those elsewhere."""
_DRAWS = (5, 200)
_SIMULATED = 200_000
_CLASSES = 16
_WIDTH = 8
"""Cells in the median move of a masking that is simulated."""
_REACH = 256
_PRIOR = 50.0
"""Pairs like those of all classes that a class of ranks has besides its own."""


@dataclass(frozen=True)
class RankMoves:
    """How likely moves by so many cells are, from -reach to reach, by class of cell.

    `shares` (classes, 2 reach + 1), each with `beyond`, that of any cell further away; `class_of`
    (cells,). No value moves by more than `most` ranks.
    """

    shares: Floats
    beyond: float
    class_of: Ints
    most: int

    @property
    def reach(self) -> int:
        """Return by how many cells a value moves at most, but for what is beyond."""
        return len(self.shares[0]) // 2


def drawn_by_matrix(known_values: Ints, released: Ints, matrix: Floats) -> ColumnLikelihood:
    """Return a column of categories drawn by a matrix: by PRAM.

    `known_values` (persons,) and `released` (records,) are categories of the matrix, numbered from
    0.
    """
    size = len(matrix)
    with np.errstate(divide="ignore"):
        logs = np.log(matrix).reshape(-1)
    start = np.zeros(len(known_values), dtype=np.int64)
    beyond, begins = np.full(size, -np.inf), np.arange(size + 1) * size
    table = CellTransitions(logs, begins, beyond, known_values, start, released, released)
    cells = (known_values.astype(np.float64), released.astype(np.float64))
    return ColumnLikelihood("transitions", *cells, transitions=table)


@lru_cache(maxsize=16)
def rank_swaps(rows: int, share: float, variant: Variant) -> RankMoves:
    """Return how `rank_swap` moves the ranks of a column of so many rows, by swapping.

    The same for the same arguments. Published with the method and its parameter, it is what
    anybody can compute.
    """
    most = most_ranks(rows, share, variant)
    window = int(share * rows)
    if window == 0:
        return RankMoves(np.ones((1, 1)), 0.0, np.zeros(max(rows, 1), dtype=np.int64), 0)
    # Buckets are counted from the first rank on, so that none is like it of fewer rows.
    few = rows if variant == "buckets" else min(rows, max(_ROWS, math.ceil(400 / share)))
    cells = -(-rows // window) if variant == "buckets" else min(few, math.ceil(_CELLS / share))
    reach = min(-(-most * cells // rows) + 1, cells, *([_BUCKETS] if variant == "buckets" else []))
    random = np.random.default_rng(_SEED)
    draws = min(-(-_PAIRS // few), _MOST_DRAWS)
    ranks, counts = np.arange(few), np.zeros((cells, 2 * reach + 1))
    cell_of = ranks * cells // few
    for _ in range(draws):
        words = random.integers(0, 2**64, few, dtype=np.uint64)
        _count(counts, cell_of, cell_of[rank_swap(ranks, words, share, variant)])
    edge = _EDGES * max(reach, math.ceil(share * cells))
    class_of = np.minimum(np.arange(cells), edge)
    class_of += np.maximum(np.arange(cells) - max(cells - 1 - edge, edge), 0)
    return _moves(counts, class_of, most)


_SEED = 18


def simulated_moves(original: Floats, released: Floats, mask: Callable[[int], Floats]) -> RankMoves:
    """Return how ranks move when a column is masked again, by whatever method.

    `mask` returns what another draw, by its number, makes of the `original` values, (rows,): a
    method and parameters that are published can be applied by anybody. Ranks are those among the
    `released` values, (records,), before as after: a value is in the middle of its equals.
    """
    draws = min(max(-(-_SIMULATED // max(len(original), 1)), _DRAWS[0]), _DRAWS[1])
    ordered = np.sort(released)
    before = np.tile(_middles(original, ordered), draws)
    after = np.concatenate([_middles(mask(draw), ordered) for draw in range(draws)])
    median = float(np.median(np.abs(after - before)))
    cells = min(max(int(_WIDTH / max(median, _WIDTH / len(ordered))), 2), len(ordered))
    places = [np.minimum((one * cells).astype(np.int64), cells - 1) for one in (before, after)]
    reach = min(cells, _REACH)
    counts = np.zeros((min(_CLASSES, cells), 2 * reach + 1))
    class_of = np.arange(cells) * len(counts) // cells
    _count(counts, class_of[places[0]], class_of[places[0]] + places[1] - places[0])
    return _moves(counts, class_of, len(ordered))


def _middles(values: Floats, ordered: Floats) -> Floats:
    """Return the share of ordered values below each, half of its equals among them."""
    first = np.searchsorted(ordered, values, side="left")
    behind = np.searchsorted(ordered, values, side="right")
    return np.asarray((first + behind) / (2 * len(ordered)))


def _count(counts: Floats, before: Ints, after: Ints) -> None:
    """Add up how often each class of cells, or cell, moved by so many cells."""
    reach = counts.shape[1] // 2
    moves = after - before
    near = np.abs(moves) <= reach
    places = before[near] * counts.shape[1] + moves[near] + reach
    counts += np.bincount(places, minlength=counts.size).reshape(counts.shape)


def _moves(counts: Floats, class_of: Ints, most: int) -> RankMoves:
    """Return the shares of moves, each class with some pairs like all, from counts by cell."""
    classes = int(class_of.max()) + 1
    if len(counts) == len(class_of):
        by_class = np.zeros((classes, counts.shape[1]))
        np.add.at(by_class, class_of, counts)
        counts = by_class
    total, size = float(counts.sum()), counts.shape[1]
    beyond = 0.5 / (total + size)
    likely = (counts.sum(axis=0) + 0.5) / (total + size)
    sums = counts.sum(axis=1, keepdims=True)
    return RankMoves((counts + _PRIOR * likely) / (sums + _PRIOR), beyond, class_of, most)


def moved(
    known_values: Floats, released: Floats, moves: RankMoves, *, is_middle: bool
) -> ColumnLikelihood:
    """Return a column whose ranks moved, of values that may be equal.

    `known_values` (persons,) and `released` (records,). The rank of a known value is any of its
    equals' with the same probability, or if `is_middle` the one in their middle, as in
    `simulated_moves`. A value that was not released is between its neighbours.
    """
    order, rows = np.argsort(released), len(released)
    ordered = released[order]
    runs = _runs(ordered)
    cells = len(moves.class_of)
    middles = (runs.first + runs.last).astype(np.float64) * (0.5 * cells / rows)
    first, last, points = np.empty_like(order), np.empty_like(order), np.empty(rows)
    first[order], last[order] = runs.first * cells // rows, runs.last * cells // rows
    points[order] = middles
    sorted_places = np.argsort(known_values)
    left = np.empty(len(known_values), dtype=np.int64)
    right = np.empty_like(left)
    left[sorted_places] = np.searchsorted(ordered, known_values[sorted_places], side="left")
    right[sorted_places] = np.searchsorted(ordered, known_values[sorted_places], side="right") - 1
    low = middles[np.clip(left - moves.most, 0, rows - 1)]
    high = middles[np.clip(right + moves.most, 0, rows - 1)]
    begin = np.minimum(left, rows - 1)
    end = np.maximum(begin, right)
    if is_middle:
        begin = end = (begin + end) // 2
    table = _table(moves, _Cells(begin * cells // rows, end * cells // rows), _Cells(first, last))
    scale = max(_spread(moves), 0.5)
    return ColumnLikelihood(
        "transitions", known_values, points / scale, low / scale, high / scale, transitions=table
    )


class _Cells(NamedTuple):
    first: Ints
    last: Ints


def _runs(ordered: Floats) -> _Cells:
    """Return the first and the last rank of each value's equals, (rows,) each."""
    places = np.arange(len(ordered))
    is_new = np.append(True, ordered[1:] != ordered[:-1])
    is_end = np.append(is_new[1:], True)
    first = np.maximum.accumulate(np.where(is_new, places, 0))
    last = np.minimum.accumulate(np.where(is_end, places, len(ordered))[::-1])[::-1]
    return _Cells(first, last)


def _spread(moves: RankMoves) -> float:
    """Return the root mean square of moves, in cells."""
    distances = np.arange(moves.shares.shape[1]) - moves.reach
    return math.sqrt(float(moves.shares.mean(axis=0) @ distances**2))


def _table(moves: RankMoves, known_cells: _Cells, released: _Cells) -> CellTransitions:
    """Return rows of transitions for each class, and for each run of cells that a value has."""
    cells, row = len(moves.class_of), moves.class_of[known_cells.first]
    is_run = known_cells.first < known_cells.last
    runs, run_of = np.unique(
        known_cells.first[is_run] * cells + known_cells.last[is_run], return_inverse=True
    )
    row[is_run] = len(moves.shares) + run_of
    shares = [*moves.shares, *(_mean_row(moves, *divmod(run, cells)) for run in runs.tolist())]
    begins = np.cumsum([0] + [len(one) for one in shares])
    logs = np.log(np.concatenate(shares))
    with np.errstate(divide="ignore"):
        beyond = np.full(len(shares), np.log(moves.beyond))
    start = known_cells.first - moves.reach
    return CellTransitions(logs, begins, beyond, row, start, released.first, released.last)


def _mean_row(moves: RankMoves, first: int, last: int) -> Floats:
    """Return the mean share of every cell that those of a run move to."""
    size = moves.shares.shape[1]
    total = np.zeros(size + last - first)
    for cell in range(first, last + 1):
        total[cell - first : cell - first + size] += moves.shares[moves.class_of[cell]]
        total[: cell - first] += moves.beyond
        total[cell - first + size :] += moves.beyond
    return total / (last - first + 1)
