"""The groups of records that a model keeps figures of: leaves, values and classes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.released.files import trees_of

Sizes = NDArray[np.int64]


def leaf_sizes(model: Any, features: NDArray[Any]) -> Iterator[Sizes]:
    """Yield how many records (n, d) reach each leaf of every tree of an estimator.

    Nothing of a model without trees.
    """
    inputs = features.astype(np.float32)
    for tree in trees_of(model):
        sizes = np.bincount(tree.apply(inputs), minlength=tree.node_count)
        yield sizes[tree.children_left < 0]
    for row in getattr(model, "_predictors", ()):
        for one in row:
            yield _histogram_leaf_sizes(one.nodes, inputs.astype(np.float64))


def value_sizes(records: Records) -> Iterator[Sizes]:
    """Yield how many records have each value of every feature, and how many are of each class."""
    for column in records.features.T:
        yield np.unique(column, return_counts=True)[1]
    yield np.bincount(records.labels, minlength=len(records.classes))


def _histogram_leaf_sizes(nodes: NDArray[Any], features: NDArray[np.float64]) -> Sizes:
    """Return how many records reach each leaf of a tree of histograms."""
    places = np.zeros(len(features), np.int64)
    rows = np.arange(len(features))
    is_leaf = nodes["is_leaf"].astype(bool)
    while not is_leaf[places].all():
        current = nodes[places]
        goes_left = features[rows, current["feature_idx"]] <= current["num_threshold"]
        children = np.where(goes_left, current["left"], current["right"])
        places = np.where(is_leaf[places], places, children.astype(np.int64))
    sizes: Sizes = np.bincount(places, minlength=len(nodes))[is_leaf]
    return sizes
