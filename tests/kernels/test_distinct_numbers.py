import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.distinct_numbers import distinct_numbers


@given(st.lists(st.integers(-5, 5)))
def test_each_number_is_there_once_in_order(numbers):
    assert distinct_numbers(np.array(numbers, np.int64)).tolist() == sorted({*numbers})
