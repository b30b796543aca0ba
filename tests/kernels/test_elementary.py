import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.elementary import exponential, logarithm

NORMAL = st.floats(min_value=2.0**-1022, allow_infinity=False, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.0, 0.0), (2.0, math.log(2)), (0.5, -math.log(2)), (2.0**-1022, -1022 * math.log(2))],
)
def test_the_logarithm_of_powers_of_2_is_that_of_2_times_the_power(value, expected):
    assert logarithm(value) == expected


@given(NORMAL)
def test_a_logarithm_is_within_one_last_place(value):
    assert abs(logarithm(value) - math.log(value)) <= math.ulp(math.log(value))


@given(st.floats(-708, 709))
def test_an_exponential_is_within_one_last_place(value):
    assert abs(exponential(value) - math.exp(value)) <= math.ulp(math.exp(value))


def test_an_exponential_beyond_the_floats_is_that_of_the_nearest_end():
    assert exponential(1e300) == exponential(709.0) < math.inf
    assert exponential(-1e300) == exponential(-708.0) > 0
    assert exponential(0.0) == 1.0
