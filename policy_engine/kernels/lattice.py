"""The nodes of a lattice of heights that may still be the best, and how they are ruled out.

A node holds only where every part of its quasi-identifiers does, for rows that share few values
with others share no more of them when more columns are looked at (LeFevre, DeWitt, Ramakrishnan:
Incognito, SIGMOD 2005, the subset property). Parts are few and their tables small, so most nodes
of a large lattice are ruled out before one of them is checked.
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
"""So many open nodes make it worth looking at parts of the quasi-identifiers first."""


class Lattice:
    """The open nodes, in the order of what each costs at least.

    The heights of a node are fields of one word, each with a bit to spare, by which one
    subtraction tells whether all fields of one are at most those of another (`_is_below`). Where
    the ladders are not nested, one node tells nothing of another.
    """

    def __init__(self, floors: Floats, nested: bool) -> None:
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
        """Close one node that may be as good as `loss`; return it, and how many there are.

        The node in the middle: where it holds, most nodes above it are worse; where it does
        not, those below it do not either. So about as much is learnt one way as the other.
        """
        kept = self.left(loss)
        if not kept:
            self._floors, self._words = self._floors[:0], self._words[:0]
            return None
        middle = kept // 2
        heights = self._unpacked(int(self._words[middle]))
        closed = np.arange(kept) != middle
        self._floors, self._words = self._floors[:kept][closed], self._words[:kept][closed]
        return heights, kept

    def left(self, loss: float) -> int:
        """Return how many open nodes may be as good as a loss."""
        return int(np.searchsorted(self._floors, loss + _ROUNDING * abs(loss), side="right"))

    def close(self, heights: Heights) -> None:
        """Close one node."""
        self._keep(self._words != self._word(heights))

    def drop_below(self, heights: Heights) -> None:
        """Close a node and all below it, where the ladders are nested."""
        if self.nested:
            open_ = np.empty(len(self._words), dtype=np.bool_)
            _find_others(self._words, self._word(heights), self._spare, open_)
            self._keep(open_)

    def lift(self, heights: Heights, above: float, below: float) -> None:
        """Learn what all nodes above a node cost at least, and all below it."""
        word = self._word(heights)
        for least, is_above in ((above, True), (below, False)):
            if self.nested and least > -np.inf:
                _lift(self._words, self._floors, word, self._spare, least, is_above)
        order = np.argsort(self._floors, kind="stable")
        self._floors, self._words = self._floors[order], self._words[order]

    def drop_parts(self, fails: Callable[[tuple[int, ...], Heights], bool]) -> Iterator[int]:
        """Close the nodes of which a part of the columns fails, as long as that is worth while.

        `fails(columns, heights)` tells whether the rows' values in some columns, at those
        heights, break a bound that they break in more columns too. Yields how many nodes are
        left whenever the parts of one size are done.
        """
        known: dict[tuple[int, ...], Mask] = {}
        for size in range(2, len(self._shape)):
            if len(self) < _WORTH_PARTS * 4 ** (size - 2):
                return
            parts = [*combinations(range(len(self._shape)), size)]
            known = {part: self._failing(part, known, fails) for part in parts}
            for part, failing in known.items():
                if failing.any():
                    fields = [self._field(column) for column in part]
                    self._keep(~failing[tuple(fields)])
            yield len(self)

    def _failing(
        self,
        part: tuple[int, ...],
        known: dict[tuple[int, ...], Mask],
        fails: Callable[[tuple[int, ...], Heights], bool],
    ) -> Mask:
        """Return which heights of some columns fail; a part of them that does is `known`."""
        failing = np.zeros([self._shape[column] for column in part], dtype=np.bool_)
        for left_out in range(len(part)):
            less = known.get(part[:left_out] + part[left_out + 1 :])
            if less is not None:
                failing |= np.expand_dims(less, left_out)
        for heights in sorted(np.ndindex(failing.shape), key=sum, reverse=True):
            if not failing[heights] and fails(part, heights):
                below = tuple(slice(height + 1) for height in heights)
                failing[below if self.nested else heights] = True
        return failing

    def _keep(self, kept: Mask) -> None:
        self._floors, self._words = self._floors[kept], self._words[kept]

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
def _find_others(words: Words, word: int, spare: int, others: Mask) -> None:
    """Set which nodes are not below a node, nor it itself."""
    for place in range(len(words)):
        others[place] = ((word | spare) - words[place]) & spare != spare


@compiled
def _lift(
    words: Words, floors: Floats, word: int, spare: int, least: float, is_above: bool
) -> None:
    """Raise the floors of the nodes above a node, or below it, and of itself."""
    for place in range(len(words)):
        low, high = (word, words[place]) if is_above else (words[place], word)
        if ((high | spare) - low) & spare == spare and floors[place] < least:
            floors[place] = least
