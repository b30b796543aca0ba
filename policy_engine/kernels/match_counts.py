"""How many rows each tuple of a release matches, found by code that no search for it shares."""

from itertools import combinations_with_replacement
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.grouping import classes_of

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Missing = Literal["category", "wildcard"]
"""What a missing value matches: another missing value alone, or any value."""


def match_counts(codes: Codes, counts: Ints, missing: Missing) -> Ints:
    """Return how many rows each tuple matches, its own included, (tuples,).

    `codes` (tuples, columns) are the values, -1 for a missing one, and `counts` (tuples,) the rows
    of each tuple; equal tuples may be listed more than once. A release is k-anonymous if no tuple
    matches fewer than k rows. Wildcards match as in sdcMicro's freqCalc (Templ, Kowarik, Meindl,
    Journal of Statistical Software 67(4), 2015): one tuple may match two that do not match.
    """
    if missing == "category":
        return _matches(codes, counts, codes)
    patterns, pattern_of = np.unique(codes < 0, axis=0, return_inverse=True)
    members = [np.flatnonzero(pattern_of == one) for one in range(len(patterns))]
    matches = np.zeros(len(codes), dtype=np.int64)
    for one, other in combinations_with_replacement(range(len(patterns)), 2):
        shared_columns = np.flatnonzero(~(patterns[one] | patterns[other]))
        ours, theirs = members[one], members[other]
        mine, others = codes[np.ix_(ours, shared_columns)], codes[np.ix_(theirs, shared_columns)]
        matches[ours] += _matches(others, counts[theirs], mine)
        if one != other:
            matches[theirs] += _matches(mine, counts[ours], others)
    return matches


def _matches(codes: Codes, counts: Ints, tuples: Codes) -> Ints:
    """Return how many rows of the tuples `codes` equal each of `tuples`, (tuples,)."""
    both = np.concatenate([codes, tuples])
    if not both.shape[1]:
        return np.full(len(tuples), counts.sum())
    class_of, count = classes_of(list(both.T + np.int32(1)))
    rows = np.zeros(count, dtype=np.int64)
    np.add.at(rows, class_of[: len(codes)], counts)
    return rows[class_of[len(codes) :]]
