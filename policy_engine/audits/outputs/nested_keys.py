"""Keys of which each value lies in one of another key, such as districts in regions: those that are
declared, and those of which it is so in the rows of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.filled_keys import lies_in
from policy_engine.audits.outputs.microdata import CodedColumn

Pairs = tuple[tuple[int, int], ...]
"""Numbers of keys of a table: of one, and of another one that it lies in."""


_PAIR = 2


def found_pairs(joint: NDArray[np.int64]) -> Pairs:
    """Return which keys lie in which by the combinations of codes that occur, (combinations, keys):
    each value of the first has one of the second, which has several."""
    counts = [len(np.unique(column)) for column in joint.T]
    return tuple(
        (lower, upper)
        for lower, upper in permutations(range(joint.shape[1]), _PAIR)
        if counts[lower] >= counts[upper] > 1
        and len(np.unique(joint[:, [lower, upper]], axis=0)) == counts[lower]
    )


@dataclass(frozen=True)
class NestedKeys:
    """Names of columns that lie in others, lower and upper ones, as everybody is said to know."""

    pairs: frozenset[tuple[str, str]] = frozenset()

    def with_pair(self, lower: str, upper: str) -> "NestedKeys":
        """Return them with another pair: what lies in the lower one lies in the upper one, too."""
        below = {lower, *(one for one, other in self.pairs if other == lower)}
        above = {upper, *(other for one, other in self.pairs if one == upper)}
        return NestedKeys(self.pairs | {(one, other) for one in below for other in above})

    def among(self, keys: Sequence[CodedColumn]) -> Pairs:
        """Return which keys of a table lie in which, of those of which that is so in its rows."""
        names = {key.name: number for number, key in enumerate(keys)}
        return tuple(
            (names[lower], names[upper])
            for lower, upper in sorted(self.pairs)
            if lower in names and upper in names and lies_in(keys[names[lower]], keys[names[upper]])
        )
