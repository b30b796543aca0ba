"""The first cuts of a table as a tree, down which every row finds its node."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

Codes = NDArray[np.int32]


class Cut(NamedTuple):
    """Where a node is cut: the codes of one dimension that go to the left side.

    `goes_left` (codes,) is about the codes from `low` on; others do not occur in the node.
    """

    # A flag for each code, not one code as a boundary: sets are cut in the order of frequency.

    dim: int
    low: int
    goes_left: NDArray[np.bool_]


class Descent(NamedTuple):
    """The tree in arrays, for compiled code.

    `nodes` (nodes, 5) holds the dimension in which a node is cut, -1 for a leaf; the least code
    that `goes_left` is about; where the node's flags start in it; its left and right child.
    """

    nodes: NDArray[np.int64]
    goes_left: NDArray[np.bool_]


DIM, LOW, START, LEFT, RIGHT = range(5)
_LEAF = (-1, 0, 0, 0, 0)


@dataclass
class Cuts:
    """The cuts made so far; node 0 is the whole table, and every cut adds two nodes."""

    _nodes: list[tuple[int, int, int, int, int]] = field(default_factory=lambda: [_LEAF])
    _goes_left: list[NDArray[np.bool_]] = field(default_factory=list)
    _flags: int = 0

    def __len__(self) -> int:
        return len(self._nodes)

    def cut(self, node: int, cut: Cut) -> tuple[int, int]:
        """Cut a leaf; return the numbers of its two sides."""
        left = len(self._nodes)
        self._nodes[node] = (cut.dim, cut.low, self._flags, left, left + 1)
        self._nodes += [_LEAF, _LEAF]
        self._goes_left.append(cut.goes_left)
        self._flags += len(cut.goes_left)
        return left, left + 1

    def descent(self) -> Descent:
        """Return the tree for compiled code."""
        goes_left = np.concatenate([np.zeros(0, np.bool_), *self._goes_left])
        return Descent(np.array(self._nodes, dtype=np.int64), goes_left)


def descend(descent: Descent, rows: Codes) -> NDArray[np.int64]:
    """Return the leaf in which each row of codes, (rows, dimensions or more), ends, (rows,)."""
    leaf = np.zeros(len(rows), dtype=np.int64)
    _descend(descent, rows, leaf)
    return leaf


@compiled
def _descend(descent, rows, leaf):  # type: ignore[no-untyped-def]
    nodes, goes_left = descent.nodes, descent.goes_left
    for row in range(len(rows)):
        node = 0
        while nodes[node, DIM] >= 0:
            place = nodes[node, START] + rows[row, nodes[node, DIM]] - nodes[node, LOW]
            node = nodes[node, LEFT] if goes_left[place] else nodes[node, RIGHT]
        leaf[row] = node
