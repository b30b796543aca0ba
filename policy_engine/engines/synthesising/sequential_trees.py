"""Sequential trees: a tree a column, learnt from those before it; cells are drawn from leaves."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.synthesising.coding import (
    AnyColumn,
    Codes,
    ColumnValues,
    Floats,
    LearntColumn,
    LearntTable,
)
from policy_engine.engines.synthesising.counted import (
    Arrays,
    counts_of,
    drawn_codes,
    log_shares,
)
from policy_engine.engines.synthesising.stored_trees import StoredTree
from policy_engine.errors import DataError
from policy_engine.methods.synthesisers.sequential_trees import SequentialTrees

_MOST_CLASSES = 256
"""A category of more values than this is learnt as the place of its text among all texts."""
_BLOCK = 2**18
_MOST_INDICATORS = 32
"""A category of at most so many values is split by single values, one of more by their order."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """A tree, and the codes of the rows of each of its leaves, one leaf after another.

    `starts` and `sizes` are by the number of a node, (nodes,).
    """

    tree: Any
    codes: Codes
    starts: Codes
    sizes: Codes

    def drawn(self, features: NDArray[np.float32], generator: np.random.Generator) -> Codes:
        """Return a code of the leaf of each row, (rows,), all rows of a leaf being as likely."""
        nodes = self.tree.apply(features)
        places = (generator.random(len(nodes)) * self.sizes[nodes]).astype(np.int64)
        drawn: Codes = self.codes[self.starts[nodes] + places]
        return drawn

    def stored(self) -> StoredTree:
        """Return the tree as a file holds it, with the values of each leaf counted.

        Nothing is left of the order of rows, which would tell which cells are of one.
        """
        inner = self.tree.tree_
        nodes = np.repeat(np.arange(len(self.sizes))[self.sizes > 0], self.sizes[self.sizes > 0])
        pairs = np.column_stack([nodes, self._codes_by_node()])
        entries, counts = np.unique(pairs, axis=0, return_counts=True)
        return StoredTree(
            left=inner.children_left.astype(np.int64),
            right=inner.children_right.astype(np.int64),
            feature=inner.feature.astype(np.int64),
            threshold=inner.threshold.astype(np.float64),
            leaf=entries[:, 0],
            code=entries[:, 1],
            count=counts,
        )

    def _codes_by_node(self) -> Codes:
        """Return the codes of leaves in the order of their numbers, (rows,)."""
        order = np.flatnonzero(self.sizes)
        parts = [self.codes[self.starts[node] :][: self.sizes[node]] for node in order]
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class FittedTrees:
    """The columns of a table in the order in which they are drawn, and a tree for each but the
    first."""

    columns: tuple[LearntColumn, ...]
    trees: tuple[Leaves, ...]

    def rows(self, n: int, seed: int) -> Codes:
        """Return the codes of synthetic rows, (n, columns)."""
        generator = np.random.default_rng(seed)
        # By blocks: what trees split by takes more memory than the rows.
        starts = range(0, n, _BLOCK)
        return np.concatenate([self._block(min(_BLOCK, n - one), generator) for one in starts])

    def arrays(self) -> Arrays:
        """Return what a file holds of it: the counts of the first column's values, and a tree of
        each other one."""
        arrays = {"counts_0": self.columns[0].counts}
        for place, leaves in enumerate(self.trees, start=1):
            arrays |= leaves.stored().arrays(place)
        return arrays

    def _block(self, n: int, generator: np.random.Generator) -> Codes:
        first = self.columns[0].codes
        drawn = [first[generator.integers(len(first), size=n)]]
        for leaves in self.trees:
            drawn.append(leaves.drawn(_features(self.columns, drawn), generator))
        return np.column_stack(drawn)


@dataclass(frozen=True, eq=False)
class StoredTrees:
    """Columns in the order in which they are drawn, the counts of the first one's values, and a
    tree of each other one, as a file holds them."""

    columns: tuple[ColumnValues, ...]
    counts: Codes
    trees: tuple[StoredTree, ...]

    def rows(self, n: int, seed: int) -> Codes:
        """Return the codes of synthetic rows, (n, columns)."""
        generator = np.random.default_rng(seed)
        starts = range(0, n, _BLOCK)
        blocks = [self._block(min(_BLOCK, n - one), generator) for one in starts]
        return np.concatenate([np.empty((0, len(self.columns)), np.int64), *blocks])

    def _block(self, n: int, generator: np.random.Generator) -> Codes:
        drawn = [drawn_codes(self.counts, n, generator)]
        for tree in self.trees:
            drawn.append(tree.drawn(_features(self.columns, drawn), generator))
        return np.column_stack(drawn)

    def log_density(self, codes: Codes) -> Floats:
        """Return the logarithm of the probability of rows (n, columns), (n,); -1 means unknown."""
        columns = [*codes.T]
        density = log_shares(self.counts, columns[0])
        for place, tree in enumerate(self.trees, start=1):
            features = _features(self.columns, columns[:place])
            density += tree.log_shares(features, columns[place])
        return density


def array_names(columns: int) -> list[str]:
    """Return the names of the arrays of a file, of so many columns."""
    trees = [name for place in range(1, columns) for name in StoredTree.array_names(place)]
    return ["counts_0", *trees]


def stored(columns: Sequence[ColumnValues], arrays: Arrays) -> StoredTrees:
    """Return the generator of a file. Raises ValueError where the arrays are not those of one."""
    counts = counts_of(arrays, 0, len(columns[0].values))
    trees = []
    for place in range(1, len(columns)):
        features = sum(_of_values(one).shape[1] for one in columns[:place])
        trees.append(StoredTree.of(arrays, place, features, len(columns[place].values)))
    return StoredTrees(tuple(columns), counts, tuple(trees))


def fit(table: LearntTable, settings: SequentialTrees) -> FittedTrees:
    """Return a tree for each column of a table but the first, learnt from the columns before it.

    Numbers are split by squared error and categories by Gini's index, until a leaf would have fewer
    rows than the settings ask for. Missing cells are values. Raises DataError (C011) where
    scikit-learn is not installed.
    """
    if find_spec("sklearn") is None:
        hint = "pip install 'policy-engine[utility]'."
        raise DataError.of("C011", "scikit-learn is not installed.", hint)
    columns, trees = table.columns, []
    for place in range(1, len(columns)):
        before = [one.codes for one in columns[:place]]
        features = _features(columns, before)
        trees.append(_leaves(columns[place], features, settings.leaf))
    return FittedTrees(columns, tuple(trees))


def _leaves(column: LearntColumn, features: NDArray[np.float32], leaf: int) -> Leaves:
    from sklearn.tree import (  # noqa: PLC0415 (slow to import, an extra)
        DecisionTreeClassifier,
        DecisionTreeRegressor,
    )

    target: Codes | Floats = column.codes
    is_class = column.numbers is None and len(column.values) <= _MOST_CLASSES
    if column.numbers is not None:
        target = column.numbers[column.codes]
    # Of splits that gain the same, the state decides: it is fixed, so that trees follow from data.
    kind = DecisionTreeClassifier if is_class else DecisionTreeRegressor
    with warnings.catch_warnings():
        # That many categories are those of one row is told by `made_up`.
        warnings.simplefilter("ignore", UserWarning)
        tree = kind(min_samples_leaf=leaf, random_state=0).fit(features, target)
    nodes = tree.apply(features)
    sizes = np.bincount(nodes, minlength=tree.tree_.node_count)
    return Leaves(
        tree,
        column.codes[np.argsort(nodes, kind="stable")],
        np.cumsum(sizes) - sizes,
        sizes,
    )


def _features(columns: Sequence[AnyColumn], codes: Sequence[Codes]) -> NDArray[np.float32]:
    """Return what a tree splits by, (rows, features), of the columns that have codes."""
    features = [_of_values(one)[some] for one, some in zip(columns, codes, strict=False)]
    return np.concatenate(features, axis=1)


def _of_values(column: AnyColumn) -> NDArray[np.float32]:
    """Return what a tree splits by, of each value of a column, (values, features)."""
    number = len(column.values)
    if column.numbers is not None:
        # As ranks, which split alike: floats of 32 bits do not tell great numbers apart.
        ranks = np.searchsorted(np.unique(column.numbers), column.numbers)
        return ranks.astype(np.float32)[:, None]
    if 2 < number <= _MOST_INDICATORS:
        return np.eye(number, dtype=np.float32)
    return np.arange(number, dtype=np.float32)[:, None]
