from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policy_engine.kernels.diversity import histogram, ordered, variational
from policy_engine.kernels.microaggregation import strata_needed, stratified_mdav
from policy_engine.kernels.microaggregation.strata import _greatest_distance


def grouped(points, sensitive, strata):
    numbers = np.array(points, dtype=np.float64)[:, None]
    words = np.arange(len(numbers), dtype=np.uint64)
    return stratified_mdav(numbers, words, np.array(sensitive, np.int32), strata).tolist()


def greatest(counts, strata, *, is_ordered):
    places = np.arange(len(counts)) / max(len(counts) - 1, 1)
    return _greatest_distance(np.array(counts), places, strata, is_ordered=is_ordered)


def test_a_class_has_a_row_of_every_stratum():
    assert grouped([0, 1, 10, 11], [0, 1, 0, 1], 2) == [0, 0, 1, 1]
    # Of the nearest rows, 0 and 1 have the same value: 0 meets 10.
    assert grouped([0, 1, 10, 11], [0, 0, 1, 1], 2) == [0, 1, 0, 1]


def test_rows_that_are_left_join_the_class_with_the_nearest_mean():
    # The strata are 0, 10, 1 and 11, 12: 0 meets 11, and 12, the farthest from it, meets 10.
    assert grouped([0, 1, 10, 11, 12], [0, 1, 0, 1, 1], 2) == [0, 0, 1, 0, 1]


def test_too_few_rows_are_one_class():
    assert grouped([3, 9, 27], [0, 1, 2], 2) == [0, 0, 0]


@pytest.mark.parametrize(("rows", "k"), [(4, 2), (12, 3), (20, 5), (30, 2)])
def test_the_greatest_distance_is_the_published_one_where_all_values_differ(rows, k):
    # (n - k) / (2 (n - 1) k): Soria-Comas et al. 2015, proposition 2.
    found = greatest([1] * rows, k, is_ordered=True)
    assert found == pytest.approx((rows - k) / (2 * (rows - 1) * k))


def test_values_that_fill_strata_are_never_too_many_in_a_class():
    # Half a, half b: in three strata, the one in the middle has both.
    assert [greatest([6, 6], s, is_ordered=False) for s in (1, 2, 3)] == pytest.approx(
        [1 / 2, 0, 1 / 6]
    )


def test_the_strata_are_as_few_as_suffice():
    halves = np.array([6, 6])
    assert strata_needed(halves, 0.1, 2, is_ordered=False) == 2
    assert strata_needed(halves, 0.1, 4, is_ordered=False) == 4
    assert strata_needed(np.ones(9, np.int64), 1e-6, 2, is_ordered=False) == 9


@pytest.mark.parametrize("counts", [[1, 2], [0, 1, 2], [1, 0, 0, 2], [1, 2, 0]])
def test_values_that_do_not_occur_have_no_rank(counts):
    # Of two strata the upper one is all b, the lower a or b: 1/2 or 0 is a, of the table 1/3.
    # That is 1/3 from it at most, with the two values 1 apart.
    overall = np.array(counts)
    assert strata_needed(overall, 0.34, 2, is_ordered=True) == 2
    assert strata_needed(overall, 0.32, 2, is_ordered=True) == 3


COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any)


@example(counts=[0, 1, 2], t=0.25, is_ordered=True, times=1, random=Random(0))
@given(COUNTS, st.floats(0.05, 0.5), st.booleans(), st.integers(1, 4), st.randoms())
def test_classes_are_close_by_the_measure_of_the_certificate(counts, t, is_ordered, times, random):
    overall = np.array(counts)
    strata = strata_needed(overall, t, 2, is_ordered=is_ordered)
    # Enough rows that all strata are equally large.
    sensitive = np.repeat(np.arange(len(counts)), overall * strata * times).astype(np.int32)
    points = [random.random() for _ in sensitive]
    groups = np.array(grouped(points, sensitive, strata))
    figures = ordered if is_ordered else variational
    found = figures(histogram(groups, int(groups.max()) + 1, sensitive))
    assert np.bincount(groups).min() >= 2
    assert found.max() <= t + 1e-12


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=40), st.data()
)
def test_the_order_of_the_rows_decides_nothing(rows, data):
    order = data.draw(st.permutations(range(len(rows))))
    points, sensitive = np.array(rows, dtype=np.float64).T
    words = np.arange(len(rows), dtype=np.uint64)
    found = stratified_mdav(points[:, None], words, sensitive.astype(np.int32), 3)
    mixed = points[order][:, None]
    again = stratified_mdav(mixed, words[order], sensitive[order].astype(np.int32), 3)
    assert again.tolist() == found[order].tolist()
