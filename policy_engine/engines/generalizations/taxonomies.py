"""Taxonomies: the lowest node above the values of a class."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import Cell, write_value
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.data.taxonomy.tree import ROOT
from policy_engine.engines.encoding import ColumnCodes, check_listed
from policy_engine.engines.generalizations.generalizer import (
    Generalizer,
    Ints,
    hull_cells,
    level_labels,
    make_ladder,
    reorder_values,
    value_labels,
)
from policy_engine.engines.generalizations.trees import climb
from policy_engine.errors import CertificateError
from policy_engine.kernels.axis import Tree
from policy_engine.kernels.full_domain import Ladder, leaf_shares
from policy_engine.kernels.mondrian import Partition

Unlisted = Literal["refuse", "root"]


@dataclass(frozen=True)
class Taxonomies(Generalizer):
    """Values as leaves of a taxonomy, in the order of the leaves.

    `tree` holds all values; `leaf` (values,) is the place of every value among its leaves;
    `loss` (nodes,) what its nodes cost.
    """

    tree: Taxonomy
    leaf: Ints
    loss: NDArray[np.float64]

    @classmethod
    def of(cls, name: str, column: ColumnCodes, taxonomy: Taxonomy, unlisted: Unlisted) -> Self:
        """Return a column under a taxonomy.

        Where `unlisted` is "root", a value that the taxonomy lacks becomes a child of the root;
        otherwise, and for an empty text, DataError (R007) is raised.
        """
        values, base = value_labels(column).tolist(), add_root(taxonomy, unlisted)
        check_listed(name, values if unlisted == "refuse" else [v for v in values if not v], base)
        tree = base.with_unlisted(values)
        place = np.array([tree.codes[value] for value in values], dtype=np.int64)
        order = np.argsort(place)
        loss = np.ones(len(tree.parents))
        loss[: len(base.parents)] = _loss(base)
        loss[len(base.parents) :] = 0.0
        return cls(reorder_values(column, order), tree, place[order], loss)

    def shape(self) -> Tree:
        """Return the taxonomy as a tree, with missing values at its root."""
        hidden = np.zeros(int(self.column.has_missing), dtype=np.int64)
        leaf = np.concatenate([hidden, self._node_of_leaf[self.leaf]]).astype(np.int32)
        return Tree(self._parent, leaf, self.loss)

    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the labels of the lowest nodes above the classes."""
        return hull_cells(self.column, classes, self._bodies)

    def ladder(self) -> Ladder:
        """Return the levels of the whole taxonomy, also of leaves that the table does not hold."""
        nodes = self.tree.level_nodes()
        levels = [np.unique(level, return_inverse=True)[1].astype(np.int32) for level in nodes]
        blank = np.int64(self.column.has_missing)
        place = np.concatenate([np.zeros(blank, np.int64), self.leaf + blank])
        return make_ladder(self.column, levels, leaf_shares(levels), place[self.column.codes])

    def labels_at(self, height: int) -> list[str | None]:
        """Return the label of every node of a level."""
        top = int(self.tree.height[0])
        nodes = np.unique(self.tree.level_nodes()[min(height, top)])
        is_top = height == max(top, int(self.column.has_missing))
        return level_labels(self.column, self._labels(nodes), is_top=is_top)

    @cached_property
    def _parent(self) -> NDArray[np.int32]:
        return np.array(self.tree.parents, dtype=np.int32)

    @cached_property
    def _node_of_leaf(self) -> Ints:
        return np.array(self.tree.leaves, dtype=np.int64)

    def _bodies(self, low: Ints, high: Ints) -> list[str]:
        node = self._node_of_leaf[self.leaf]
        blank = int(self.column.has_missing)
        ancestors = climb(self._parent, node[low - blank], node[high - blank])
        nodes, pair = np.unique(ancestors, return_inverse=True)
        return np.array(self._labels(nodes), dtype=object)[pair].tolist()  # type: ignore[no-any-return]

    def _labels(self, nodes: Ints) -> list[str]:
        return [write_value(self.tree.labels[node]) for node in nodes.tolist()]


def add_root(taxonomy: Taxonomy, unlisted: Unlisted) -> Taxonomy:
    """Return the taxonomy; one of a single value gets a root, so that others can be added."""
    if unlisted == "root" and len(taxonomy.parents) == 1:
        return Taxonomy((ROOT, *taxonomy.labels), (-1, 0))
    return taxonomy


def _loss(taxonomy: Taxonomy) -> NDArray[np.float64]:
    """Return the loss of every node, (nodes,): its share of the leaves; 0 for a leaf."""
    loss: NDArray[np.float64] = taxonomy.leaf_count / len(taxonomy.leaves)
    loss[list(taxonomy.leaves)] = 0.0
    return loss


def price_cells(
    name: str, cells: list[Cell], taxonomy: Taxonomy, unlisted: Unlisted
) -> NDArray[np.float64]:
    """Return the loss of nodes, (cells,): their share of the taxonomy's leaves; 0 for a leaf.

    Of several nodes with the same label the widest counts; an unlisted value costs 0. Raises
    CertificateError (V002) on a label that is not in the taxonomy.
    """
    tree = add_root(taxonomy, unlisted)
    loss: dict[str, float] = {}
    for label, share in zip(tree.labels, _loss(tree).tolist(), strict=True):
        loss[label] = max(share, loss.get(label, 0.0))
    if unlisted == "refuse" and any(cell.values[0] not in loss for cell in cells):
        message = f"The column {name!r} holds a cell that its taxonomy lacks."
        raise CertificateError.of("V002", message)
    return np.array([loss.get(cell.values[0], 0.0) for cell in cells], dtype=np.float64)


def code_finder(
    column: ColumnCodes, taxonomy: Taxonomy, unlisted: Unlisted
) -> Callable[[Cell], NDArray[np.int32]]:
    """Return a function from a label to the codes of the values below its nodes."""
    values = value_labels(column)
    code_of = {label: code for code, label in enumerate(values, start=int(column.has_missing))}
    tree = add_root(taxonomy, unlisted).with_unlisted(filter(None, values))
    nodes: dict[str, list[int]] = {}
    for node, label in enumerate(tree.labels):
        nodes.setdefault(label, []).append(node)
    codes = np.array([code_of.get(label, -1) for label in tree.leaf_labels], dtype=np.int32)
    first, count = np.searchsorted(tree.leaves, np.arange(len(tree.labels))), tree.leaf_count

    def covered(cell: Cell) -> NDArray[np.int32]:
        below = [codes[first[n] : first[n] + count[n]] for n in nodes.get(cell.values[0], [])]
        unique_codes = np.unique(np.concatenate([np.zeros(0, np.int32), *below]))
        return unique_codes[unique_codes >= 0]

    return covered
