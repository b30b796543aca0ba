"""Whose rows some persons may be, where it is known how many persons and how many rows there are.

Who knows how many rows each person has, and is told that p persons have something in r rows, looks
for choices of p persons that may have r such rows: each has at least one and at most all of his,
or exactly all where nobody has it in some rows alone. If no p persons without the one with most
rows have r rows, he is one of them in every choice. If the others need so many of the r rows that
not all of his are left, one of his rows is none of them in every choice.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

_NEARLY_ALL = 10
"""Nearly all of a group are more than all but one in so many, as in other rules for groups."""


@dataclass(frozen=True, eq=False)
class PersonChoices:
    """The choices of so many `chosen` persons, who have the `rows` together: `sizes` are the rows
    that each person has, (persons,). Where it `is_whole`, a chosen one has all of his."""

    sizes: Counts
    chosen: int
    rows: int
    is_whole: bool = False

    def tell_of(self, least: int) -> bool:
        """Return whether some persons are known to be chosen, or not to be, or nearly so.

        Others have to be possible instead: of the p persons with most rows, the `least`, and of
        fewer of these one in ten, at least one; the same of those who are not chosen. Of all who
        can be, none is certain then. That all or nobody is chosen is for group disclosure to judge.
        """
        others = len(self.sizes) - self.chosen
        if not (self.chosen and others):
            return False
        largest, smallest = np.sort(self.sizes)[::-1], np.sort(self.sizes)
        if self._most(largest, least) < self.rows:
            return True
        # Of all whole numbers of rows, it is the same with those that are fewest.
        return self.is_whole and -self._most(-smallest, least) > self.rows

    def _most(self, sizes: Counts, least: int) -> int:
        """Return how many rows the choices have at most, the worst of those that must be possible:
        `sizes` are those of all persons, the largest first."""
        chosen, others = self.chosen, len(sizes) - self.chosen
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        some = np.arange(1, chosen + 1)
        left_out = np.minimum(np.maximum(-(-some // _NEARLY_ALL), 1), least)
        left_out[-1] = least
        left_out = np.minimum(left_out, np.minimum(others, some))
        # Without the last ones of the first few, and with as many behind the chosen ones.
        without = sums[some - left_out] + sums[chosen + left_out] - sums[some]
        with_last = int(sums[chosen - 1] + sizes[-1])
        return min(int(without.min()), with_last)


def may_have_all(sizes: Counts, rows: int, others: int = 0) -> bool:
    """Return whether each person may have all of his rows among so many, and nobody knows better
    who knows of himself that he has: `sizes` are the rows of each person, (persons,).

    Besides these two, `others` have at least one of the rows each.
    """
    largest = np.sort(sizes)[-2:]
    return rows >= int(largest.sum()) + max(others, 0)
