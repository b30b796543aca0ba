"""Rows of a tree of columns: as many of each value as its share asks, and random otherwise."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.synthetic_tables.tree_model import Floats, TreeModel

Codes = NDArray[np.int64]


def drawn_rows(model: TreeModel, rows: int, generator: np.random.Generator) -> Codes:
    """Return the codes of values, (rows, columns), in a random order.

    Each pair of the tree has the counts that its shares ask, rounded at random: rows that were
    drawn one by one would have an error of their own. The generator need not be secret, as the
    model is a function of noisy counts.
    """
    codes = np.zeros((rows, len(model.columns)), dtype=np.int64)
    codes[:, 0] = _values(model.columns[0], rows, generator)
    for parent, child in model.edges:
        shares = model.pairs[parent, child]
        for value in np.unique(codes[:, parent]):
            places = np.flatnonzero(codes[:, parent] == value)
            codes[places, child] = _values(shares[value], len(places), generator)
    return codes[generator.permutation(rows)]


def expanded(codes: Codes, merged: Codes, shares: Floats, generator: np.random.Generator) -> Codes:
    """Return values in the place of classes of them, (rows,), by the shares of the values.

    `merged` is the class of each value, (values,).
    """
    values = np.zeros(len(codes), dtype=np.int64)
    for one in np.unique(codes):
        members, places = np.flatnonzero(merged == one), np.flatnonzero(codes == one)
        values[places] = members[_values(shares[members], len(places), generator)]
    return values


def _values(shares: Floats, rows: int, generator: np.random.Generator) -> Codes:
    """Return values by their shares, (rows,), in a random order."""
    total = shares.sum()
    expected = rows * (shares / total if total > 0 else np.full(shares.size, 1 / shares.size))
    counts = np.floor(expected).astype(np.int64)
    rest, left = expected - counts, rows - int(counts.sum())
    if left > 0:
        more = generator.choice(shares.size, left, p=rest / rest.sum(), replace=True)
        counts += np.bincount(more, minlength=shares.size)
    return generator.permutation(np.repeat(np.arange(shares.size), counts))
