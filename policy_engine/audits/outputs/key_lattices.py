"""Keys that lie in others, as districts in regions, as one dimension of a table.

Codes of the dimension are the combinations of values that occur, of each set of keys that says all
that follows from it: by a district its region is said, too. A combination may be a part of several
others, as a district is of its region and of all districts of its kind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import TOTAL, Counts
from policy_engine.audits.outputs.nested_keys import Pairs
from policy_engine.kernels.output_checks.table_system import LatticeDimension

MOST_KEYS = 6
"""Of more keys that lie in each other there are too many sets."""
NOBODY = -1
"""The code of a combination that does not occur."""
_Keys = frozenset[int]


@dataclass(frozen=True, eq=False)
class KeyLattice:
    """The dimension of some `keys` of a table.

    `codes` have by each closed set of keys the code of each of the combinations that occur,
    (combinations, keys).
    """

    keys: tuple[int, ...]
    pairs: Pairs
    combinations: Counts
    codes: dict[_Keys, Counts]
    dimension: LatticeDimension

    @classmethod
    def of(cls, keys: Sequence[int], pairs: Pairs, joint: Counts) -> Self:
        """Return the dimension of keys that lie in others by some pairs, in which `joint`
        combinations of all keys of the table, (combinations, keys), occur."""
        own = np.unique(joint[:, list(keys)], axis=0)
        closed = _closed_sets(keys, pairs)
        places = {key: place for place, key in enumerate(keys)}
        codes, count = dict[_Keys, Counts](), 0
        for some in closed:
            columns = own[:, [places[key] for key in sorted(some)]]
            numbers = _numbers(columns)
            codes[some] = numbers + count
            count += int(numbers.max(initial=-1)) + 1
        lines = [line for some in closed for line in _lines(some, codes, pairs)]
        dimension = LatticeDimension(count, tuple(lines))
        return cls(tuple(keys), pairs, own, codes, dimension)

    def places(self, codes: Counts) -> Counts:
        """Return the code in the dimension of each row of a table by the codes of all its keys,
        (rows, keys): -1 for what does not occur."""
        own = codes[:, list(self.keys)]
        result = np.full(len(codes), NOBODY, np.int64)
        is_said = own != TOTAL
        for mask in np.unique(is_said, axis=0):
            rows = np.flatnonzero((is_said == mask).all(axis=1))
            keys = frozenset(key for key, is_one in zip(self.keys, mask, strict=True) if is_one)
            numbers = _numbers(np.concatenate([self.combinations[:, mask], own[rows][:, mask]]))
            count = len(self.combinations)
            codes_by_number = np.full(int(numbers.max(initial=-1)) + 1, NOBODY, np.int64)
            codes_by_number[numbers[:count]] = self.codes[_closure(keys, self.pairs)]
            result[rows] = codes_by_number[numbers[count:]]
        return result


def _numbers(rows: NDArray[np.int64]) -> Counts:
    """Return numbers from 0 on for rows, the same for those that are the same."""
    if not rows.shape[1]:
        return np.zeros(len(rows), np.int64)
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1].ravel(), np.int64)


def _closure(keys: _Keys, pairs: Pairs) -> _Keys:
    """Return some keys with all that they lie in."""
    while True:
        more = keys | {upper for lower, upper in pairs if lower in keys}
        if more == keys:
            return keys
        keys = more


def _closed_sets(keys: Sequence[int], pairs: Pairs) -> list[_Keys]:
    """Return the sets of keys that have all that they lie in, the largest first."""
    some = (frozenset(one) for size in range(len(keys) + 1) for one in combinations(keys, size))
    return sorted({_closure(one, pairs) for one in some}, key=lambda one: (-len(one), sorted(one)))


def _lines(some: _Keys, codes: dict[_Keys, Counts], pairs: Pairs) -> Iterator[Counts]:
    """Yield the parts of each code of a closed set, by each next larger one, and the code."""
    larger = {_closure(some | {key}, pairs) for one in codes for key in one - some}
    for next_larger in sorted(larger, key=sorted):
        if any(one < next_larger for one in larger):
            continue
        both = np.unique(np.column_stack([codes[some], codes[next_larger]]), axis=0)
        starts = np.flatnonzero(np.diff(both[:, 0], prepend=-1))
        for parts in np.split(both, starts[1:]):
            yield np.append(parts[:, 1], parts[0, 0])
