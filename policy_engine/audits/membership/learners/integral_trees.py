"""Decision trees that several samples of the records lead to: integral privacy.

Torra and Navarro-Arribas: Integral privacy, CANS 2016; Senavirathne and Torra: Integrally private
model selection for decision trees, Computers and Security 83, 2019.
"""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.integral_privacy import (
    GeneratedModel,
    Leaf,
    Split,
    Tree,
    canonical,
    generated_models,
    most_accurate,
    predictions,
    tree_of_arrays,
)

MOST_LEVELS = 6
"""Of decisions in a tree: larger ones are hardly ever grown twice."""
_PARTS = (2, 3, 5)
_ROUNDS = 20
_ROUNDS_EACH = 2
_SEED = 18
"""Of the samples. It is not a secret: a tree hides whose records were there, not how it was
found."""
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def generated_trees(
    estimator: Any, features: Floats, labels: Ints, k: int
) -> tuple[GeneratedModel, ...]:
    """Return the trees that at least k samples of records lead to, as far as was tried.

    `features` (n, d), `labels` (n,). In each round, the records are dealt into 2, 3 and 5 parts,
    and on each part grows a tree, of which the first levels are trees, too: 10 samples a round, in
    20 rounds, or 2k if that is more. A leaf says the class of most of its records and nothing else.
    Accuracies are measured on all records. The order of records decides nothing.
    """
    order = np.lexsort((*features.T, labels))
    features, labels = features[order], labels[order]
    samples = _samples(len(labels), k)
    model = _grown_as(estimator)
    trees = [_levels(model, features[rows], labels[rows]) for rows in samples]
    counts = Counter(tree for own in trees for tree in own)
    cells = features.astype(np.float64)
    accuracy = {
        tree: float((predictions(tree, cells) == labels).mean())
        for tree, count in counts.items()
        if count >= k
    }
    pairs = [
        (tree, rows)
        for own, rows in zip(trees, samples, strict=True)
        for tree in own
        if tree in accuracy
    ]
    models = [tree for tree, _ in pairs]
    return generated_models(models, [rows for _, rows in pairs], [accuracy[one] for one in models])


def fit_integral(estimator: Any, features: Floats, labels: Ints, k: int, fewest: int = 0) -> Any:
    """Return a fitted classifier: the most accurate tree that k samples lead to.

    No record is in all of them, and at least `fewest` records are in every leaf. Raises AuditError
    (A026) where no such tree is found.
    """
    trees = generated_trees(estimator, features, labels, k)
    cells = features.astype(np.float64)
    choice = most_accurate([one for one in trees if _least(one.model, cells) >= fewest], k)
    if isinstance(choice, NotApplicable):
        message = f"No tree can be released: {choice.reason}."
        raise AuditError.of("A026", message, "Give more records, or ask for fewer generators.")
    assert isinstance(choice.model, Leaf | Split)  # noqa: S101 (scikit-learn's are binary)
    return _classifier(choice.model, estimator, features, labels)


def count_generators(model: Any, estimator: Any, features: Floats, labels: Ints, k: int) -> int:
    """Return how many generators of a fitted classifier are found, a lower bound.

    0 if a record is in all of them, or if there are fewer than k.
    """
    tree = _tree_of(model.tree_, model.tree_.children_left, model.classes_)
    trees = generated_trees(estimator, features, labels, k)
    return next((one.generators for one in trees if one.model == tree and not one.common), 0)


def _least(tree: Hashable, cells: NDArray[np.float64]) -> int:
    """Return how many records are in the leaf with the fewest."""
    if not isinstance(tree, Split):
        return len(cells)
    is_below = cells[:, tree.column] <= tree.threshold
    return min(_least(tree.below, cells[is_below]), _least(tree.above, cells[~is_below]))


def _samples(records: int, k: int) -> list[Ints]:
    random = np.random.default_rng(_SEED)
    dealt = [
        np.array_split(random.permutation(records), parts)
        for _ in range(max(_ROUNDS, _ROUNDS_EACH * k))
        for parts in _PARTS
    ]
    return [np.sort(rows) for own in dealt for rows in own if len(rows)]


def _grown_as(estimator: Any) -> Any:
    """Return a classifier of its own that grows a tree as the estimator does, none too large."""
    from sklearn.base import clone  # noqa: PLC0415 (slow to import, an extra)

    depth = estimator.get_params()["max_depth"]
    model = clone(estimator)
    return model.set_params(max_depth=MOST_LEVELS if depth is None else depth, random_state=0)


def _levels(model: Any, features: Floats, labels: Ints) -> set[Tree]:
    """Return the tree that grows on a sample, and the trees that its first levels are."""
    tree = model.fit(features, labels).tree_
    depths = _depths(tree)
    most = min(int(depths.max()), MOST_LEVELS)
    lefts = (np.where(depths < levels, tree.children_left, -1) for levels in range(most + 1))
    return {_tree_of(tree, left, model.classes_) for left in lefts}


def _depths(tree: Any) -> Ints:
    depths = np.zeros(tree.node_count, dtype=np.int64)
    for node in np.flatnonzero(tree.children_left >= 0):  # children come after their parent
        depths[[tree.children_left[node], tree.children_right[node]]] = depths[node] + 1
    return depths


def _tree_of(tree: Any, left: Ints, classes: Ints) -> Tree:
    arrays = (left, tree.children_right, tree.feature, tree.threshold, tree.value)
    return canonical(tree_of_arrays(*arrays, classes))


def _classifier(tree: Tree, estimator: Any, features: Floats, labels: Ints) -> Any:
    """Return a classifier that holds a tree, and nothing of any record."""
    from sklearn.base import clone  # noqa: PLC0415 (slow to import, an extra)

    classes, first = np.unique(labels, return_index=True)
    model = clone(estimator).fit(features[first], labels[first])
    listed: list[_Node] = []
    depth = _list_nodes(tree, listed)
    state = model.tree_.__getstate__()
    nodes = np.zeros(len(listed), state["nodes"].dtype)
    values = np.zeros((len(listed), 1, len(classes)))
    for at, one in enumerate(listed):
        nodes["left_child"][at], nodes["right_child"][at] = one.left, one.right
        if isinstance(one.tree, Split):
            nodes["feature"][at], nodes["threshold"][at] = one.tree.column, one.tree.threshold
        elif isinstance(one.tree, Leaf):
            values[at, 0, np.searchsorted(classes, one.tree.value)] = 1.0
    bare = type(model.tree_)(features.shape[1], np.array([len(classes)]), 1)
    inside = {"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values}
    bare.__setstate__({**state, **inside})
    model.tree_ = bare
    return model


@dataclass
class _Node:
    """A node of a tree, and where its children are listed; -1 for none."""

    tree: Tree
    left: int = -1
    right: int = -1


def _list_nodes(tree: Tree, listed: list[_Node]) -> int:
    """List the nodes, each before its children, and return how many decisions are in a row."""
    node = _Node(tree)
    listed.append(node)
    if not isinstance(tree, Split):
        return 0
    node.left = len(listed)
    below = _list_nodes(tree.below, listed)
    node.right = len(listed)
    return 1 + max(below, _list_nodes(tree.above, listed))
