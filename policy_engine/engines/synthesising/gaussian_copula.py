"""A Gaussian copula: ranks as normal numbers, drawn with the correlations of the table's."""

from dataclasses import dataclass

import numpy as np

from policy_engine.engines.synthesising.coding import Codes, Floats, LearntColumn, LearntTable
from policy_engine.kernels.normal import normal_quantiles
from policy_engine.methods.synthesisers.gaussian_copula import GaussianCopula


@dataclass(frozen=True, eq=False)
class FittedCopula:
    """The columns of a table, and the square root of the correlations of their ranks as normal
    numbers, (columns, columns)."""

    columns: tuple[LearntColumn, ...]
    root: Floats

    def rows(self, n: int, seed: int) -> Codes:
        """Return the codes of synthetic rows, (n, columns)."""
        generator = np.random.default_rng(seed)
        normals = generator.standard_normal((n, len(self.columns))) @ self.root.T
        return np.column_stack(
            [_values(one, normals[:, place]) for place, one in enumerate(self.columns)]
        )


def fit(table: LearntTable, settings: GaussianCopula) -> FittedCopula:  # noqa: ARG001 (it has none)
    """Return a generator with the frequencies of all columns, and the correlations of their ranks.

    Equal values share their middle rank.
    """
    scores = np.column_stack([_middle_scores(one)[one.codes] for one in table.columns])
    scores -= scores.mean(axis=0)
    deviations = scores.std(axis=0)
    scores /= np.where(deviations > 0, deviations, 1)
    correlations = scores.T @ scores / table.rows
    np.fill_diagonal(correlations, 1)
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, 0))
    return FittedCopula(table.columns, root / np.linalg.norm(root, axis=1, keepdims=True))


def _middle_scores(column: LearntColumn) -> Floats:
    """Return the normal number of the middle rank of each value, (values,)."""
    counts = column.counts
    shares = (np.cumsum(counts) - counts / 2) / counts.sum()
    return normal_quantiles(shares)


def _values(column: LearntColumn, normals: Floats) -> Codes:
    """Return the codes of the values whose ranks normal numbers are, (rows,)."""
    counts = column.counts
    ends = normal_quantiles(np.cumsum(counts)[:-1] / counts.sum())
    return np.searchsorted(ends, normals, side="right").astype(np.int64)
