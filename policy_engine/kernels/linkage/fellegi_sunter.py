"""Probabilistic record linkage, by the columns in which pairs of records agree.

Fellegi and Sunter: A theory for record linkage, Journal of the American Statistical Association
64(328), 1969; the probabilities are estimated by EM (Jaro, 1989). A pattern is a set of columns, as
a number of one bit for each: bit j tells that the two records agree in column j.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_COLUMNS = 12
"""There are 2 ** columns patterns, all of which are counted for every person."""

_START = 0.9
_ROUNDS = 1_000
_CLOSE = 1e-10
_LEAST = 1e-9
"""No probability of agreement is estimated as 0 or 1, which no pair could contradict."""
_TIED = 1e-6
"""Weights that differ by less are equal: EM ends before its last digits do not change."""
_CELLS = 1 << 25


@dataclass(frozen=True)
class Agreement:
    """How often pairs agree, by column, (columns,): of one person, and of two."""

    matched: Floats
    unmatched: Floats

    def weights(self) -> Floats:
        """Return the log likelihood ratio of each pattern, one person against two, (patterns,)."""
        agree = np.log(self.matched / self.unmatched)
        differ = np.log((1 - self.matched) / (1 - self.unmatched))
        weights: Floats = np.where(_patterns(len(agree)), agree, differ).sum(axis=1)
        return weights


def probabilistic_links(known: Ints, released: Ints, own: Ints) -> tuple[Floats, Agreement]:
    """Return for each person the probability of a right link, (persons,), and what was estimated.

    `known` (persons, columns) and `released` (rows, columns) hold codes of what agrees: equal
    codes of one column agree, and -1 with none. At most 12 columns. An intruder takes the record
    with the greatest weight, or one of t with the same: 1/t if the person's `own` record,
    (persons,), is one of them, otherwise 0; -1 is a person without a record. The order of the rows
    decides nothing, though few patterns are shared by many.
    """
    counts = np.zeros(1 << known.shape[1])
    for part in _parts(known):
        counts += _by_pattern(known[part], released).sum(axis=1)
    agreement = estimate_agreement(counts, len(released))
    weights = agreement.weights()
    order = np.argsort(-weights, kind="stable")
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(np.diff(-weights[order], prepend=-weights[order[0]]) > _TIED)
    linked = np.zeros(len(known))
    for part in _parts(known):
        linked[part] = _linked(known[part], released, own[part], ranks)
    return linked, agreement


def greatest_weights(known: Ints, released: Ints, agreement: Agreement) -> Floats:
    """Return the weight of the record that agrees best with each person, (persons,)."""
    weights = agreement.weights()
    found = np.empty(len(known))
    for part in _parts(known):
        present = _by_pattern(known[part], released) > 0
        found[part] = np.where(present, weights[:, np.newaxis], -np.inf).max(axis=0)
    return found


def estimate_agreement(counts: Floats, released: int) -> Agreement:
    """Return how often pairs agree, estimated from how many pairs have each pattern, (patterns,).

    By EM, as if columns agreed independently of each other within the pairs of one person and
    within those of two. It starts from an agreement of .9 of one person, the overall agreement of
    two, and one pair in `released` being that of one person.
    """
    patterns = _patterns(len(counts).bit_length() - 1)
    total = counts.sum()
    matched = np.full(patterns.shape[1], _START)
    share = min(1 / released, 1 - _LEAST)
    unmatched = _inside((counts @ patterns) / total)
    for _ in range(_ROUNDS):
        one = share * np.where(patterns, matched, 1 - matched).prod(axis=1)
        two = (1 - share) * np.where(patterns, unmatched, 1 - unmatched).prod(axis=1)
        belongs = counts * one / (one + two)
        before, share = matched, float(np.clip(belongs.sum() / total, _LEAST, 1 - _LEAST))
        matched = _inside(belongs @ patterns / (share * total))
        unmatched = _inside((counts - belongs) @ patterns / ((1 - share) * total))
        if np.abs(matched - before).max() < _CLOSE:
            break
    return Agreement(matched, unmatched)


def _inside(probabilities: Floats) -> Floats:
    return np.clip(probabilities, _LEAST, 1 - _LEAST)


def _patterns(columns: int) -> NDArray[np.bool_]:
    """Return in which columns each pattern agrees, (patterns, columns)."""
    return (np.arange(1 << columns)[:, np.newaxis] >> np.arange(columns) & 1).astype(bool)


def _parts(known: Ints) -> list[slice]:
    """Return persons in parts whose patterns are counted at once."""
    size = max(1, _CELLS >> known.shape[1])
    return [slice(start, start + size) for start in range(0, len(known), size)]


def _linked(known: Ints, released: Ints, own: Ints, ranks: Ints) -> Floats:
    counts = _by_pattern(known, released)
    agree = (known == released[own]) & (known >= 0)
    mine = ranks[agree @ (1 << np.arange(known.shape[1]))]
    ties, better = np.zeros(len(known)), np.zeros(len(known))
    for pattern, rank in enumerate(ranks):
        ties += np.where(mine == rank, counts[pattern], 0)
        better += np.where(mine > rank, counts[pattern], 0)
    return np.where((own >= 0) & (better == 0), 1 / np.maximum(ties, 1), 0.0)


def _by_pattern(known: Ints, released: Ints) -> Ints:
    """Return how many records have each pattern with each person, (patterns, persons)."""
    columns = known.shape[1]
    counts = np.empty((1 << columns, len(known)), dtype=np.int64)
    for pattern in range(1 << columns):
        chosen = [column for column in range(columns) if pattern >> column & 1]
        counts[pattern] = _agreeing(known[:, chosen], released[:, chosen])
    # Those that agree in a set of columns and in no other: by inclusion and exclusion.
    for column in range(columns):
        halves = counts.reshape(-1, 2, 1 << column, len(known))
        halves[:, 0] -= halves[:, 1]
    return counts


def _agreeing(known: Ints, released: Ints) -> Ints:
    """Return how many records agree with each person in all columns, (persons,)."""
    if not known.shape[1]:
        return np.full(len(known), len(released), dtype=np.int64)
    both = np.concatenate([known, released])
    keys: Ints = np.zeros(len(both), dtype=np.int64)
    for column in both.T:
        # Numbered anew after each column, so that no product of codes overflows.
        keys = np.unique(keys * (int(column.max()) + 2) + column + 1, return_inverse=True)[1]
    is_told: NDArray[np.bool_] = np.min(both, axis=1) >= 0
    rows = keys[len(known) :][is_told[len(known) :]]
    counts = np.bincount(rows, minlength=int(keys.max()) + 1)
    return np.where(is_told[: len(known)], counts[keys[: len(known)]], 0)
