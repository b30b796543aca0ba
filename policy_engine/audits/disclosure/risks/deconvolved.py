"""Which values go with what is known, told by a release whose masking is published."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.transparency import column_likelihoods
from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.risks.guessed_cells import known_points, released_cells
from policy_engine.kernels.attribute_inference import (
    category_bins,
    crossed,
    deconvolve,
    number_bins,
)
from policy_engine.kernels.linkage.likelihood import log_likelihoods

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BINS = {1: (32, 8), 2: (8, 4), 3: (4,)}
"""Numbers are known in so many bins of equal frequency, by how many columns are known. Categories
have twice as many, the last for all the rarer ones."""
_PERSONS, _MOST_PAIRS = 256, 1 << 22
"""So many different persons stand for all, and of so many pairs of these and of records, fewer
records for all."""
_LEAST_GAIN = 3.0
"""Nats by which records are to be likelier than if nothing known told anything of values."""


class Deconvolved(NamedTuple):
    """What a release tells of values by the cells of some columns that persons are in.

    `cell_of` (persons,); some `records` (n,), with the `weights` (cells, n) of each in each cell;
    and the `shares` (cells, bins) of the bins of values. It tells the more, the greater `gain`.
    """

    columns: tuple[KnownColumn, ...]
    cell_of: Ints
    records: Ints
    weights: Floats
    shares: Floats
    gain: float


def deconvolved(
    files: TwoFiles, sets: Sequence[tuple[KnownColumn, ...]], bins: Ints
) -> Iterator[Deconvolved]:
    """Yield what the release tells of the `bins` of its values, (records,), by sets of columns.

    Of columns that were masked, in each set, so that somebody knows how; coarsely and finely.
    """
    for some in sets:
        if len(some) in _BINS and any(column.masking for column in some):
            some_files = files.known_by([column.name for column in some])
            standing = _standing_of(some_files)
            kinds = _kinds(some_files, bins, standing.persons)
            for most in _BINS[len(some)]:
                one = _of_cells(some_files, standing, kinds, most)
                if one is not None:
                    yield one


class _Standing(NamedTuple):
    """Some `persons` (m,) who stand for all of the original, each for so many, `weights` (m,)."""

    persons: Ints
    weights: Floats


class _Kinds(NamedTuple):
    """The kinds of some `records` (n,), alike in cells and in the bin of their value: `kind_of`
    (n,), how many of each there are, (kinds,), the bin, and how likely it is for persons who stand
    for all, `likelihoods` (persons, kinds)."""

    records: Ints
    kind_of: Ints
    counts: Floats
    bins: Ints
    likelihoods: Floats


def _kinds(files: TwoFiles, bins: Ints, persons: Ints) -> _Kinds:
    """Return the kinds of records, all of them or, of too many kinds, of some records for all."""
    cells = released_cells(files.columns)
    keys = np.column_stack([cells.low, cells.high, bins])
    order = np.lexsort(keys.T)
    most = max(_MOST_PAIRS // len(persons), 1)
    is_new = np.append(True, (keys[order[1:]] != keys[order[:-1]]).any(axis=1))
    if is_new.sum() > most:
        order = order[:: -(-len(order) // most)]
        is_new = np.ones(len(order), dtype=np.bool_)
    kind_of, first = np.cumsum(is_new) - 1, order[is_new]
    columns = [one.of_records(first) for one in column_likelihoods(files)]
    logs = log_likelihoods(columns, persons)
    greatest = logs.max(axis=0)
    likelihoods = np.exp(logs - np.where(greatest > -np.inf, greatest, 0.0))
    counts = np.bincount(kind_of).astype(np.float64)
    return _Kinds(order, kind_of, counts, bins[first], likelihoods)


def _standing_of(files: TwoFiles) -> _Standing:
    cell_of = _cells(files.columns, _BINS[len(files.columns)][0])
    return _standing(cell_of[files.columns[0].present], known_points(files.columns))


def _standing(cell_of: Ints, points: Floats) -> _Standing:
    """Return persons who stand for those of their cell, as many of each cell, but all at least one
    and no two who are alike, if these are few."""
    persons = len(cell_of)
    order = np.lexsort((*points[:persons].T, cell_of))
    ordered = np.column_stack([cell_of, points[:persons]])[order]
    is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    begins = np.flatnonzero(is_new)
    if len(begins) <= _PERSONS:
        return _Standing(order[begins], np.diff(np.append(begins, persons)).astype(np.float64))
    sizes = np.bincount(cell_of)
    used = np.flatnonzero(sizes)
    counts = np.minimum(np.maximum(_PERSONS // len(used), 1), sizes[used])
    starts = np.cumsum(sizes[used]) - sizes[used]
    turns = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    each, size = np.repeat(counts, counts), np.repeat(sizes[used], counts)
    places = np.repeat(starts, counts) + (2 * turns + 1) * size // (2 * each)
    return _Standing(order[places], size / each)


def _of_cells(files: TwoFiles, standing: _Standing, kinds: _Kinds, most: int) -> Deconvolved | None:
    """Return what is told of values by cells of so many bins a column; None for next to nothing."""
    cell_of = _cells(files.columns, most)
    sizes = np.bincount(cell_of[files.columns[0].present], minlength=int(cell_of.max()) + 1)
    cells = cell_of[standing.persons]
    totals = np.bincount(cells, standing.weights, minlength=len(sizes))
    among = np.zeros((len(sizes), len(cells)))
    among[cells, np.arange(len(cells))] = standing.weights / totals[cells]
    likelihoods = (among @ kinds.likelihoods).T
    by_bins = deconvolve(likelihoods, sizes.astype(np.float64), kinds.bins, kinds.counts)
    if by_bins.gain <= _LEAST_GAIN:
        return None
    weights = by_bins.weights.T[:, kinds.kind_of]
    return Deconvolved(files.columns, cell_of, kinds.records, weights, by_bins.shares, by_bins.gain)


def _cells(columns: Sequence[KnownColumn], most: int) -> Ints:
    """Return in which cell each person is, (persons,), by so many bins of each column."""
    return reduce(crossed, [_known_bins(column, most) for column in columns])


def _known_bins(column: KnownColumn, most: int) -> Ints:
    if column.is_number:
        return number_bins(known_points([column])[:, 0], most)
    return category_bins(column.before, 2 * most)
