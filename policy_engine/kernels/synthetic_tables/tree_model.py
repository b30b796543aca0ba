"""The likeliest distribution of a tree of columns, given noisy counts of columns and of pairs.

McKenna, Sheldon and Miklau: Graphical-model based estimation and inference for differential
privacy, ICML 2019, on a tree: beliefs are exact there, and locally consistent counts are those of a
distribution. Everything here is a function of noisy counts, and costs no privacy.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pair = tuple[int, int]


@dataclass(frozen=True)
class NoisyCounts:
    """Counts with noise: of the values of each column, (values,), and of pairs of columns,
    (values, values), with the variance of the noise of both."""

    columns: Sequence[Floats]
    pairs: Mapping[Pair, Floats]
    variance: float
    pair_variance: float

    def total(self) -> float:
        """Return the number of rows that the counts tell best, at least 1.

        Each marginal sums to it, with a variance of as many counts as it has.
        """
        sums = [(one.sum(), one.size * self.variance) for one in self.columns]
        sums += [(one.sum(), one.size * self.pair_variance) for one in self.pairs.values()]
        weights = np.array([1 / variance for _, variance in sums])
        return max(float(np.average([total for total, _ in sums], weights=weights)), 1.0)


@dataclass(frozen=True)
class TreeModel:
    """A distribution of rows: the shares of the values of each column, and of pairs.

    A column after the first is drawn given its parent: `edges` are (parent, child), in an order in
    which no child is before its parent.
    """

    columns: Sequence[Floats]
    pairs: Mapping[Pair, Floats]
    edges: Sequence[Pair]


def fitted_tree(counts: NoisyCounts, steps: int = 500) -> TreeModel:
    """Return the distribution whose counts have the least squared distance from noisy ones.

    Distances are weighted by the variances. `counts.pairs` are a spanning tree of the columns. It
    is found by mirror descent with a line search, which ends before `steps` where ten of them gain
    next to nothing.
    """
    edges = tuple(_rooted(len(counts.columns), counts.pairs))
    oriented = {
        (one, other): counts.pairs[one, other]
        if (one, other) in counts.pairs
        else counts.pairs[other, one].T
        for one, other in edges
    }
    problem = _Problem(counts, oriented, edges, counts.total())
    # A step that is too long overflows, and is halved like any other that gains nothing.
    with np.errstate(all="ignore"):
        return _descended(problem, steps)


def _rooted(columns: int, pairs: Mapping[Pair, Floats]) -> Iterator[Pair]:
    """Yield the edges of a tree from the first column outwards. Raises ValueError for others."""
    reached, left = [0], {frozenset(pair) for pair in pairs}
    for one in reached:
        for other in sorted(max(pair - {one}) for pair in left if one in pair):
            left.remove(frozenset((one, other)))
            if other not in reached:
                reached.append(other)
                yield one, other
    if len(reached) != columns or len(pairs) != columns - 1:
        raise ValueError("The pairs are not a tree of all columns.")


@dataclass(frozen=True)
class _Problem:
    counts: NoisyCounts
    pairs: Mapping[Pair, Floats]
    edges: Sequence[Pair]
    total: float

    def loss(self, model: TreeModel) -> float:
        """Return half the weighted squared distance of the counts of a model."""
        own = sum(
            float(((self.total * share - noisy) ** 2).sum())
            for share, noisy in zip(model.columns, self.counts.columns, strict=True)
        )
        of_pairs = sum(
            float(((self.total * model.pairs[edge] - self.pairs[edge]) ** 2).sum())
            for edge in self.edges
        )
        return own / (2 * self.counts.variance) + of_pairs / (2 * self.counts.pair_variance)

    def slopes(self, model: TreeModel) -> tuple[list[Floats], dict[Pair, Floats]]:
        """Return how the loss grows with each count of a model."""
        own = [
            (self.total * share - noisy) / self.counts.variance
            for share, noisy in zip(model.columns, self.counts.columns, strict=True)
        ]
        of_pairs = {
            edge: (self.total * model.pairs[edge] - self.pairs[edge]) / self.counts.pair_variance
            for edge in self.edges
        }
        return own, of_pairs


@dataclass(frozen=True)
class _Potentials:
    """The logs of the factors of a distribution, those of columns and those of pairs."""

    columns: Sequence[Floats]
    pairs: Mapping[Pair, Floats]

    def moved(self, slopes: tuple[list[Floats], dict[Pair, Floats]], step: float) -> "_Potentials":
        own, of_pairs = slopes
        return _Potentials(
            [one - step * slope for one, slope in zip(self.columns, own, strict=True)],
            {edge: one - step * of_pairs[edge] for edge, one in self.pairs.items()},
        )


def _descended(problem: _Problem, steps: int) -> TreeModel:
    potentials = _Potentials(
        [np.zeros(one.size) for one in problem.counts.columns],
        {edge: np.zeros(one.shape) for edge, one in problem.pairs.items()},
    )
    model = beliefs(potentials.columns, potentials.pairs, problem.edges)
    loss, step, idle = problem.loss(model), math.inf, 0
    for _ in range(steps):
        slopes = problem.slopes(model)
        step = min(step, _LONGEST / _steepest(slopes))
        for _ in range(_HALVINGS):
            moved = potentials.moved(slopes, step)
            reached = beliefs(moved.columns, moved.pairs, problem.edges)
            loss_there = problem.loss(reached)
            if loss - loss_there >= step * _gain(slopes, model, reached, problem.total) / 2:
                break
            step /= 2
        else:
            break
        idle = idle + 1 if loss - loss_there <= _LEAST_GAIN * loss else 0
        potentials, model, loss, step = moved, reached, loss_there, step * _GROWTH
        if idle == _MOST_IDLE:
            break
    return model


_LONGEST = 2.0
"""A step moves the log of a factor by so much at most: what a longer one makes next to impossible
is so for long."""
_HALVINGS = 40
_GROWTH = 1.5
_LEAST_GAIN = 1e-6
_MOST_IDLE = 10


def _steepest(slopes: tuple[list[Floats], dict[Pair, Floats]]) -> float:
    own, of_pairs = slopes
    return max(float(np.abs(one).max()) for one in (*own, *of_pairs.values())) or 1.0


def _gain(
    slopes: tuple[list[Floats], dict[Pair, Floats]],
    model: TreeModel,
    reached: TreeModel,
    total: float,
) -> float:
    """Return what a step should gain at least, by the slopes where it began."""
    own, of_pairs = slopes
    gain = sum(
        float((slope * (one - other)).sum())
        for slope, one, other in zip(own, model.columns, reached.columns, strict=True)
    )
    gain += sum(
        float((slope * (model.pairs[edge] - reached.pairs[edge])).sum())
        for edge, slope in of_pairs.items()
    )
    return total * gain


def beliefs(
    columns: Sequence[Floats], pairs: Mapping[Pair, Floats], edges: Sequence[Pair]
) -> TreeModel:
    """Return the distribution with these logs of factors: sums up the tree, and down again."""
    upward = [one.copy() for one in columns]
    messages: dict[int, Floats] = {}
    for parent, child in reversed(edges):
        messages[child] = _log_sums(pairs[parent, child] + upward[child])
        upward[parent] += messages[child]
    joint = [_normalised(upward[0])] + [np.zeros(0)] * (len(columns) - 1)
    shares: dict[Pair, Floats] = {}
    for parent, child in edges:
        logs = pairs[parent, child] + upward[child]
        conditional = np.exp(logs - messages[child][:, None])
        shares[parent, child] = joint[parent][:, None] * conditional
        joint[child] = shares[parent, child].sum(axis=0)
    return TreeModel(joint, shares, tuple(edges))


def _log_sums(logs: Floats) -> Floats:
    """Return the logs of the sums of rows of exponentials, (rows,)."""
    greatest = logs.max(axis=1)
    sums: Floats = greatest + np.log(np.exp(logs - greatest[:, None]).sum(axis=1))
    return sums


def _normalised(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max())
    shares: Floats = weights / weights.sum()
    return shares


def nearest_shares(counts: Floats) -> Floats:
    """Return the shares nearest to those of noisy counts: none is negative, and their sum is 1.

    The projection on the simplex (Duchi, Shalev-Shwartz, Singer and Chandra, ICML 2008), of counts
    over their sum; equal shares where that is not above 0.
    """
    total = counts.sum()
    if total <= 0:
        return np.full(counts.size, 1 / counts.size)
    shares = counts / total
    descending = np.sort(shares)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, shares.size + 1)
    last = int(np.flatnonzero(descending >= excess)[-1])
    projected = np.maximum(shares - excess[last], 0)
    if not projected.sum() > 0:  # noise so great that a share of 1 is lost in its rounding
        projected = (shares == shares.max()).astype(np.float64)
    nearest: Floats = projected / projected.sum()
    return nearest
