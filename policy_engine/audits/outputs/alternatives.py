"""What suppression, rounding, noise and coarser groups would cost on a table, for its owner.

The figures tell how many small cells there are: they are for who may see the data, never for who
asks for the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.mitigating import LEAST_BASE, ProtectedFigures
from policy_engine.audits.outputs.model import TOTAL, TableVerdict
from policy_engine.kernels.output_checks.alternative_costs import (
    AlternativeCost,
    alternative_cost,
    expected_cost,
)

_MANY = 0.1
"""With more primary cells, suppression destroys a table."""
USUAL_BASE = 5


@dataclass(frozen=True)
class MitigationCost:
    """What one way of protecting a table costs: of so many cells, totals not counted."""

    name: str
    cells: int
    cost: AlternativeCost


@dataclass(frozen=True)
class MitigationComparison:
    """The costs of all ways of protecting one measure of a table.

    Of its cells, totals not counted, `primary` do not pass by themselves.
    """

    measure: str
    cells: int
    primary: int
    costs: tuple[MitigationCost, ...]

    @property
    def suggestion(self) -> str:
        """What is worth considering, empty if suppression leaves most of the table."""
        share = self.primary / max(self.cells, 1)
        if share <= _MANY:
            return ""
        return (
            f"{self.primary} of {self.cells} cells do not pass ({share:.0%}): suppression would "
            "leave little of the table. Coarser groups, rounding or noise may leave more."
        )


def rounding_base(verdict: TableVerdict) -> int:
    """Return the base that a table would be rounded to: the profile's, or a usual one."""
    return max(verdict.check.profile.round_base or USUAL_BASE, LEAST_BASE)


def suppression_cost(suppressed: TableVerdict, number: int, name: str) -> MitigationCost:
    """Return what suppression costs of one measure of a table, whose verdict has secondary
    suppression in it."""
    is_shown = suppressed.reasons[:, number] == 0
    published = np.where(is_shown, suppressed.table.values[:, number], np.nan)
    return _cost(suppressed, number, name, published)


def protection_cost(
    judged: TableVerdict, number: int, name: str, figures: ProtectedFigures
) -> MitigationCost:
    """Return what rounding or noise costs of one measure, as far as it shows cells."""
    is_shown = figures.is_shown[:, number]
    published = np.where(is_shown, figures.values[:, number], np.nan)
    return _cost(judged, number, name, published)


def privacy_cost(judged: TableVerdict, number: int, epsilon: Decimal, sets: int) -> MitigationCost:
    """Return what noise under differential privacy is expected to cost of one count of units, of
    which each is in one cell, and in the totals of so many sets of keys: among these, the epsilon
    is divided. Neighbouring tables differ by one unit that is added or removed."""
    values, is_total = np.nan_to_num(judged.table.values[:, number]), _totals(judged)
    least = judged.check.profile.min_units
    cost = expected_cost(values, is_total, least, sets / float(epsilon))
    name = f"differential privacy, epsilon {epsilon}"
    return MitigationCost(name, int((~is_total).sum()), cost)


def compare_mitigations(
    judged: TableVerdict, number: int, measure: str, costs: Sequence[MitigationCost]
) -> MitigationComparison:
    """Return a comparison of what was found to cost on one measure of a judged table."""
    is_part = ~_totals(judged)
    primary = int((judged.reasons[is_part, number] != 0).sum())
    return MitigationComparison(measure, int(is_part.sum()), primary, tuple(costs))


def _cost(
    judged: TableVerdict, number: int, name: str, published: NDArray[np.float64]
) -> MitigationCost:
    values, is_total = np.nan_to_num(judged.table.values[:, number]), _totals(judged)
    least = judged.check.profile.min_units
    cost = alternative_cost(values, published, is_total, least)
    return MitigationCost(name, int((~is_total).sum()), cost)


def _totals(judged: TableVerdict) -> NDArray[np.bool_]:
    """Return which rows are totals: those over a key that other rows have."""
    is_total = judged.table.codes == TOTAL
    keys = (~is_total).any(axis=0)
    return np.asarray(is_total[:, keys].any(axis=1), dtype=np.bool_)
