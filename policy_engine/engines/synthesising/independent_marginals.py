"""Independent marginals: every cell is drawn from those of its column."""

from dataclasses import dataclass

import numpy as np

from policy_engine.engines.synthesising.coding import Codes, LearntTable
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


def fit(table: LearntTable, settings: IndependentMarginals) -> FittedMarginals:  # noqa: ARG001 (it has none)
    """Return a generator that draws every cell with the frequency of its value."""
    return FittedMarginals(table)
