"""How often predicates fit exactly one person, and how far that is one of the persons drawn."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.risks.tables import AttackedRows
from policy_engine.kernels.generative.predicate_counts import (
    Predicates,
    count_rows,
    weighted_rows,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Successes:
    """A share of attacks that succeed, and of how many independent ones it tells as much."""

    share: float
    size: float


def singled_out(tables: AttackedRows, predicates: Predicates) -> tuple[Successes, Successes]:
    """Return how often predicates fit exactly one of all members, and one of the holdout.

    The holdout is compared as if it had as many rows as there are members. Of more rows, so many
    are drawn; with fewer, they take the places of as many members: what counts is that a predicate
    fits one of them alone, and none of the members that are left, times how many more the members
    are. Both are means over all draws. By that, one of the holdout is singled out as often as a
    member whom the generator has not seen.

    Predicates share persons, and so are fewer than they seem: by how much is the ratio of how the
    share varies without any one of the rows (jackknife: Efron and Stein, Annals of Statistics 9(3),
    1981) to how it would if no row fitted two predicates. It is the design effect of samples in
    clusters (Kish, Survey Sampling, 1965).
    """
    members, others = len(tables.members), len(tables.holdout)
    fitting, fitted = _counts(tables.members, predicates), _counts(tables.holdout, predicates)
    alone, kept = _chances(members, others)
    train = _Side(tables.members, predicates, fitting, _is_one)
    control = _Side(tables.holdout, predicates, fitted, alone, kept(fitting))
    through = _Side(tables.members, predicates, fitting, kept, alone(fitted))
    own, other, shared = (_spread(one.moves()) for one in (train, control, through))
    # What is drawn for both makes their difference vary more than either.
    both = _spread(train.moves() - through.moves())
    together = max((both + other) / (own + other + shared), 1.0) if own + other + shared else 1.0
    # Predicates have rows in common on both sides alike, and few successes tell it badly.
    effect = (
        _MORE
        * together
        * max(
            _effect(own, train.spread_alone),
            _effect(other + shared, control.spread_alone + through.spread_alone),
        )
    )
    most = len(predicates)
    # One of a smaller holdout stands for several.
    fewer = min(most, others) * min(others / members, 1.0)
    return train.successes(effect, min(members, most)), control.successes(effect, fewer)


_MORE = 1.25
"""By so much the ratio of jackknives is too small, where simulated intervals cover 95%."""


def naive_successes(tables: AttackedRows, predicates: Predicates) -> Successes:
    """Return how often predicates fit exactly one of all members."""
    counts = _counts(tables.members, predicates)
    side = _Side(tables.members, predicates, counts, _is_one)
    effect = _effect(_spread(side.moves()), side.spread_alone)
    return side.successes(effect, min(len(tables.members), len(predicates)))


def _is_one(counts: Ints) -> Floats:
    return np.where(counts == 1, 1.0, 0.0)


def _counts(rows: Floats, predicates: Predicates) -> Ints:
    return count_rows(rows, predicates, most=len(rows) + 1)


def _chances(
    members: int, others: int
) -> tuple[Callable[[Ints], Floats], Callable[[Ints], Floats]]:
    """Return the chances, by how many rows fit: that of the holdout one alone does, and that no
    member does that is left."""
    from scipy.stats import hypergeom  # noqa: PLC0415 (slow to import, an extra)

    if others >= members:
        return (
            lambda counts: hypergeom.pmf(1, others, np.maximum(counts, 0), members),
            lambda counts: np.ones(len(counts)),
        )
    return (
        lambda counts: (members / others) * (counts == 1),
        lambda counts: (
            hypergeom.pmf(counts, members, np.maximum(counts, 0), others) * (counts >= 0)
        ),
    )


@dataclass(frozen=True, eq=False)
class _Side:
    """The `rows` of one side, how many of them fit each predicate, and what a count is worth."""

    rows: Floats
    predicates: Predicates
    counts: Ints
    worth: Callable[[Ints], Floats]
    factors: Floats | float = 1.0

    @property
    def values(self) -> Floats:
        """What the count of each predicate is worth."""
        values: Floats = self.worth(self.counts) * self.factors
        return values

    @property
    def _weights(self) -> Floats:
        """By how much each is worth more without a row that fits."""
        without = self.worth(np.maximum(self.counts - 1, 0)) * self.factors
        return np.where(self.counts > 0, without - self.values, 0.0)

    def moves(self) -> Floats:
        """Return by how much the mean changes without each row, (rows,)."""
        return weighted_rows(self.rows, self.predicates, self._weights) / len(self.predicates)

    @property
    def spread_alone(self) -> float:
        """How the mean would vary if no row fitted two predicates."""
        squares = self.counts * np.square(self._weights)
        return float(squares.sum()) / len(self.predicates) ** 2

    def successes(self, effect: float, most: float) -> Successes:
        """Return the share of successes, and of how many independent attacks, `most` at most,
        where their variance is so many times as large as it seems."""
        values = self.values
        share, variance = min(float(values.mean()), 1.0), float(values.var()) / len(values)
        size = share * (1 - share) / variance if variance > 0 and share < 1 else most
        return Successes(share, max(min(size, most) / effect, 1.0))


def _spread(moves: Floats) -> float:
    """Return the variance by the jackknife."""
    return float(np.square(moves - moves.mean()).sum())


def _effect(spread: float, alone: float) -> float:
    """Return by how much more a share varies since predicates share rows."""
    return max(spread / alone, 1.0) if alone else 1.0
