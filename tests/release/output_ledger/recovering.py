"""An intruder who shares no code with the ledger: ranks over the rationals, and enumeration."""

from fractions import Fraction
from itertools import combinations

import numpy as np


def rank(rows):
    """Return the rank of rows of whole numbers, by fractions."""
    work, count = [[Fraction(int(one)) for one in row] for row in rows], 0
    for column in range(len(work[0]) if work else 0):
        pivot = next((row for row in range(count, len(work)) if work[row][column]), None)
        if pivot is None:
            continue
        work[count], work[pivot] = work[pivot], work[count]
        for row in range(count + 1, len(work)):
            if work[row][column]:
                factor = work[row][column] / work[count][column]
                work[row] = [
                    one - factor * other for one, other in zip(work[row], work[count], strict=True)
                ]
        count += 1
    return count


def small_groups(units, threshold):
    """Yield every set of fewer units than a threshold, as whether each unit is in it."""
    for size in range(1, threshold):
        for members in combinations(range(units), size):
            mask = np.zeros(units, int)
            mask[[*members]] = 1
            yield mask


def recovered_sums(released, threshold):
    """Return the small groups whose sums follow from those of released populations."""
    rows = [*map(list, released)]
    before = rank(rows)
    masks = small_groups(len(rows[0]), threshold)
    return [mask for mask in masks if rank([*rows, list(mask)]) == before]


def recovered_counts(released, threshold):
    """Return the small sets of atoms whose counts follow from those of released populations, as
    whole numbers of at least 0: all that agree with them are enumerated.
    """
    patterns, counts = np.unique(np.array(released, int), axis=1, return_counts=True)
    is_told = patterns.any(axis=0)
    patterns, counts = patterns[:, is_told], counts[is_told]
    solutions = np.array([*whole_solutions(patterns, patterns @ counts)])
    small = [
        [*atoms]
        for size in range(1, len(counts) + 1)
        for atoms in combinations(range(len(counts)), size)
        if counts[[*atoms]].sum() < threshold
    ]
    return [atoms for atoms in small if len({*solutions[:, atoms].sum(axis=1).tolist()}) == 1]


def whole_solutions(rows, totals):
    """Yield all whole numbers of at least 0 that add up, for each row, to its total."""
    if not rows.shape[1]:
        if not totals.any():
            yield []
        return
    column, rest = rows[:, 0], rows[:, 1:]
    top = totals[column > 0].min()
    # The last column of a row takes all that is left of its total.
    is_last = (column > 0) & ~rest.any(axis=1)
    forced = {*totals[is_last].tolist()}
    for one in forced if len(forced) == 1 else range(top + 1) if not forced else ():
        left = totals - one * column
        if (left >= 0).all():
            for others in whole_solutions(rest, left):
                yield [one, *others]
