"""What suppression, rounding or noise costs on a table, and how many small cells it leaves."""

import math
from dataclasses import dataclass

import numpy as np

from policy_engine.kernels.output_checks.table_system import Bools, Floats


@dataclass(frozen=True)
class AlternativeCost:
    """Figures of a table as it would be published.

    The mean absolute errors are of the cells and totals that are not blank, and 0 where all are.
    `small_exact` counts cells from 1 to below the threshold that are published with their values.
    """

    cell_error: float
    total_error: float
    blank_cells: int
    blank_totals: int
    small_exact: int
    broken_totals: int


def alternative_cost(
    values: Floats, published: Floats, is_total: Bools, threshold: float, broken_totals: int = 0
) -> AlternativeCost:
    """Return what a table costs as it is published, (n,), nan where a cell is blank.

    `broken_totals` is passed on: how many equations the published table does not satisfy.
    """
    errors, is_blank = np.abs(published - values), np.isnan(published)
    is_small = (values > 0) & (values < threshold) & ~is_total
    return AlternativeCost(
        cell_error=_mean(errors[~is_total & ~is_blank]),
        total_error=_mean(errors[is_total & ~is_blank]),
        blank_cells=int((is_blank & ~is_total).sum()),
        blank_totals=int((is_blank & is_total).sum()),
        small_exact=int((is_small & (errors == 0)).sum()),
        broken_totals=broken_totals,
    )


def expected_cost(
    values: Floats, is_total: Bools, threshold: float, scale: float
) -> AlternativeCost:
    """Return what discrete Laplace noise of a scale is expected to cost on a table, (n,).

    Its probability at x is proportional to exp(-|x| / scale) (Ghosh, Roughgarden and
    Sundararajan: Universally utility-maximizing privacy mechanisms, SIAM J. Comput. 41(6), 2012).
    Small cells that it leaves right are counted as they are expected; nobody knows which they are.
    """
    error = 2 * math.exp(-1 / scale) / -math.expm1(-2 / scale)
    is_small = (values > 0) & (values < threshold) & ~is_total
    return AlternativeCost(
        cell_error=error if (~is_total).any() else 0.0,
        total_error=error if is_total.any() else 0.0,
        blank_cells=0,
        blank_totals=0,
        small_exact=round(int(is_small.sum()) * math.tanh(1 / (2 * scale))),
        broken_totals=0,
    )


def _mean(errors: Floats) -> float:
    return float(errors.mean()) if len(errors) else 0.0
