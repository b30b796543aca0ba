import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.key_order import order_of_keys


@given(st.lists(st.integers(0, 5)))
def test_equal_keys_are_in_the_order_of_their_rows(keys):
    found = order_of_keys(np.array(keys, dtype=np.int64), 6)
    assert found.tolist() == sorted(range(len(keys)), key=keys.__getitem__)


@pytest.mark.parametrize("count", [2**40, 2**62, 2**63])
def test_keys_of_any_size_are_in_order(count):
    keys = np.array([count - 1, 0, count - 1, 7], dtype=np.int64)
    assert order_of_keys(keys, count).tolist() == [1, 3, 0, 2]
