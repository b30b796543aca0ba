import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.sampling import (
    last_hashes,
    last_of_share,
    nearest_sizes,
    proportional_sizes,
    size_bounds,
)


def test_a_share_is_read_as_it_is_written():
    assert last_of_share(0.5) == 2**63 - 1
    assert last_of_share(0.1) == 2**64 // 10 - 1
    assert last_of_share(1e-30) == 0


def test_the_share_of_a_stratum_is_rounded_and_a_half_up():
    assert nearest_sizes(np.array([10, 5, 4, 1]), 0.1).tolist() == [1, 1, 0, 0]
    assert nearest_sizes(np.array([3, 1]), 0.5).tolist() == [2, 1]


def test_a_size_is_split_by_largest_remainders():
    # 7 of 20: 3.5, 2.1 and 1.4; the one that is left goes to the greatest remainder, .5
    assert proportional_sizes(np.array([10, 6, 4]), 7).tolist() == [4, 2, 1]
    assert proportional_sizes(np.array([1, 1, 1]), 2).tolist() == [1, 1, 0]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.data())
def test_the_parts_of_a_size_add_up_and_no_stratum_gives_more_than_it_has(counts, data):
    size = data.draw(st.integers(1, sum(counts)))
    sizes = proportional_sizes(np.array(counts), size)
    assert sizes.sum() == size
    assert (sizes <= counts).all()


def test_the_last_hash_of_a_stratum_is_that_of_its_size():
    hashes = np.array([5, 1, 9, 7, 2**63], dtype=np.uint64)
    strata = np.array([0, 1, 0, 1, 1])
    assert last_hashes(hashes, strata, np.array([1, 3])).tolist() == [5, 2**63]


def test_only_equal_remainders_leave_open_what_a_stratum_gives():
    # 2 of 3 and 1 of 3 strata of one row; 7 of 20 as above
    least, most = size_bounds(np.array([1, 1, 1]), 2)
    assert (least.tolist(), most.tolist()) == ([0, 0, 0], [1, 1, 1])
    least, most = size_bounds(np.array([10, 6, 4]), 7)
    assert least.tolist() == most.tolist() == [4, 2, 1]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.data())
def test_what_is_given_is_within_its_bounds(counts, data):
    size = data.draw(st.integers(0, sum(counts)))
    least, most = size_bounds(np.array(counts), size)
    sizes = proportional_sizes(np.array(counts), size)
    assert (least <= sizes).all()
    assert (sizes <= most).all()
