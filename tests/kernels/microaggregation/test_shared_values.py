import numpy as np
import pytest

from policy_engine.kernels.microaggregation import dominated_classes, shared_tally


def test_rows_whose_values_too_few_share_are_counted():
    after = np.array([[1.0, 1], [1, 1], [1, 2], [3, 3], [3, 3]])
    tally = shared_tally(after, after, 2, (0.0, 0.0))
    assert tally["broken"].tolist() == [1, 1]
    assert tally["classes"].tolist() == [3, 3]


@pytest.mark.parametrize(("rounding", "broken"), [(0.5, [0, 2]), (0.4, [2, 4]), (1.5, [0, 0])])
def test_rows_whose_value_is_not_the_mean_of_those_that_share_it_are_counted(rounding, broken):
    # The means are 0.5 and 9.5, and 3.5 and 7.5.
    before = np.array([[0.0, 3], [1, 4], [9, 7], [10, 8]])
    after = np.array([[1.0, 3], [1, 3], [9.5, 9], [9.5, 9]])
    tally = shared_tally(before, after, 2, (rounding, rounding))
    assert tally["broken"].tolist() == broken


def test_a_class_is_dominated_by_more_than_half_of_its_sum():
    values = np.array([1.0, 1, 2, 1, 1, 3, 0, 0, 0])
    groups = np.repeat([0, 1, 2], 3)
    assert dominated_classes(values, groups, 3) == 1


def test_a_class_with_negative_values_is_dominated_by_what_is_greater_without_its_sign():
    # Sizes of 100 beside 1 and 1; of 100 beside 1 and 99; of 3 beside 1 and 1.
    values = np.array([-1.0, 1, 100, 1, 99, -100, -1, -3, -1])
    assert dominated_classes(values, np.repeat([0, 1, 2], 3), 3) == 2
    assert dominated_classes(-values, np.repeat([0, 1, 2], 3), 3) == 2


def test_the_sum_of_the_largest_numbers_is_no_infinity():
    values = np.array([1.7e308, 1.7e308, 1.7e308])
    assert dominated_classes(values, np.zeros(3, np.int64), 1) == 0
