"""Merge classes that do not hold a bound, such as one on their diversity, with near ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.microaggregation.class_sums import ClassSums
from policy_engine.kernels.microaggregation.nearest import nearest_classes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Holds = Callable[[Ints, Ints, int], NDArray[np.bool_]]
"""Whether each class holds, (classes,), given rows, the class of each, and how many there are."""


@dataclass(frozen=True)
class Scopes:
    """In which part of a table each class is, (classes,): parts are numbered so that a part comes
    before its own parts, and classes come in the order of their parts. `parent` (parts,) is -1 for
    the whole table, which is part 0.
    """

    part: Ints
    parent: Ints

    @classmethod
    def whole(cls, classes: int) -> "Scopes":
        """Return classes that are all in one part."""
        return cls(np.zeros(classes, dtype=np.int64), np.array([-1]))

    def edges(self, classes: Ints) -> tuple[Ints, Ints]:
        """Return the first class of the part of each of some classes, and the end of those."""
        parts = self.part[classes]
        return np.searchsorted(self.part, parts), np.searchsorted(self.part, parts, side="right")

    def widened(self, failing: NDArray[np.bool_]) -> "Scopes":
        """Return the next larger parts for those that are `failing`, (classes,).

        A part takes in its own parts once all of those within them have been widened.
        """
        parts, ends = np.unique(self.part[failing]), self._ends()
        part = self.part.copy()
        for above in np.unique(self.parent[parts[parts > 0]]).tolist():
            within = parts[(parts > above) & (parts < ends[above])]
            if (self.parent[within] == above).all():
                part[(part > above) & (part < ends[above])] = above
        return Scopes(part, self.parent)

    def _ends(self) -> Ints:
        """Return the number that comes after a part and all of its own parts, (parts,)."""
        ends = np.arange(1, len(self.parent) + 1)
        for one in range(len(self.parent) - 1, 0, -1):
            above = self.parent[one]
            ends[above] = max(ends[above], ends[one])
        return ends


def holding_scopes(scopes: Scopes, groups: Ints, holds: Holds) -> Scopes:
    """Return for every class the smallest part around it that holds as one class.

    `groups` (rows,) numbers the classes from 0. If not even the whole table holds, it is that.
    """
    failing, changed = np.zeros(len(scopes.part), np.bool_), np.ones(len(scopes.part), np.bool_)
    while True:
        rows = np.flatnonzero(changed[groups])
        parts, number = np.unique(scopes.part[groups[rows]], return_inverse=True)
        broken = parts[~holds(rows, number, len(parts))]
        failing = (failing & ~changed) | np.isin(scopes.part, broken)
        wider = scopes.widened(failing)
        changed = wider.part != scopes.part
        if not changed.any():
            return scopes
        # The others of a part that is widened are in the same part now, and hold or fail with it.
        changed = np.isin(wider.part, wider.part[changed])
        scopes = wider


def merge_until(groups: Ints, sums: ClassSums, spans: Floats, scopes: Scopes, holds: Holds) -> Ints:
    """Return classes that all hold, (rows,), numbered from 0 in the order of their first numbers.

    In rounds, each class that does not hold is merged with the one of its part whose mean is
    nearest: the nearest pairs first, each class once a round. If even a whole part does not hold,
    it is one class: the caller checks it beforehand. `groups` (rows,) numbers the classes from 0,
    each with a row, by what they hold: then nothing else decides what is merged. `sums` are of
    shares of `spans` (columns,).
    """
    broken = ~holds(np.arange(len(groups)), groups, len(sums.sizes))
    while broken.any():
        broken_classes = np.flatnonzero(broken)
        first, end = scopes.edges(broken_classes)
        has_others = end - first > 1
        if not has_others.any():
            break
        broken_classes, first, end = broken_classes[has_others], first[has_others], end[has_others]
        nearest, distances = nearest_classes(sums.means * spans, broken_classes, first, end)
        class_of = _paired(len(sums.sizes), broken_classes, nearest, distances)
        groups, broken = _merge(groups, class_of, broken, holds)
        sums = sums.merged(class_of)
        scopes = Scopes(scopes.part[np.unique(class_of, return_index=True)[1]], scopes.parent)
    return groups


def _merge(
    groups: Ints, class_of: Ints, broken: NDArray[np.bool_], holds: Holds
) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the classes once they are merged, and which of them do not hold."""
    count = int(class_of.max()) + 1
    is_new = np.bincount(class_of, minlength=count) > 1
    still = np.zeros(count, dtype=np.bool_)
    still[class_of] = broken
    groups = class_of[groups]
    rows = np.flatnonzero(is_new[groups])
    number = np.cumsum(is_new) - 1
    still[is_new] = ~holds(rows, number[groups[rows]], int(is_new.sum()))
    return groups, still


def _paired(count: int, broken: Ints, nearest: Ints, distances: Floats) -> Ints:
    """Return the new number of every class, (count,), once the nearest pairs are merged."""
    first = np.arange(count)
    is_merged = np.zeros(count, dtype=np.bool_)
    for pair in np.lexsort((broken, distances)).tolist():
        one, other = sorted((int(broken[pair]), int(nearest[pair])))
        if not is_merged[one] and not is_merged[other]:
            first[other] = one
            is_merged[one] = is_merged[other] = True
    return np.unique(first, return_inverse=True)[1]
