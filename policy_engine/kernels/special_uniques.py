"""Special uniques: records that are unique in the sample by few key variables.

SUDA2 finds their minimal sample uniques (Manning, Haglin and Keane, Data Mining and Knowledge
Discovery 16, 2008), and the scores are those of Elliot, Manning and Ford (2002).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.estimates import NotApplicable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_SETS = 1 << 20
"""So many sets of key variables are looked at, at most."""
MOST_CELLS = 1 << 31
"""So many bytes are needed at most: one by record and set of one size."""

_SMALL_FILE = 8


@dataclass(frozen=True)
class SpecialUniques:
    """What makes records unique: a minimal sample unique is a set of columns in which nobody equals
    the record, though in each of its subsets somebody does.

    `scores` (records,) is the SUDA score of each, 0 if it is not unique. `smallest` (records,) is
    how many columns its smallest set has, 0 for none, and `sets` (records,) how many it has.
    `contributions` (columns,) is the share of all scores that is of sets with each column; they
    add up to more than 1, since a set has several.
    """

    scores: Floats
    smallest: Ints
    sets: Ints
    contributions: Floats


def special_uniques(codes: Ints, largest: int | None = None) -> SpecialUniques:
    """Return the minimal sample uniques of records, and their scores.

    `codes` (records, columns); -1, a missing value, is a value like any other. Sets have at most
    `largest` columns, by default all. A set of s out of m columns counts as many as there are ways
    to add further columns to it one by one, up to `largest`: (m - s)! if that is all of them.
    Raises ValueError for more than `MOST_SETS` sets or `MOST_CELLS` bytes.
    """
    records, columns = codes.shape
    largest = min(largest or columns, columns)
    by_size = [math.comb(columns, size) for size in range(1, largest + 1)]
    if sum(by_size) > MOST_SETS or max(by_size, default=0) * records > MOST_CELLS:
        raise ValueError(f"{sum(by_size):,} sets of columns are too many for {records:,} records.")
    scores, contributions = np.zeros(records), np.zeros(columns)
    smallest, sets = np.zeros(records, dtype=np.int64), np.zeros(records, dtype=np.int64)
    for chosen, unique in _minimal_sets(codes, largest):
        size = len(chosen)
        score = math.prod(columns - at for at in range(size, largest))
        scores[unique] += score
        sets[unique] += 1
        smallest[unique & (smallest == 0)] = size
        contributions[[*chosen]] += score * int(unique.sum())
    total = scores.sum()
    return SpecialUniques(scores, smallest, sets, contributions / (total or 1.0))


def _minimal_sets(codes: Ints, largest: int) -> Iterator[tuple[tuple[int, ...], Bools]]:
    """Yield each set of columns, the small ones first, and the records that it is minimal for."""
    columns = range(codes.shape[1])
    # By set of the size before: who is unique in it, or in one of its subsets.
    before: dict[tuple[int, ...], Bools] = {(): np.zeros(len(codes), dtype=bool)}
    for size in range(1, largest + 1):
        current = {}
        for chosen in combinations(columns, size):
            below = np.zeros(len(codes), dtype=bool)
            for subset in combinations(chosen, size - 1):
                below |= before[subset]
            # A record that is unique in a subset equals nobody here, so the others do without it.
            rest = np.flatnonzero(~below)
            unique = np.zeros(len(codes), dtype=bool)
            unique[rest[_singles(codes[np.ix_(rest, np.array(chosen))])]] = True
            current[chosen] = below | unique
            yield chosen, unique
        before = current


def _singles(codes: Ints) -> Bools:
    """Return which records equal no other, (records,)."""
    keys = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        keys = keys * (int(column.max(initial=0)) + 2) + column + 1
        if keys.max(initial=0) > _LARGE:
            keys = np.unique(keys, return_inverse=True)[1]
    if keys.max(initial=0) > len(keys) * _DENSE:
        keys = np.unique(keys, return_inverse=True)[1]
    alone: Bools = np.bincount(keys)[keys] == 1
    return alone


_LARGE = 1 << 31
"""A key times the code of one more column stays an integer of 64 bits."""
_DENSE = 16


def intrusion_probability(uniques: int, in_pairs: int, share: float) -> float | NotApplicable:
    """Return the DIS measure: the probability that a match with a unique of the sample is right.

    U d / (U d + P (1 - d)) for U `uniques`, P records in pairs of equals, and a sample that is the
    `share` d of the population (Skinner and Elliot, Journal of the Royal Statistical Society B
    64(4), 2002).
    """
    if not uniques:
        return NotApplicable(reason="no record is unique in the sample")
    right_matches = uniques * share
    return right_matches / (right_matches + in_pairs * (1 - share))


def record_probabilities(scores: Floats, columns: int, probability: float) -> Floats:
    """Return by record the DIS-SUDA score, (records,): the intrusion probability by SUDA score.

    0 for a score of 0. So steep that, over the uniques, the odds against a right match add up to
    those of the whole file's `probability`, which is above 0 (Elliot, 2000; `columns` is the number
    of key variables).
    """
    probabilities, is_unique = np.zeros(len(scores)), scores > 0
    if is_unique.any():
        steepness = 1 + (_SMALL_FILE - columns) / 20
        powers = scores[is_unique] ** -steepness
        against = is_unique.sum() * (1 / probability - 1)
        probabilities[is_unique] = 1 / (1 + against * powers / np.sort(powers).sum())
    return probabilities
