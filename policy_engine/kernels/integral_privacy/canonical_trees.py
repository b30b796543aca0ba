"""Decision trees in a canonical form, in which trees that decide alike in the same order are equal.

Columns are numbered from 0. Cells are finite numbers, those of a `Choice` whole ones.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Leaf(NamedTuple):
    """A leaf and what it predicts: the number of a class, or a number."""

    value: float


class Split(NamedTuple):
    """Rows whose cell is at most the threshold are `below`, all others `above`."""

    column: int
    threshold: float
    below: "Tree"
    above: "Tree"


class Choice(NamedTuple):
    """A branch for each code of a column."""

    column: int
    branches: tuple[tuple[int, "Tree"], ...]


Tree = Leaf | Split | Choice


def canonical(tree: Tree, decimals: int | None = None) -> Tree:
    """Return the canonical form of a tree, its thresholds and leaves' values rounded to decimals.

    Branches of a choice are in the order of their codes. Branches that no row can reach, and
    decisions whose outcomes are equal, are left out. So it predicts what the tree does, up to the
    rounding and codes without a branch; what is published must be this form, not the tree.
    """
    return _canonical(tree, decimals, {}, {})


Ranges = dict[int, tuple[float, float]]
Codes = dict[int, int]


def _canonical(tree: Tree, decimals: int | None, ranges: Ranges, codes: Codes) -> Tree:
    if isinstance(tree, Leaf):
        return Leaf(_rounded(tree.value, decimals))
    if isinstance(tree, Split):
        return _canonical_split(tree, decimals, ranges, codes)
    return _canonical_choice(tree, decimals, ranges, codes)


def _rounded(number: float, decimals: int | None) -> float:
    # Adding 0 makes -0.0 the 0.0 that it equals.
    return float(number) + 0.0 if decimals is None else round(float(number), decimals) + 0.0


def _canonical_split(tree: Split, decimals: int | None, ranges: Ranges, codes: Codes) -> Tree:
    """`ranges` are the cells (above, at most) by column with which a row comes here."""
    threshold = _rounded(tree.threshold, decimals)
    low, high = ranges.get(tree.column, (-math.inf, math.inf))
    if threshold >= high:
        return _canonical(tree.below, decimals, ranges, codes)
    if threshold <= low:
        return _canonical(tree.above, decimals, ranges, codes)
    below, above = {tree.column: (low, threshold)}, {tree.column: (threshold, high)}
    low_side = _canonical(tree.below, decimals, ranges | below, codes)
    high_side = _canonical(tree.above, decimals, ranges | above, codes)
    if low_side == high_side:
        return low_side
    return Split(int(tree.column), threshold, low_side, high_side)


def _canonical_choice(tree: Choice, decimals: int | None, ranges: Ranges, codes: Codes) -> Tree:
    """`codes` are those by column with which a row comes here."""
    branches = dict(tree.branches)
    if tree.column in codes and codes[tree.column] in branches:
        return _canonical(branches[codes[tree.column]], decimals, ranges, codes)
    trees = {
        code: _canonical(branches[code], decimals, ranges, codes | {tree.column: code})
        for code in sorted(branches)
    }
    if len(set(trees.values())) == 1:
        return next(iter(trees.values()))
    return Choice(int(tree.column), tuple((int(code), trees[code]) for code in trees))


def tree_of_arrays(
    left: Ints,
    right: Ints,
    columns: Ints,
    thresholds: Floats,
    values: NDArray[Any],
    classes: Ints | None = None,
) -> Tree:
    """Return the tree whose nodes, (nodes,), are in arrays, as scikit-learn's `tree_` has them.

    Node 0 is the root, and a node is a leaf if its `left` is -1. `values` (nodes, classes) are how
    much of each of the `classes` (classes,) a node has, of which a leaf predicts the largest, the
    first of equals: numbers that mean the same in all trees, even where a sample lacks a class.
    Without `classes`, `values` (nodes, 1) are numbers predicted. Where each node sends missing
    values is not followed.
    """

    def node(at: int) -> Tree:
        if left[at] < 0:
            row = values[at].reshape(-1)
            return Leaf(float(row[0] if classes is None else classes[np.argmax(row)]))
        below, above = node(int(left[at])), node(int(right[at]))
        return Split(int(columns[at]), float(thresholds[at]), below, above)

    return node(0)


def predictions(tree: Tree, table: Floats) -> Floats:
    """Return what a tree predicts of every row, (rows,), and NaN where a code has no branch."""
    if isinstance(tree, Leaf):
        return np.full(len(table), tree.value)
    labels = np.full(len(table), np.nan)
    cells = table[:, tree.column]
    if isinstance(tree, Split):
        sides = [(cells <= tree.threshold, tree.below), (cells > tree.threshold, tree.above)]
    else:
        sides = [(cells == code, branch) for code, branch in tree.branches]
    for rows, side in sides:
        labels[rows] = predictions(side, table[rows])
    return labels
