import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.binomial import can_be_interval, is_plausible
from policy_engine.kernels.estimates import clopper_pearson


@pytest.mark.parametrize(
    ("successes", "draws", "probability", "plausible"),
    [
        (41, 400, 0.1, True),
        (360, 400, 0.1, False),
        (0, 10, 0.5, True),
        (0, 1000, 0.5, False),
        (10, 10, 0.01, False),  # 1e-20
        (9, 9, 0.01, True),  # 1e-18
        (11, 10, 0.5, False),
        (-1, 10, 0.5, False),
    ],
)
def test_numbers_that_do_not_happen_are_told(successes, draws, probability, plausible):
    assert is_plausible(successes, draws, probability) is plausible


@given(st.integers(1, 10**6), st.floats(1e-6, 1 - 1e-6))
def test_what_is_expected_happens(draws, probability):
    assert is_plausible(round(draws * probability), draws, probability)


@given(st.integers(1, 100_000), st.data())
def test_intervals_narrower_than_those_of_clopper_and_pearson_are_told(draws, data):
    successes = data.draw(st.integers(0, draws))
    share = clopper_pearson(successes, draws)
    parts = (successes, successes, draws)
    assert can_be_interval(share.low, share.high, *parts)
    assert can_be_interval(share.low / 2, (1 + share.high) / 2, *parts)
    width = share.high - share.low
    assert not can_be_interval(share.low + width / 10, share.high, *parts)
    assert not can_be_interval(share.low, share.high - width / 10, *parts)
