import numpy as np
import pytest

from policy_engine.audits.utility.repeated_splits import SplitFigure, mean_over_splits
from policy_engine.kernels.estimates import Estimate


def test_the_interval_is_that_of_nadeau_and_bengio():
    # Three figures of variance .01, a fifth of the rows tested: .01 * (1/3 + 1/4), t(2) = 4.3027.
    made = mean_over_splits([SplitFigure(value, 0.0) for value in (0.7, 0.8, 0.9)], 0.2)
    assert made.value == pytest.approx(0.8)
    assert made.high - made.value == pytest.approx(4.30265 * np.sqrt(0.01 * (1 / 3 + 1 / 4)), 1e-4)
    assert made.value - made.low == pytest.approx(made.high - made.value)


def test_splits_that_agree_by_chance_have_the_interval_of_their_rows():
    made = mean_over_splits([SplitFigure(0.5, 0.0025)] * 2, 0.2)
    assert made.high == pytest.approx(0.5 + 1.96 * 0.05 * np.sqrt(0.5 + 0.25), rel=1e-4)


def test_a_figure_of_rows_varies_as_their_mean_does():
    made = SplitFigure.of(np.array([1.0, 0.0, 0.0, 1.0]))
    assert made == (0.5, 0.0625)


def test_a_figure_with_an_interval_varies_as_that_says():
    made = SplitFigure.of_estimate(Estimate(value=0.6, low=0.502, high=0.698))
    assert made.variance == pytest.approx(0.05**2, rel=1e-3)
