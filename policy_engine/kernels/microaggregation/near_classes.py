"""Classes of near rows of codes: MDAV within blocks, merged until each of them holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.microaggregation.class_sums import ClassSums
from policy_engine.kernels.microaggregation.code_blocks import CodeTree, cut_codes
from policy_engine.kernels.microaggregation.mdav import mdav
from policy_engine.kernels.microaggregation.merging import (
    Holds,
    Scopes,
    holding_scopes,
    merge_until,
)
from policy_engine.kernels.microaggregation.mixed import Placement, points_of
from policy_engine.kernels.microaggregation.strata import stratified_mdav

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Space:
    """Where the codes of a table lie, by column, and how many `rows` it has.

    A class has `k` of them at least, a block `most`. With `strata`, classes have one row of each
    stratum of a sensitive column.
    """

    placements: tuple[Placement, ...]
    rows: int
    k: int
    most: int
    strata: int = 0

    @property
    def least(self) -> int:
        """How many rows a block has at least."""
        return max(self.k, self.strata)

    @cached_property
    def spans(self) -> Floats:
        """The ranges of the points, (dimensions,)."""
        return np.concatenate([np.ptp(one.points, axis=0) for one in self.placements])

    @cached_property
    def shares(self) -> tuple[Ints, ...]:
        """The points as whole numbers of `unit` of their range, by column, (codes, dimensions)."""
        points = []
        for one in self.placements:
            low, span = one.points.min(axis=0), np.ptp(one.points, axis=0)
            part = (one.points - low) / np.where(span > 0, span, 1.0)
            points.append(np.rint(part / self.unit).astype(np.int64))
        return tuple(points)

    @property
    def unit(self) -> float:
        """So small a power of 2 that all rows together have less than 2**62 of it."""
        return 2.0 ** -min(62 - self.rows.bit_length(), 52)


def form_classes(
    codes: Codes, space: Space, words: Words, holds: Holds, sensitive: Codes | None = None
) -> Ints:
    """Return the class of every row, (rows,), numbered from 0, each of k rows or more that holds.

    `codes` (rows, columns) are those of a table, or of one of the parts into which it is cut first
    that holds as a whole: then the classes are the same. `words` (rows,) tell rows with equal
    codes apart by what else they hold. `sensitive` (rows,) are the codes of the column that has
    strata.
    """
    tree = cut_codes(codes, space.placements, space.least, space.most)
    groups, counts = np.empty(len(codes), dtype=np.int64), []
    before = 0
    for rows in tree.rows:
        values = None if sensitive is None else sensitive[rows]
        labels = _near_rows(codes[rows], space, words[rows], values)
        groups[rows] = before + labels
        counts.append(int(labels.max()) + 1)
        before += counts[-1]
    if holds(np.arange(len(groups)), groups, before).all():
        return groups
    scopes = holding_scopes(Scopes(np.repeat(tree.leaves, counts), tree.parent), groups, holds)
    sums = _sums_of(codes, groups, space, tree)
    return merge_until(groups, sums, space.spans, scopes, holds)


def merge_all(codes: Codes, space: Space, groups: Ints, holds: Holds) -> Ints:
    """Return the classes of a whole table, merged with the nearest of all until each holds."""
    tree = CodeTree(np.array([-1]), np.array([0]), (np.arange(len(codes)),))
    sums = _sums_of(codes, groups, space, tree)
    return merge_until(groups, sums, space.spans, Scopes.whole(len(sums.sizes)), holds)


def _near_rows(codes: Codes, space: Space, words: Words, sensitive: Codes | None) -> Ints:
    """Return the classes of the rows of a block, (rows,)."""
    if len(codes) <= space.most and sensitive is not None:
        points = points_of(codes, space.placements)
        return stratified_mdav(points, words, sensitive, space.strata)
    if len(codes) <= space.most:
        return mdav(points_of(codes, space.placements), words, space.k)
    # It could not be cut, since nearly all of its rows are equal: those are a class.
    usual = np.array([np.argmax(np.bincount(column)) for column in codes.T])
    others = np.flatnonzero((codes != usual).any(axis=1))
    labels = np.zeros(len(codes), dtype=np.int64)
    if len(others) >= space.k and len(others) <= len(codes) - space.k:
        points = points_of(codes[others], space.placements)
        labels[others] = 1 + mdav(points, words[others], space.k)
    return labels


def _sums_of(codes: Codes, groups: Ints, space: Space, tree: CodeTree) -> ClassSums:
    """Return the sums over classes, which are in the order of the blocks."""
    totals, sizes = zip(*_sums_by_block(codes, groups, space.shares, tree), strict=True)
    return ClassSums(np.concatenate(totals), np.concatenate(sizes), space.unit)


def _sums_by_block(
    codes: Codes, groups: Ints, shares: Sequence[Ints], tree: CodeTree
) -> Iterator[tuple[Ints, Ints]]:
    for block in tree.rows:
        rows = block[np.argsort(groups[block], kind="stable")]
        starts = np.flatnonzero(np.diff(groups[rows], prepend=-1))
        columns = zip(codes[rows].T, shares, strict=True)
        parts = [np.add.reduceat(share[column], starts, axis=0) for column, share in columns]
        yield np.concatenate(parts, axis=1), np.diff(starts, append=len(rows))
