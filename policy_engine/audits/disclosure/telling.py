"""How much one column alone tells of whose record is whose, and the columns in that order."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.audits.disclosure.scales import scales

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_PERSONS = 1_000
"""Of so many persons at most, a figure is taken."""
_MOST_PAIRS = 2_000_000
"""So many persons times cells of several values are compared at most."""
_PAIRS_A_CELL = 5
"""What a matrix turns values into is counted from so many pairs for each of its cells at least."""
_DECIMALS = 6
"""Figures that differ by rounding alone put no column before another."""
_NEAR = 1e-9
"""Records that are farther by rounding alone are as near."""


def most_telling_first(columns: Sequence[KnownColumn], own: Ints) -> dict[str, float]:
    """Return how much each column tells, those that tell most first.

    Columns that tell as much are in the order of their names: neither the order of columns nor that
    of rows decides by which columns attacks are made.
    """
    information = {one.name: round(how_telling(one, own), _DECIMALS) for one in columns}
    return dict(sorted(information.items(), key=lambda one: (-one[1], one[0])))


def how_telling(column: KnownColumn, own: Ints) -> float:
    """Return how much a column alone tells of whose record is whose: 0 where it is at random.

    It is the mean of minus the logarithm of the share of records that are not farther from a person
    than the own one, less that mean for records of other persons. Numbers differ by the standard
    deviations of each file, by those of the original or by their ranks, whichever tells most;
    categories are equal or not. Of many persons, those are taken that stand at equal distances
    when all are in the order of their values.
    """
    paired = np.flatnonzero(own >= 0)
    if len(paired) < _FEWEST:
        return 0.0
    cells = len(column.after.starts) - 1
    counts = np.bincount(column.after.cell_of, minlength=cells)
    pairs = column.before[paired].astype(np.int64) * cells + column.after.cell_of[own[paired]]
    most = MOST_PERSONS if column.is_point else min(MOST_PERSONS, max(_MOST_PAIRS // cells, 1))
    codes, own_cells = np.divmod(_spaced(np.sort(pairs), most), cells)
    if column.is_point:
        measures = list(_nearer_numbers(column, codes, counts))
    else:
        measures = [_nearer_cells(column, codes, counts)]
        if len(column.labels) * cells * _PAIRS_A_CELL <= len(pairs):
            drawn = np.bincount(pairs, minlength=len(column.labels) * cells).reshape(-1, cells)
            measures.append(_not_less(drawn[codes] / np.maximum(counts, 1), counts))
    return max(0.0, *(_excess(one, own_cells, int(counts.sum())) for one in measures))


_FEWEST = 2
_SHIFTS = 16
"""With so many records of other persons the own one is compared."""
Nearer: TypeAlias = Callable[[Ints], Floats]
"""How many records are not farther from persons than those in some cells, (persons,)."""


def _excess(nearer: Nearer, own_cells: Ints, records: int) -> float:
    """Return by how much the own records are nearer than those of other persons."""
    if len(own_cells) < _FEWEST:
        return 0.0
    # Cells are in the order of the persons' values: each person gets some from everywhere.
    shifts = [0, *_spaced(np.arange(1, len(own_cells)), _SHIFTS).tolist()]
    own, *others = (
        float(-np.log(nearer(np.roll(own_cells, shift)) / records).mean()) for shift in shifts
    )
    return own - sum(others) / len(others)


def _spaced(values: Ints, most: int) -> Ints:
    """Return at most so many of some values, at equal distances."""
    count = min(most, len(values))
    places = (2 * np.arange(count, dtype=np.int64) + 1) * len(values) // (2 * count)
    return values[places]


def _nearer_numbers(column: KnownColumn, codes: Ints, counts: Ints) -> Iterator[Nearer]:
    """Yield how near records are by numbers, on each scale."""
    values = column.values.astype(np.float64).copy()
    values[: int(column.has_missing)] = np.nan
    released = values[column.after.low[column.after.starts[:-1]]]
    order = np.argsort(released, kind="stable")  # nan is last
    present = int((~np.isnan(released)).sum())
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    sums = np.append(0, np.cumsum(counts[order]))
    known_counts = np.bincount(column.before[column.present], minlength=len(values))
    before, after = scales(column)
    places = _Places(values[codes], released, rank, sums, present)
    for known_scores, scores in (
        (before.scores(values[codes]), after.scores(released[order])),
        (before.scores(values[codes]), before.scores(released[order])),
        (_ranks(values, known_counts)[codes], _ranks(released, counts)[order]),
    ):
        yield partial(_within, places, known_scores, scores)


class _Places(NamedTuple):
    """The `known` values of persons, (persons,), and cells: their `released` values and `rank` by
    these, (cells,), the `sums` of records up to each rank, and how many cells are `present`."""

    known: Floats
    released: Floats
    rank: Ints
    sums: Ints
    present: int


def _within(places: _Places, known_scores: Floats, scores: Floats, own_cells: Ints) -> Floats:
    """Return how many records are not farther than the own ones, (persons,)."""
    sums, present = places.sums, places.present
    apart = np.abs(known_scores - scores[places.rank[own_cells]])
    apart = np.where(np.isnan(apart), np.inf, apart * (1 + _NEAR) + _NEAR)
    low, high = known_scores - apart, known_scores + apart
    first = np.searchsorted(scores[:present], low, side="left")
    behind = np.searchsorted(scores[:present], high, side="right")
    # Missing cells are alike, and farther from values than these from each other.
    own_missing, missing = np.isnan(places.released[own_cells]), sums[-1] - sums[present]
    near = np.where(own_missing, sums[-1], sums[behind] - sums[first])
    near = np.where(np.isnan(places.known), np.where(own_missing, missing, sums[-1]), near)
    return np.maximum(near, 1).astype(np.float64)


def _ranks(values: Floats, counts: Ints) -> Floats:
    """Return the share of rows below each of some values, half of its own among them."""
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(np.where(np.isnan(values), 0, counts)[order])
    ranks = np.empty(len(values))
    ranks[order] = (sums - counts[order] / 2) / max(int(sums[-1]), 1)
    ranks[np.isnan(values)] = np.nan
    return ranks


def _nearer_cells(column: KnownColumn, codes: Ints, counts: Ints) -> Nearer:
    """Return how near records are by how likely their cells stand for a person's value."""
    cells = len(counts)
    every = np.tile(np.arange(cells), len(codes))
    fits = column.covers(every, np.repeat(codes, cells)).reshape(len(codes), cells)
    return _not_less(np.where(fits, 1 / column.after.widths, 0.0), counts)


def _not_less(likely: Floats, counts: Ints) -> Nearer:
    """Return how near records are whose cells are `likely`, (persons, cells)."""

    def nearer(own_cells: Ints) -> Floats:
        own = likely[np.arange(len(likely)), own_cells]
        return np.asarray((likely >= own[:, np.newaxis]) @ counts, dtype=np.float64)

    return nearer
