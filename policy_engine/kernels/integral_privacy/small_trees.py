"""Decision trees of bounded depth over small tables of whole numbers, exact."""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.integral_privacy.canonical_trees import Leaf, Split, Tree, canonical
from policy_engine.kernels.integral_privacy.modifications import Result, Statistic

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def decision_tree(depth: int) -> Statistic:
    """Return the statistic of the tree of at most so many decisions that predicts the last column.

    By the least Gini impurity (Breiman, Friedman, Olshen and Stone: Classification and Regression
    Trees, 1984), as long as it falls; thresholds are midway between neighbouring values. Of equal
    splits the first column's lowest one is taken, of classes equally frequent in a leaf the lowest
    one. So the tree does not depend on the order of the rows. In canonical form; None of an empty
    table.
    """

    def read_records(records: Ints) -> Result:
        classes, labels = np.unique(records[:, -1], return_inverse=True)
        is_label = np.eye(len(classes), dtype=np.int64)[labels]

        def compute(counts: Ints) -> Hashable:
            present = counts > 0
            if not present.any():
                return None
            weights = counts[present, None] * is_label[present]
            return canonical(_grown(_Node(records[present, :-1], weights, classes), depth))

        return compute

    return read_records


@dataclass(frozen=True)
class _Node:
    """The records at a node, (records, columns), and how often each has each class."""

    cells: Ints
    weights: Ints
    classes: Ints

    def part(self, rows: Bools) -> "_Node":
        return _Node(self.cells[rows], self.weights[rows], self.classes)


def _grown(node: _Node, depth: int) -> Tree:
    best = _best_split(node) if depth else None
    if best is None:
        return Leaf(float(node.classes[np.argmax(node.weights.sum(axis=0))]))
    column, threshold = best
    is_below = node.cells[:, column] <= threshold
    below, above = (_grown(node.part(rows), depth - 1) for rows in (is_below, ~is_below))
    return Split(column, threshold, below, above)


def _best_split(node: _Node) -> tuple[int, float] | None:
    """Return the column and threshold of the split of least impurity, None if none lowers it."""
    total = node.weights.sum(axis=0)
    best, split = Fraction(int(total @ total), int(total.sum())), None
    for column in range(node.cells.shape[1]):
        values, place = np.unique(node.cells[:, column], return_inverse=True)
        counts = np.zeros((len(values), len(total)), dtype=np.int64)
        np.add.at(counts, place.reshape(-1), node.weights)
        below = np.cumsum(counts, axis=0)[:-1]
        for at, purity in enumerate(_purities(below, total - below)):
            # Strictly: of equal splits, the first one stays.
            if purity > best:
                best, split = purity, (column, float(values[at] + values[at + 1]) / 2)
    return split


def _purities(below: Ints, above: Ints) -> list[Fraction]:
    """Return the sum of both sides' squared class counts by their sizes, which Gini lowers."""
    squares = [(side * side).sum(axis=1).tolist() for side in (below, above)]
    sizes = [side.sum(axis=1).tolist() for side in (below, above)]
    return [Fraction(a, m) + Fraction(b, n) for a, b, m, n in zip(*squares, *sizes, strict=True)]
