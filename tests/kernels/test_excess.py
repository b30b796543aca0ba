"""The excess of an attack over a control, and how often its interval has the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.kernels.excess import excess

SHARES = st.integers(1, 30).flatmap(
    lambda size: arrays(np.float64, size, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
)


def test_excess_is_the_share_of_misses_that_is_reached():
    found = excess(np.repeat([1.0, 0], [60, 40]), np.repeat([1.0, 0], [20, 80]))
    assert found.value == pytest.approx((0.6 - 0.2) / 0.8)
    assert 0.35 < found.low < 0.4
    assert 0.6 < found.high < 0.63


def test_attack_that_reaches_as_much_of_others_has_no_excess():
    shares = np.repeat([1.0, 0.5, 0], 20)
    found = excess(shares, shares)
    assert found.value == 0
    assert found.low < 0 < found.high


def test_attack_that_always_succeeds_is_known_to_be_so_within_an_interval():
    found = excess(np.ones(50), np.zeros(50))
    assert (found.value, found.high) == (1, 1)
    assert 0.9 < found.low < 0.95


def test_no_excess_over_a_control_that_is_always_reached():
    assert isinstance(excess(np.ones(3), np.ones(3)), NotApplicable)
    assert isinstance(excess(np.ones(0), np.ones(3)), NotApplicable)


@given(SHARES, SHARES)
def test_interval_contains_the_excess(attacked, control):
    found = excess(attacked, control)
    if isinstance(found, Estimate):
        assert found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(("ours", "others"), [(0.3, 0.1), (0.05, 0.05), (0.9, 0.5), (0.99, 0.2)])
def test_interval_has_the_truth_in_nineteen_of_twenty_samples(ours, others):
    random, truth, hits = np.random.default_rng(4), (ours - others) / (1 - others), 0
    for _ in range(1_000):
        found = excess(
            (random.random(200) < ours).astype(float), (random.random(150) < others).astype(float)
        )
        hits += found.low <= truth <= found.high
    assert 930 <= hits <= 975
