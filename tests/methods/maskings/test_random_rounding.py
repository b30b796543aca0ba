import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from masked import facts_of, rows_of

from policy_engine.methods.maskings.random_rounding import RandomRounding


def test_the_expected_value_is_the_value():
    made = RandomRounding(name="pay", base=10).perturb(rows_of(np.full(50_000, 23.0)))
    assert sorted(np.unique(made)) == [20, 30]
    assert made.mean() == pytest.approx(23, abs=0.1)


@given(st.lists(st.integers(-1000, 1000), min_size=1), st.sampled_from([1, 7, 10, 0.5]))
def test_every_value_is_a_multiple_beside_it_and_a_multiple_stays(values, base):
    masking, given_values = RandomRounding(name="pay", base=base), np.array(values, dtype=float)
    made = masking.perturb(rows_of(given_values))
    before = given_values[:, None]
    assert masking.tally(before, made, facts_of(before))["broken"].tolist() == [0]
    is_multiple = given_values % base == 0
    assert np.array_equal(made[is_multiple], before[is_multiple])


def test_what_is_no_multiple_or_too_far_is_broken():
    before, after = np.array([[23.0], [23.0], [23.0]]), np.array([[25.0], [40.0], [30.0]])
    masking = RandomRounding(name="pay", base=10)
    assert masking.tally(before, after, facts_of(before))["broken"].tolist() == [2]


@pytest.mark.parametrize(("base", "decimals"), [(1, 0), (10, 0), (0.25, 2), (0.1, 1), (2.5, 1)])
def test_multiples_have_the_decimals_of_the_base(base, decimals):
    assert RandomRounding(name="pay", base=base).decimals == decimals
