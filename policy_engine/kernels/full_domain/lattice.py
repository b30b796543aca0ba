"""The nodes of a lattice of heights that may still be the best, and how they are ruled out.

A node is valid only where every part of its quasi-identifiers is: a row that is like too few others
in some columns is like no more of them in more columns (LeFevre, DeWitt, Ramakrishnan: Incognito,
SIGMOD 2005, the subset property). Parts are few and their tables small, so most nodes of a large
lattice are ruled out before one of them is checked.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

Heights = tuple[int, ...]
Floats = NDArray[np.float64]
Words = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ROUNDING = 1e-9
_WORTH_PARTS = 2_000
"""With so many open nodes it pays to look at parts of the quasi-identifiers first."""


class Lattice:
    """The open nodes, in ascending order of their floors: lower bounds of their loss.

    Where the ladders are not nested, a node implies nothing about another.
    """

    def __init__(self, floors: Floats, nested: bool) -> None:
        # The heights of a node are the fields of one word, each with a spare bit above it. With the
        # spare bits of one word set, subtracting another leaves them set exactly in the fields
        # that are not less: one subtraction compares two nodes in all heights.
        self.size, self.nested = floors.size, nested
        self._shape = floors.shape
        widths = [int(levels - 1).bit_length() + 1 for levels in self._shape]
        self._shifts = np.cumsum([0, *widths[:-1]])
        self._spare = sum(1 << int(end - 1) for end in np.cumsum(widths))
        order = np.argsort(floors, axis=None, kind="stable")
        self._floors = floors.ravel()[order]
        self._words = self._packed(np.unravel_index(order, self._shape))

    def __len__(self) -> int:
        """Return how many nodes are open."""
        return len(self._words)

    def top(self) -> Heights:
        """Return the node that generalises most."""
        return tuple(levels - 1 for levels in self._shape)

    def choose(self, loss: float) -> tuple[Heights, int] | None:
        """Close one node that may be as good as `loss`; return it, and how many there were.

        None where there is none.
        """
        count = self.count_within(loss)
        if not count:
            self._floors, self._words = self._floors[:0], self._words[:0]
            return None
        # The node in the middle: if it is valid, most nodes above it are worse; if it is not,
        # those below it are not either. So either outcome rules out about as many.
        middle = count // 2
        heights = self._unpacked(int(self._words[middle]))
        is_open = np.arange(count) != middle
        self._floors, self._words = self._floors[:count][is_open], self._words[:count][is_open]
        return heights, count

    def count_within(self, loss: float) -> int:
        """Return how many open nodes may be as good as a loss."""
        # With a tolerance, as equal losses may differ in their last bits and ties have a rule.
        return int(np.searchsorted(self._floors, loss + _ROUNDING * abs(loss), side="right"))

    def close(self, heights: Heights) -> None:
        """Close one node."""
        self._keep(self._words != self._word(heights))

    def drop_below(self, heights: Heights) -> None:
        """Close a node and all below it, where the ladders are nested."""
        if self.nested:
            is_open = np.empty(len(self._words), dtype=np.bool_)
            _find_not_below(self._words, self._word(heights), self._spare, is_open)
            self._keep(is_open)

    def raise_floors(self, heights: Heights, above: float, below: float) -> None:
        """Raise the floors of all nodes above a node to `above`, and of all below it to `below`."""
        word = self._word(heights)
        for floor, is_above in ((above, True), (below, False)):
            if self.nested and floor > -np.inf:
                _raise_floors(self._words, self._floors, word, self._spare, floor, is_above)
        order = np.argsort(self._floors, kind="stable")
        self._floors, self._words = self._floors[order], self._words[order]

    def drop_parts(self, fails: Callable[[tuple[int, ...], Heights], bool]) -> Iterator[int]:
        """Close the nodes of which a part of the columns fails, as long as that pays.

        `fails(columns, heights)` returns whether the rows' values in some columns, at those
        heights, violate a bound that they violate in more columns too. Yields how many nodes
        are open after the parts of each size.
        """
        masks: dict[tuple[int, ...], Mask] = {}
        for size in range(2, len(self._shape)):
            # Larger parts are more, have larger tables, and rule out fewer nodes each.
            if len(self) < _WORTH_PARTS * 4 ** (size - 2):
                return
            parts = [*combinations(range(len(self._shape)), size)]
            masks = {part: self._failing(part, masks, fails) for part in parts}
            for part, failing in masks.items():
                if failing.any():
                    fields = [self._field(column) for column in part]
                    self._keep(~failing[tuple(fields)])
            yield len(self)

    def _failing(
        self,
        part: tuple[int, ...],
        smaller: dict[tuple[int, ...], Mask],
        fails: Callable[[tuple[int, ...], Heights], bool],
    ) -> Mask:
        """Return which heights of some columns fail, given those of `smaller` parts."""
        failing = np.zeros([self._shape[column] for column in part], dtype=np.bool_)
        for left_out in range(len(part)):
            mask = smaller.get(part[:left_out] + part[left_out + 1 :])
            if mask is not None:
                failing |= np.expand_dims(mask, left_out)
        # The highest first: what fails there fails at all heights below, without another look.
        for heights in sorted(np.ndindex(failing.shape), key=sum, reverse=True):
            if not failing[heights] and fails(part, heights):
                below = tuple(slice(height + 1) for height in heights)
                failing[below if self.nested else heights] = True
        return failing

    def _keep(self, is_open: Mask) -> None:
        self._floors, self._words = self._floors[is_open], self._words[is_open]

    def _field(self, column: int) -> Words:
        width = int(self._shape[column] - 1).bit_length()
        field: Words = (self._words >> self._shifts[column]) & ((1 << width) - 1)
        return field

    def _packed(self, heights: Sequence[NDArray[np.intp]]) -> Words:
        words = np.zeros(len(heights[0]), dtype=np.int64)
        for at, column in zip(self._shifts, heights, strict=True):
            words |= column.astype(np.int64) << at
        return words

    def _word(self, heights: Heights) -> int:
        return sum(h << int(at) for h, at in zip(heights, self._shifts, strict=True))

    def _unpacked(self, word: int) -> Heights:
        fields = zip(self._shape, self._shifts, strict=True)
        return tuple(
            (word >> int(at)) & ((1 << int(levels - 1).bit_length()) - 1) for levels, at in fields
        )


@compiled
def _find_not_below(words: Words, word: int, spare: int, not_below: Mask) -> None:
    """Set which nodes are neither below a node nor the node itself."""
    for place in range(len(words)):
        not_below[place] = ((word | spare) - words[place]) & spare != spare


@compiled
def _raise_floors(
    words: Words, floors: Floats, word: int, spare: int, floor: float, is_above: bool
) -> None:
    """Raise the floors of the nodes above a node, or below it, and its own."""
    for place in range(len(words)):
        low, high = (word, words[place]) if is_above else (words[place], word)
        if ((high | spare) - low) & spare == spare and floors[place] < floor:
            floors[place] = floor
