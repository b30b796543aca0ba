"""Independent marginals: every cell is drawn from those of its column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from policy_engine.engines.synthesising.coding import Codes, ColumnValues, Floats, LearntTable
from policy_engine.engines.synthesising.counted import Arrays, counts_of, drawn_codes, log_shares
from policy_engine.methods.synthesisers.independent_marginals import IndependentMarginals


@dataclass(frozen=True, eq=False)
class FittedMarginals:
    """A table whose columns are drawn one by one."""

    table: LearntTable

    def rows(self, n: int, seed: int) -> Codes:
        """Return the codes of synthetic rows, (n, columns)."""
        generator = np.random.default_rng(seed)
        return np.column_stack(
            [one.codes[generator.integers(self.table.rows, size=n)] for one in self.table.columns]
        )

    def arrays(self) -> Arrays:
        """Return what a file holds of it: how often each column has each of its values."""
        return {f"counts_{place}": one.counts for place, one in enumerate(self.table.columns)}


@dataclass(frozen=True, eq=False)
class StoredMarginals:
    """How often each column has each of its values, (values,), as a file holds it."""

    counts: tuple[Codes, ...]

    def rows(self, n: int, seed: int) -> Codes:
        """Return the codes of synthetic rows, (n, columns)."""
        generator = np.random.default_rng(seed)
        return np.column_stack([drawn_codes(one, n, generator) for one in self.counts])

    def log_density(self, codes: Codes) -> Floats:
        """Return the logarithm of the probability of rows (n, columns), (n,); -1 means unknown."""
        shares = [log_shares(one, codes[:, place]) for place, one in enumerate(self.counts)]
        density: Floats = np.sum(shares, axis=0)
        return density


def fit(table: LearntTable, settings: IndependentMarginals) -> FittedMarginals:  # noqa: ARG001 (it has none)
    """Return a generator that draws every cell with the frequency of its value."""
    return FittedMarginals(table)


def array_names(columns: int) -> list[str]:
    """Return the names of the arrays of a file, of so many columns."""
    return [f"counts_{place}" for place in range(columns)]


def stored(columns: Sequence[ColumnValues], arrays: Arrays) -> StoredMarginals:
    """Return the generator of a file. Raises ValueError where the arrays are not those of one."""
    counts = [counts_of(arrays, place, len(one.values)) for place, one in enumerate(columns)]
    return StoredMarginals(tuple(counts))
