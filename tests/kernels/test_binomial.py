import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.binomial import is_plausible


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
