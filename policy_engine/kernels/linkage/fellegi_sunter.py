"""Probabilistic record linkage, by the columns in which pairs of records agree.

Fellegi and Sunter: A theory for record linkage, Journal of the American Statistical Association
64(328), 1969; the probabilities are estimated by EM (Jaro, 1989). A pattern is a set of columns, as
a number of one bit for each: bit j tells that the two records agree in column j.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.searching import Search, parts_of, search_here

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_COLUMNS = 12
"""There are 2 ** columns patterns, all of which are counted for every person."""

_START = 0.9
_ROUNDS = 1_000
_CLOSE = 1e-10
_LEAST = 1e-9
"""No probability of agreement is estimated as 0 or 1, which no pair could contradict."""
_TIED = 1e-6
"""Weights that differ by less are equal: EM ends before its last digits do not change."""
_CELLS = 1 << 26


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


def probabilistic_links(
    known_values: Ints, released: Ints, own: Ints, search: Search = search_here
) -> tuple[Floats, Agreement]:
    """Return for each person the probability of a right link, (persons,), and what was estimated.

    `known_values` (persons, columns) and `released` (rows, columns) hold codes of what agrees:
    equal codes of one column agree, and -1 with none. At most 12 columns. An intruder takes the
    record with the greatest weight, or one of t with the same: 1/t if the person's `own` record,
    (persons,), is one of them, otherwise 0; -1 is a person without a record. The order of the rows
    decides nothing, though few patterns are shared by many. `search` says where the records are
    looked for.
    """
    agreement = estimate_agreement(_pairs_by_pattern(known_values, released), len(released))
    weights = agreement.weights()
    order = np.argsort(-weights, kind="stable")
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(np.diff(-weights[order], prepend=-weights[order[0]]) > _TIED)
    return search(PatternIndex(released, ranks), PatternPersons(known_values, own)), agreement


class PatternPersons(NamedTuple):
    """The codes of persons, (persons, columns), and their own records, -1 for none, (persons,)."""

    known: Ints
    own: Ints


@dataclass(frozen=True, eq=False)
class PatternIndex:
    """The codes of records, (rows, columns), and the rank of each pattern, the best first."""

    released: Ints
    ranks: Ints

    def links(self, persons: PatternPersons) -> Floats:
        """Return the probability of a right link, (persons,)."""
        rows = _persons_at_once(persons.known)
        parts = parts_of(persons, rows)
        probabilities = [_linked(one.known, self.released, one.own, self.ranks) for one in parts]
        return np.concatenate(probabilities)


def greatest_weights(known_values: Ints, released: Ints, agreement: Agreement) -> Floats:
    """Return the weight of the record that agrees best with each person, (persons,)."""
    weights = agreement.weights()
    best_weights = np.empty(len(known_values))
    for part in _parts(known_values):
        present = _count_patterns(known_values[part], released) > 0
        best_weights[part] = np.where(present, weights[:, np.newaxis], -np.inf).max(axis=0)
    return best_weights


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
    unmatched = _clip((counts @ patterns) / total)
    for _ in range(_ROUNDS):
        one = share * np.where(patterns, matched, 1 - matched).prod(axis=1)
        two = (1 - share) * np.where(patterns, unmatched, 1 - unmatched).prod(axis=1)
        belongs = counts * one / (one + two)
        before, share = matched, float(np.clip(belongs.sum() / total, _LEAST, 1 - _LEAST))
        matched = _clip(belongs @ patterns / (share * total))
        unmatched = _clip((counts - belongs) @ patterns / ((1 - share) * total))
        if np.abs(matched - before).max() < _CLOSE:
            break
    return Agreement(matched, unmatched)


def _clip(probabilities: Floats) -> Floats:
    return np.clip(probabilities, _LEAST, 1 - _LEAST)


def _patterns(columns: int) -> NDArray[np.bool_]:
    """Return in which columns each pattern agrees, (patterns, columns)."""
    return (np.arange(1 << columns)[:, np.newaxis] >> np.arange(columns) & 1).astype(bool)


def _parts(known_values: Ints) -> list[slice]:
    """Return persons in parts whose patterns are counted at once."""
    size = _persons_at_once(known_values)
    return [slice(start, start + size) for start in range(0, len(known_values), size)]


def _persons_at_once(known_values: Ints) -> int:
    columns: int = known_values.shape[1]
    return max(1, _CELLS >> columns)


def _linked(known_values: Ints, released: Ints, own: Ints, ranks: Ints) -> Floats:
    counts = _count_patterns(known_values, released)
    agree = (known_values == released[own]) & (known_values >= 0)
    mine = ranks[agree @ (1 << np.arange(known_values.shape[1]))]
    ties, better = np.zeros(len(known_values)), np.zeros(len(known_values))
    for pattern, rank in enumerate(ranks):
        ties += np.where(mine == rank, counts[pattern], 0)
        better += np.where(mine > rank, counts[pattern], 0)
    return np.where((own >= 0) & (better == 0), 1 / np.maximum(ties, 1), 0.0)


def _count_patterns(known_values: Ints, released: Ints) -> NDArray[np.int32]:
    """Return how many records have each pattern with each person, (patterns, persons)."""
    columns = known_values.shape[1]
    counts = np.empty((1 << columns, len(known_values)), dtype=np.int32)
    for chosen, keys in _keys_of_sets(known_values, released):
        counts[chosen] = keys.agreeing()
    # Those that agree in a set of columns and in no other: by inclusion and exclusion.
    _without_larger_sets(counts)
    return counts


def _pairs_by_pattern(known_values: Ints, released: Ints) -> Floats:
    """Return how many pairs of a person and a record have each pattern, (patterns,)."""
    counts = np.empty((1 << known_values.shape[1], 1))
    for chosen, keys in _keys_of_sets(known_values, released):
        counts[chosen] = keys.pairs()
    _without_larger_sets(counts)
    return counts[:, 0]


def _without_larger_sets(counts: NDArray[Any]) -> None:
    """Take off those that agree in more columns, from counts (patterns, persons), in place."""
    for column in range(len(counts).bit_length() - 1):
        halves = counts.reshape(-1, 2, 1 << column, counts.shape[1])
        halves[:, 0] -= halves[:, 1]


@dataclass(frozen=True)
class _Keys:
    """The values of a set of columns as numbers below `size`, of persons and of records.

    `told` (persons,) says who has a value in all of them, None for everybody; records without one
    are left out.
    """

    known: Ints
    released: Ints
    size: int
    told: Bools | None

    def agreeing(self) -> Ints:
        """Return how many records agree with each person, (persons,)."""
        counts = np.bincount(self.released, minlength=self.size)[self.known]
        return counts if self.told is None else np.where(self.told, counts, 0)

    def pairs(self) -> float:
        """Return how many pairs of a person and a record agree."""
        person_keys = self.known if self.told is None else self.known[self.told]
        persons = np.bincount(person_keys, minlength=self.size).astype(np.float64)
        return float(persons @ np.bincount(self.released, minlength=self.size))


def _keys_of_sets(known_values: Ints, released: Ints) -> Iterator[tuple[int, _Keys]]:
    """Yield the keys of every set of columns; bit j of a set is column j."""
    zeros = np.zeros(len(known_values), dtype=np.int64), np.zeros(len(released), dtype=np.int64)
    everybody = np.arange(len(released)) if (released < 0).any() else None
    yield from _larger_sets(known_values, released, 0, _Keys(*zeros, 1, None), everybody)


def _larger_sets(
    known_values: Ints, released: Ints, chosen: int, keys: _Keys, rows: Ints | None
) -> Iterator[tuple[int, _Keys]]:
    """Yield the keys of a set, and of all with columns behind its last one; `rows` are the records
    that have a value in all of its columns, None for all."""
    yield chosen, keys
    for column in range(chosen.bit_length(), known_values.shape[1]):
        mine, theirs = known_values[:, column], released[:, column]
        left, before = rows, keys.released
        if rows is not None:
            has_value = theirs[rows] >= 0
            left, before = rows[has_value], before[has_value]
            theirs = theirs[left]
        is_present = keys.told
        if (mine < 0).any():
            is_present = mine >= 0 if is_present is None else is_present & (mine >= 0)
        width = int(max(mine.max(initial=0), theirs.max(initial=0))) + 1
        both = keys.known * width + np.maximum(mine, 0), before * width + theirs
        wider = _numbered(*both, keys.size * width, is_present)
        yield from _larger_sets(known_values, released, chosen | 1 << column, wider, left)


def _numbered(person_keys: Ints, released: Ints, size: int, has_value: Bools | None) -> _Keys:
    """Return keys, numbered anew where there would be too many to count."""
    if size <= max(_MOST_KEYS, 2 * (len(person_keys) + len(released))):
        return _Keys(person_keys, released, size, has_value)
    values, numbers = np.unique(np.concatenate([person_keys, released]), return_inverse=True)
    numbers = numbers.reshape(-1)
    return _Keys(numbers[: len(person_keys)], numbers[len(person_keys) :], len(values), has_value)


_MOST_KEYS = 1 << 24
