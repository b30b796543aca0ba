"""The measures of loss by which the nodes of a lattice are compared.

The search checks few nodes because each measure bounds the loss of a node from below: once for all
nodes, from the heights alone, and again from every node that was checked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np

from policy_engine.kernels.full_domain.ladder import Floats, Ladder
from policy_engine.kernels.full_domain.lattice import Heights
from policy_engine.kernels.full_domain.tuples import ReleasedClasses, TupleTable

Measure = Literal[
    "loss",
    "certainty-penalty",
    "precision",
    "non-uniform-entropy",
    "height",
    "discernability",
    "average-class-size",
]


@dataclass(frozen=True)
class Score:
    """The loss of a node, and lower bounds of the loss of all nodes above it and below it."""

    loss: float
    above: float = -np.inf
    below: float = -np.inf


class Scorer(Protocol):
    """A measure of loss on one table."""

    def floors(self) -> Floats:
        """Return a lower bound of the loss of every node, in the shape of the lattice."""

    def score(self, heights: Heights, classes: ReleasedClasses, released: ReleasedClasses) -> Score:
        """Return the loss of a node, given its classes before and after suppression."""


@dataclass(frozen=True)
class _ColumnScorer:
    """A measure that adds up a cost for each quasi-identifier.

    `costs[i][h]` is that of generalisation alone; `suppression_cost(released, i, h)`, never
    negative, is what suppression adds. The loss is outer(sum of weight * inner(cost)).
    """

    costs: tuple[Floats, ...]
    suppression_cost: Callable[[ReleasedClasses, int, int], float]
    weights: Floats
    inner: Callable[[Floats], Floats] = np.asarray
    outer: Callable[[Floats], Floats] = np.asarray

    def floors(self) -> Floats:
        # What generalisation alone costs: suppression only adds to it, and `inner` and `outer`
        # never fall. That bound is the loss itself where nothing is suppressed.
        terms = zip(self.weights, self.costs, strict=True)
        return self.outer(reduce(np.add.outer, [w * self.inner(costs) for w, costs in terms]))

    def score(
        self, heights: Heights, _classes: ReleasedClasses, released: ReleasedClasses
    ) -> Score:
        costs = [
            self.costs[i][h] + self.suppression_cost(released, i, h) for i, h in enumerate(heights)
        ]
        return Score(float(self.outer(np.dot(self.weights, self.inner(np.array(costs))))))


def _mean_penalty(
    table: TupleTable, penalties: Sequence[Sequence[Floats]], **join: Any
) -> _ColumnScorer:
    """Join by column the mean over rows of penalties[i][h] (m,), 1 for a suppressed row."""

    def suppression_cost(released: ReleasedClasses, column: int, height: int) -> float:
        spared = 1.0 - penalties[column][height]
        return float(_suppressed_codes(released, column) @ spared) / table.rows

    costs = tuple(
        np.array([table.occurrences(i) @ by_code for by_code in by_height]) / max(table.rows, 1)
        for i, by_height in enumerate(penalties)
    )
    weights = _weights(table)
    return _ColumnScorer(costs, suppression_cost, weights / (weights.sum() or 1.0), **join)


def _suppressed_codes(released: ReleasedClasses, column: int) -> Floats:
    return released.table.occurrences(column, released.suppressed_tuples)


def _weights(table: TupleTable) -> Floats:
    return np.array([ladder.weight for ladder in table.ladders], dtype=np.float64)


def _penalties(table: TupleTable) -> list[list[Floats]]:
    return [[each.penalties(h) for h in range(len(each.levels))] for each in table.ladders]


def loss(table: TupleTable) -> Scorer:
    """Return the measure that ARX calls Loss, after Iyengar (KDD 2002), from 0 to 1.

    For each quasi-identifier the mean penalty of its cells, 1 for those of a suppressed row
    (ARX's factor of 0.5, which treats generalisation and suppression alike); joined by the
    weighted geometric mean of 1 + mean penalty, minus 1 (ARX's default aggregate).
    """
    return _mean_penalty(table, _penalties(table), inner=np.log1p, outer=np.expm1)


def certainty_penalty(table: TupleTable) -> Scorer:
    """Return the global certainty penalty: the mean penalty of all cells, from 0 to 1.

    Xu et al., KDD 2006; Ghinita et al., VLDB 2007. A cell of a suppressed row counts 1.
    """
    return _mean_penalty(table, _penalties(table))


def precision(table: TupleTable) -> Scorer:
    """Return 1 - Prec: the mean of height / highest height over all cells, from 0 to 1.

    Sweeney, Achieving k-anonymity privacy protection using generalization and suppression,
    IJUFKS 10(5), 2002. A cell of a suppressed row counts 1.
    """
    return _mean_penalty(table, [_relative_heights(ladder) for ladder in table.ladders])


def _relative_heights(ladder: Ladder) -> list[Floats]:
    top = max(len(ladder.levels) - 1, 1)
    return [np.full(len(ladder.levels[0]), h / top) for h in range(len(ladder.levels))]


def height(table: TupleTable) -> Scorer:
    """Return the sum of the heights, weighted (Samarati 2001; LeFevre et al. 2005).

    Suppressed rows do not count; of nodes with equal heights, the one with fewer is better.
    """
    costs = tuple(np.arange(len(ladder.levels), dtype=np.float64) for ladder in table.ladders)
    return _ColumnScorer(costs, lambda *_: 0.0, _weights(table))


def non_uniform_entropy(table: TupleTable) -> Scorer:
    """Return the bits lost, -log2 P(value | generalised value) summed over all cells, weighted.

    De Waal and Willenborg, 1999; Gionis and Tassa, IEEE TKDE 2009. Probabilities are relative
    frequencies in the table. A suppressed cell loses, as in ARX, the bits of its generalised
    value among the suppressed rows as well.
    """

    def suppression_cost(released: ReleasedClasses, column: int, height: int) -> float:
        level = table.ladders[column].levels[height]
        counts = np.bincount(level, _suppressed_codes(released, column))
        counts = counts[counts > 0]
        return float(counts @ np.log2(counts.sum() / counts)) if len(counts) else 0.0

    costs = tuple(_lost_bits(each, table.occurrences(i)) for i, each in enumerate(table.ladders))
    return _ColumnScorer(costs, suppression_cost, _weights(table))


def _lost_bits(ladder: Ladder, counts: Floats) -> Floats:
    # Codes that no row has would give 0 * log(0), which is not a number.
    occurring = counts > 0
    cell_counts = [np.bincount(level, counts)[level[occurring]] for level in ladder.levels]
    return np.array([counts[occurring] @ np.log2(n / counts[occurring]) for n in cell_counts])


@dataclass(frozen=True)
class _ClassScorer:
    """A measure of the class sizes; `floor(rows, classes)` is its least value for their number."""

    table: TupleTable
    floor: Callable[[int, Floats], Floats]
    class_score: Callable[[int, ReleasedClasses, ReleasedClasses], Score]

    def floors(self) -> Floats:
        # A node has no more classes than its generalised values have combinations, and no more
        # than the table has tuples.
        columns = enumerate(self.table.ladders)
        codes = [(each, np.flatnonzero(self.table.occurrences(i))) for i, each in columns]
        widths = [[len(np.unique(level[occur])) for level in x.levels] for x, occur in codes]
        most = reduce(np.multiply.outer, [np.array(each, dtype=np.float64) for each in widths])
        return self.floor(self.table.rows, np.clip(most, 1, max(len(self.table.counts), 1)))

    def score(
        self, _heights: Heights, classes: ReleasedClasses, released: ReleasedClasses
    ) -> Score:
        return self.class_score(self.table.rows, classes, released)


def discernability(table: TupleTable) -> Scorer:
    """Return the sum of the squared class sizes; a suppressed row counts all rows.

    Bayardo and Agrawal, ICDE 2005. Without suppression it grows with the heights (DM*, El Emam
    et al., JAMIA 2009), and no sizes of c classes have a smaller sum of squares than equal ones.
    """

    def class_score(rows: int, classes: ReleasedClasses, released: ReleasedClasses) -> Score:
        # Suppressing a class of n rows costs n * rows, no less than the n * n that it cost, so the
        # classes before suppression bound all nodes above, where classes only merge. Nodes below
        # suppress no fewer rows.
        lost = float(rows) * released.suppressed
        return Score(_squares(released) + lost, above=_squares(classes), below=lost)

    return _ClassScorer(table, lambda rows, classes: rows * (rows / classes), class_score)


def _squares(released: ReleasedClasses) -> float:
    sizes = released.sizes.astype(np.float64)
    return float(sizes @ sizes)


def average_class_size(table: TupleTable) -> Scorer:
    """Return rows / classes, the suppressed rows being one class more, as in ARX.

    LeFevre, DeWitt, Ramakrishnan, ICDE 2006, without their division by k.
    """

    def class_score(rows: int, classes: ReleasedClasses, released: ReleasedClasses) -> Score:
        count = released.count + (released.count < classes.count)
        return Score(rows / count, above=rows / classes.count)

    return _ClassScorer(table, lambda rows, classes: rows / classes, class_score)


MEASURES: MappingProxyType[Measure, Callable[[TupleTable], Scorer]] = MappingProxyType(
    {
        "loss": loss,
        "certainty-penalty": certainty_penalty,
        "precision": precision,
        "non-uniform-entropy": non_uniform_entropy,
        "height": height,
        "discernability": discernability,
        "average-class-size": average_class_size,
    }
)
"""Every measure of loss, by its name."""
