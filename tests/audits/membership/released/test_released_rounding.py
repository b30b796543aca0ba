import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from policy_engine.audits.membership.released.rounding import (
    round_leaf_shares,
    round_priors,
    round_shares,
    round_to_steps,
    steps_of,
)


def test_values_become_multiples_of_their_steps():
    found = round_to_steps([0.3149, 7.0, 1.26, 5.5], [0.01, 5.0, 0.5, 0.0])
    assert found.tolist() == [0.31, 5.0, 1.5, 5.5]
    assert steps_of([0.011, 0.2, 3.0]).tolist() == [0.02, 0.2, 5.0]


def test_shares_are_hundredths_that_sum_to_one():
    assert round_leaf_shares(np.array([1 / 3, 1 / 3, 1 / 3])).tolist() == [0.34, 0.33, 0.33]
    assert round_leaf_shares(np.array([[5 / 13, 8 / 13], [1.0, 0.0]])).tolist() == [
        [0.38, 0.62],
        [1.0, 0.0],
    ]


@given(arrays.arrays(float, st.integers(2, 6), elements=st.floats(0.001, 1)))
@settings(max_examples=examples(50), deadline=None)
def test_shares_of_any_classes_sum_to_one_and_move_by_less_than_a_step(weights):
    whole = weights / weights.sum()
    found = round_leaf_shares(whole)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert (np.abs(found - whole) < 0.01 + 1e-9).all()


def test_ten_records_do_not_show_in_a_share():
    # Of 200, steps of ten records: 57 and 62 of them are both 60.
    assert round_shares(np.array([57 / 200, 62 / 200]), 200, 10).tolist() == [0.3, 0.3]
    assert round_shares(np.array([0.0, 1.0]), 200, 10).tolist() == [0.025, 0.975]
    assert round_priors(np.array([57 / 200, 143 / 200]), 200, 10).tolist() == pytest.approx(
        [0.3, 0.7]
    )
    assert round_priors(np.array([0.001, 0.999]), 200, 10)[0] > 0
