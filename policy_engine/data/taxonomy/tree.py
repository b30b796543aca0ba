"""A tree over values, with what generalising them needs."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import DataError, did_you_mean

ROOT = "*"

_NEAR_AMONG = 2_000


@dataclass(frozen=True)
class Taxonomy:
    """The tree of a taxonomy: nodes numbered depth first, in pre-order, from the root 0.

    `labels` names every node, `parents` gives the node above it, -1 for the root. The leaves
    are the original values; no two have the same label. Inner nodes may share a label with each
    other, or with a leaf: a node is its number, not its label. Raises ValueError where the
    numbers are not such a tree, where a label is empty or a leaf appears twice.
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.labels or len(self.labels) != len(self.parents):
            raise ValueError("A tree has one parent for each label, and at least a root.")
        if not all(self.labels):
            raise ValueError("Every node has a label.")
        _check_pre_order(self.parents)
        if len(set(self.leaf_labels)) < len(self.leaves):
            raise ValueError("No two leaves may have the same label.")

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The nodes of the original values, in order."""
        inner = set(self.parents)
        return tuple(node for node in range(len(self.parents)) if node not in inner)

    @cached_property
    def leaf_labels(self) -> tuple[str, ...]:
        """The original values, in the order of `leaves`."""
        return tuple(self.labels[leaf] for leaf in self.leaves)

    @cached_property
    def codes(self) -> Mapping[str, int]:
        """The place of every original value among the leaves, 0 .. len(leaves) - 1."""
        return {label: code for code, label in enumerate(self.leaf_labels)}

    @cached_property
    def leaf_count(self) -> NDArray[np.int64]:
        """How many leaves are under every node, (nodes,); 1 for a leaf itself."""
        counts = [0] * len(self.parents)
        for leaf in self.leaves:
            counts[leaf] = 1
        for node in range(len(counts) - 1, 0, -1):
            counts[self.parents[node]] += counts[node]
        return _frozen_array(counts)

    @cached_property
    def height(self) -> NDArray[np.int64]:
        """The longest way from every node down to a leaf, (nodes,); the tree's own at 0."""
        heights = [0] * len(self.parents)
        for node in range(len(heights) - 1, 0, -1):
            parent = self.parents[node]
            heights[parent] = max(heights[parent], heights[node] + 1)
        return _frozen_array(heights)

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """The length of the way from every node up to the root, (nodes,)."""
        depths = [0] * len(self.parents)
        for node in range(1, len(depths)):
            depths[node] = depths[self.parents[node]] + 1
        return _frozen_array(depths)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the tree's labels and parents, in order, as 64 hexadecimal digits."""
        form = json.dumps([self.labels, self.parents], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()

    def ancestors(self, node: int) -> tuple[int, ...]:
        """Return the nodes above a node, the nearest first, the root last."""
        return tuple(self._ancestors(node))

    def lowest_common_ancestor(self, a: int, b: int) -> int:
        """Return the deepest node that has both under it; a node is under itself."""
        while a != b:
            # In pre-order the larger number is never above the smaller one.
            a, b = min(a, b), self.parents[max(a, b)]
        return a

    def find(self, label: str) -> int:
        """Return the node of a label: of several, the first of those with most leaves.

        The widest is taken so that what a label hides is never understated. Raises DataError
        (T010) where no node has the label.
        """
        if label not in self._widest:
            near = self._widest if len(self._widest) <= _NEAR_AMONG else ()
            raise DataError.of(
                "T010", f"No node has the label {label!r}.", did_you_mean(label, near)
            )
        return self._widest[label]

    def level_nodes(self) -> NDArray[np.int64]:
        """Return the node of every leaf at every level, (height + 1, leaves).

        Level 0 is the leaves, the last the root. At level h each leaf has become the ancestor
        whose height is the greatest not above h: where the tree is uneven, a leaf stays what
        it is until the others have caught up (full-domain generalisation, Samarati, TKDE 2001).
        """
        parents = np.maximum(np.array(self.parents, dtype=np.int64), 0)
        levels = [np.array(self.leaves, dtype=np.int64)]
        for level in range(1, int(self.height[0]) + 1):
            up = parents[levels[-1]]
            levels.append(np.where(self.height[up] <= level, up, levels[-1]))
        return _frozen_array(levels)

    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Return the label of every leaf at every level: `levels()[h][i]` for leaf i.

        For an ARX-style CSV these are its columns, its rows in the order of the leaves.
        """
        return tuple(
            tuple(self.labels[node] for node in row) for row in self.level_nodes().tolist()
        )

    def covering(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the values that are not leaves, each once, in the given order."""
        return tuple(dict.fromkeys(value for value in values if value not in self.codes))

    def with_unlisted(self, values: Iterable[str]) -> "Taxonomy":
        """Return this taxonomy with the values that it lacks as leaves right below the root.

        Below a root that is itself the only value, a root `*` is put on top first. Raises
        ValueError where a value is empty.
        """
        missing = self.covering(values)
        if not missing:
            return self
        tree = self if len(self.parents) > 1 else Taxonomy((ROOT, *self.labels), (-1, 0))
        return Taxonomy(tree.labels + missing, tree.parents + (0,) * len(missing))

    def _ancestors(self, node: int) -> Iterator[int]:
        while (node := self.parents[node]) >= 0:
            yield node

    @cached_property
    def _widest(self) -> Mapping[str, int]:
        widest: dict[str, int] = {}
        counts = self.leaf_count
        for node, label in enumerate(self.labels):
            if counts[node] > counts[widest.setdefault(label, node)]:
                widest[label] = node
        return widest


def make_tree(labels: Sequence[str], parents: Sequence[int]) -> Taxonomy:
    """Return the taxonomy of nodes numbered in any order, siblings in the order of their numbers.

    Where several nodes have the parent -1, a root `*` is put on top of them. There must be
    one such node at least, and no circle.
    """
    children: list[list[int]] = [[] for _ in labels]
    tops: list[int] = []
    for node, parent in enumerate(parents):
        (children[parent] if parent >= 0 else tops).append(node)
    if len(tops) == 1:
        return _number_nodes(labels, children, tops[0])
    return _number_nodes([*labels, ROOT], [*children, tops], len(labels))


def _number_nodes(labels: Sequence[str], children: Sequence[Sequence[int]], root: int) -> Taxonomy:
    order: list[int] = []
    parents: list[int] = []
    stack = [(root, -1)]
    while stack:
        node, parent = stack.pop()
        stack.extend((child, len(order)) for child in reversed(children[node]))
        order.append(node)
        parents.append(parent)
    return Taxonomy(tuple(labels[node] for node in order), tuple(parents))


def _check_pre_order(parents: Sequence[int]) -> None:
    """Raise ValueError where nodes are not numbered in pre-order."""
    path: list[int] = []
    for node, parent in enumerate(parents):
        while path and path[-1] != parent:
            path.pop()
        if (node == 0 and parent != -1) or (node > 0 and not path):
            raise ValueError(f"Node {node} is not where a tree numbered depth first has it.")
        path.append(node)


def _frozen_array(numbers: Sequence[object]) -> NDArray[np.int64]:
    array = np.array(numbers, dtype=np.int64)
    array.setflags(write=False)
    return array
