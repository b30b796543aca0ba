"""Whether the difference of two released totals may be told: as a total of its own."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.judging import dominance
from policy_engine.audits.outputs.model import CellEvidence, ShownStatistic, Statbarn
from policy_engine.methods.output_checks.profile import OutputProfile
from policy_engine.release.output_ledger import COUNT, DISTINCT_PERSONS, PERSONS

Figures = NDArray[np.float64]
_SUM = "sum:"


@dataclass(frozen=True, eq=False)
class ToldDifferences:
    """The concentration rules of a profile, on the total over some rows of a dataset.

    `units` is the unit of each row, (rows,), and `values` returns a column by its name, (rows,), or
    None where the dataset has no such numbers: of them nothing is told.
    """

    units: NDArray[np.int64]
    values: Callable[[str], Figures | None]
    profile: OutputProfile

    def __call__(self, system: str, members: NDArray[np.bool_]) -> bool:
        """Return whether the total of a measure over some rows passes as one of its own. Of a
        number of persons, each has one."""
        if system in (PERSONS, DISTINCT_PERSONS):
            return True
        if system == COUNT:
            sizes = np.ones(len(self.units))
        else:
            contributions = self.values(system.removeprefix(_SUM))
            if contributions is None:
                return False
            sizes = np.nan_to_num(contributions)
        if system == COUNT and not self.profile.has_dominance:
            return True
        sums = np.abs(np.bincount(self.units[members], sizes[members]))
        return self._passes(sums[sums > 0])

    def _passes(self, sums: Figures) -> bool:
        first, second = np.sort(np.append(sums, [0.0, 0.0]))[-2:][::-1]
        evidence = CellEvidence(
            units=np.array([len(sums)]),
            largest=np.array([first]),
            second=np.array([second]),
            total=np.array([sums.sum()]),
            negatives=np.array([0]),
        )
        return not dominance(
            ShownStatistic(Statbarn.LINEAR_AGGREGATIONS, evidence), self.profile
        ).any()
