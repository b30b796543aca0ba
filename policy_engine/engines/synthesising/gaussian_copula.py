"""A Gaussian copula: ranks as normal numbers, drawn with the correlations of the table's."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from policy_engine.engines.synthesising.coding import Codes, ColumnValues, Floats, LearntTable
from policy_engine.engines.synthesising.counted import Arrays, counts_of, floats, log_shares
from policy_engine.kernels.normal import normal_quantiles
from policy_engine.methods.synthesisers.gaussian_copula import GaussianCopula

_LEAST = 1e-6
"""The least variance that densities know: columns that go together wholly have none in some
direction."""


@dataclass(frozen=True, eq=False)
class FittedCopula:
    """How often each column has each of its values, and the square root of the correlations of
    their ranks as normal numbers, (columns, columns)."""

    counts: tuple[Codes, ...]
    root: Floats

    def rows(self, n: int, seed: int) -> Codes:
        """Return the codes of synthetic rows, (n, columns)."""
        generator = np.random.default_rng(seed)
        normals = generator.standard_normal((n, len(self.counts))) @ self.root.T
        return np.column_stack(
            [_values(one, normals[:, place]) for place, one in enumerate(self.counts)]
        )

    def arrays(self) -> Arrays:
        """Return what a file holds of it: the counts of each column's values, and the root."""
        counts = {f"counts_{place}": one for place, one in enumerate(self.counts)}
        return {**counts, "root": self.root}

    def log_density(self, codes: Codes) -> Floats:
        """Return the logarithm of the density of rows (n, columns), (n,), about that of their
        probability; -1 means unknown.

        It is that of the copula at the middle ranks of the values, times their shares.
        """
        columns = [*enumerate(self.counts)]
        shares = [log_shares(one, codes[:, place]) for place, one in columns]
        scores = np.column_stack([_middle_scores(one)[codes[:, place]] for place, one in columns])
        values, vectors = np.linalg.eigh(self.root @ self.root.T)
        values = np.maximum(values, _LEAST)
        along = scores @ vectors
        squares = np.square(along) * (1 / values - 1)
        copula = -0.5 * (squares.sum(axis=1) + np.log(values).sum())
        density: Floats = copula + np.sum(shares, axis=0)
        return density


def fit(table: LearntTable, settings: GaussianCopula) -> FittedCopula:  # noqa: ARG001 (it has none)
    """Return a generator with the frequencies of all columns, and the correlations of their ranks.

    Equal values share their middle rank.
    """
    counts = tuple(one.counts for one in table.columns)
    coded = zip(counts, table.columns, strict=True)
    scores = np.column_stack([_middle_scores(some)[one.codes] for some, one in coded])
    scores -= scores.mean(axis=0)
    deviations = scores.std(axis=0)
    scores /= np.where(deviations > 0, deviations, 1)
    correlations = scores.T @ scores / table.rows
    np.fill_diagonal(correlations, 1)
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, 0))
    return FittedCopula(counts, root / np.linalg.norm(root, axis=1, keepdims=True))


def array_names(columns: int) -> list[str]:
    """Return the names of the arrays of a file, of so many columns."""
    return [*(f"counts_{place}" for place in range(columns)), "root"]


def stored(columns: Sequence[ColumnValues], arrays: Arrays) -> FittedCopula:
    """Return the generator of a file. Raises ValueError where the arrays are not those of one."""
    counts = [counts_of(arrays, place, len(one.values)) for place, one in enumerate(columns)]
    return FittedCopula(tuple(counts), floats(arrays, "root", (len(columns), len(columns))))


def _middle_scores(counts: Codes) -> Floats:
    """Return the normal number of the middle rank of each value, (values,)."""
    shares = (np.cumsum(counts) - counts / 2) / counts.sum()
    return normal_quantiles(shares)


def _values(counts: Codes, normals: Floats) -> Codes:
    """Return the codes of the values whose ranks normal numbers are, (rows,)."""
    ends = normal_quantiles(np.cumsum(counts)[:-1] / counts.sum())
    return np.searchsorted(ends, normals, side="right").astype(np.int64)
