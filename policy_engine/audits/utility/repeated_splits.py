"""What a figure is over repeated random splits of one table, with its interval."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.estimates import CONFIDENCE, Estimate

_DEVIATIONS = 1.959963984540054


class SplitFigure(NamedTuple):
    """A figure of one split, and its variance as far as the tested rows tell."""

    value: float
    variance: float

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> "SplitFigure":
        """Return the mean of what each tested row shows, (rows,)."""
        return cls(float(rows.mean()), float(rows.var()) / len(rows))

    @classmethod
    def of_estimate(cls, estimate: Estimate) -> "SplitFigure":
        """Return a figure that has an interval of 95%."""
        return cls(estimate.value, ((estimate.high - estimate.low) / 2 / _DEVIATIONS) ** 2)


def mean_over_splits(figures: Sequence[SplitFigure], tested: float) -> Estimate:
    """Return the mean of a figure of several splits, or of a difference on the same splits.

    `tested` is the share of the rows that are tested. Splits share rows, so that their figures
    differ less than those of new tables would: the variance is that of Nadeau and Bengio (Inference
    for the generalization error, Machine Learning 52, 2003), the interval one of Student's t. Few
    splits may agree by chance: no interval is narrower than what the tested rows tell. Two figures
    or more are needed.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 (slow to import, an extra)

    values = np.array([one.value for one in figures])
    within = float(np.mean([one.variance for one in figures]))
    factor = float(np.sqrt(1 / len(values) + tested / (1 - tested)))
    times = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    half = factor * max(times * float(values.std(ddof=1)), _DEVIATIONS * float(np.sqrt(within)))
    mean = float(values.mean())
    return Estimate(value=mean, low=mean - half, high=mean + half)
