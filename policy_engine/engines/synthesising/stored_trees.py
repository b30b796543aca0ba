"""A tree of a file: how rows reach its leaves, and how often a leaf has each value."""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.synthesising.coding import Codes, Floats
from policy_engine.engines.synthesising.counted import Arrays, floats, integers

_MOST = 2**32
"""No count is as great: sums of as many as fit into memory are integers of 64 bits."""


@dataclass(frozen=True, eq=False)
class StoredTree:
    """The nodes of a tree, and the values of its leaves with their counts.

    Of each node, (nodes,): its `left` and `right` child, -1 in leaves, the `feature` and the
    `threshold`: rows of at most that go left. Of each value of a leaf, (values,), in the order of
    leaves, then of codes: the `leaf`, by the number of its node, the `code`, and the `count`.
    """

    left: Codes
    right: Codes
    feature: Codes
    threshold: Floats
    leaf: Codes
    code: Codes
    count: Codes

    @classmethod
    def of(cls, arrays: Arrays, place: int, features: int, values: int) -> "StoredTree":
        """Return the tree of the column at a place, whose codes are below `values`.

        Raises ValueError where the arrays are not those of a tree: where nodes lead anywhere but
        to later ones, features or codes are others than there are, or a leaf has no value.
        """
        names = [one.name for one in fields(cls) if one.name != "threshold"]
        parts = {name: integers(arrays, f"{name}_{place}") for name in names}
        nodes = len(parts["left"])
        threshold = floats(arrays, f"threshold_{place}", (nodes,))
        tree = cls(**parts, threshold=threshold)
        tree.check(place, features, values)
        return tree

    @classmethod
    def array_names(cls, place: int) -> list[str]:
        """Return the names of what a file holds of the tree of the column at a place."""
        return [f"{one.name}_{place}" for one in fields(cls)]

    def arrays(self, place: int) -> Arrays:
        """Return what a file holds of it, by name."""
        return {f"{one.name}_{place}": getattr(self, one.name) for one in fields(self)}

    def check(self, place: int, features: int, values: int) -> None:
        """Raise ValueError where it is not a tree."""
        has_shapes = (
            self.left.shape == self.right.shape == self.feature.shape != (0,)
            and self.leaf.shape == self.code.shape == self.count.shape
        )
        if not (has_shapes and self._leads_on(features) and self._has_values(values)):
            raise ValueError(f"the tree of column {place} is malformed")

    def _leads_on(self, features: int) -> bool:
        """Tell whether nodes lead to later ones, by features that there are."""
        inner = self.left >= 0
        nodes = np.arange(len(self.left))[inner]
        children = np.stack([self.left, self.right])[:, inner]
        split_by = self.feature[inner]
        leads_on = (children > nodes).all() and (children < len(self.left)).all()
        return bool(leads_on and (split_by >= 0).all() and (split_by < features).all())

    def _has_values(self, values: int) -> bool:
        """Tell whether every leaf has some of the values, and no other node has any."""
        is_code = (self.code >= 0).all() and (self.code < values).all()
        is_count = (self.count > 0).all() and (self.count < _MOST).all()
        if not (is_code and is_count):
            return False
        leaves = np.flatnonzero(self.left < 0)
        is_sorted = (np.diff(self.leaf * values + self.code) > 0).all()
        return bool(is_sorted) and np.array_equal(np.unique(self.leaf), leaves)

    def leaves(self, features: NDArray[np.float32]) -> Codes:
        """Return the numbers of the nodes in which rows (rows, features) end, (rows,)."""
        nodes = np.zeros(len(features), np.int64)
        rows = np.arange(len(features))
        while len(rows):
            here = nodes[rows]
            rows, here = rows[self.left[here] >= 0], here[self.left[here] >= 0]
            goes_left = features[rows, self.feature[here]] <= self.threshold[here]
            nodes[rows] = np.where(goes_left, self.left[here], self.right[here])
        return nodes

    @cached_property
    def _ends(self) -> Codes:
        """The sums of all counts up to each value of a leaf, (values,)."""
        return np.cumsum(self.count)

    @cached_property
    def _sizes(self) -> Codes:
        """How many rows each node holds itself, (nodes,)."""
        return np.bincount(self.leaf, self.count, len(self.left)).astype(np.int64)

    def drawn(self, features: NDArray[np.float32], generator: np.random.Generator) -> Codes:
        """Return a code of the leaf of each row, (rows,), by the counts of its values."""
        nodes = self.leaves(features)
        starts = np.cumsum(self._sizes) - self._sizes
        places = (generator.random(len(nodes)) * self._sizes[nodes]).astype(np.int64)
        entries = np.searchsorted(self._ends, starts[nodes] + places, side="right")
        drawn: Codes = self.code[entries]
        return drawn

    def log_shares(self, features: NDArray[np.float32], codes: Codes) -> Floats:
        """Return the logarithm of the share that the code of each row has in its leaf, (rows,)."""
        nodes = self.leaves(features)
        values = int(self.code.max()) + 1
        keys = self.leaf * values + self.code
        own = nodes * values + codes
        places = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        is_there = (keys[places] == own) & (codes >= 0) & (codes < values)
        with np.errstate(divide="ignore"):
            shares: Floats = np.log(np.where(is_there, self.count[places], 0) / self._sizes[nodes])
        return shares
