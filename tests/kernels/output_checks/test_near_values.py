"""Values near to those of others, against small cases counted by hand."""

import numpy as np
import pytest

from policy_engine.kernels.output_checks.near_values import near_widths, nearest, spreads_tell


def widths(sizes, many, groups=None):
    numbers = np.zeros(len(sizes), np.int64) if groups is None else np.array(groups)
    return near_widths(numbers, np.array(sizes, float), many).tolist()


def test_the_width_is_that_of_the_narrowest_values_that_each_is_one_of():
    assert widths([1002.0, 1000, 900, 1003], 2) == [1.0, 2.0, np.inf, 1.0]


def test_values_a_hundredth_apart_are_near_and_no_others():
    assert widths([99.0, 100.0], 2) == [1.0, 1.0]
    assert widths([98.9, 100.0], 2) == [np.inf, np.inf]


def test_values_of_two_groups_are_not_near():
    assert widths([100.0, 100.0, 100.0], 2, [0, 1, 0]) == [0.0, np.inf, 0.0]


@pytest.mark.parametrize("sizes", [[], [5.0]])
def test_fewer_values_than_are_asked_for_are_not_near(sizes):
    assert widths(sizes, 2) == [np.inf] * len(sizes)


def test_the_most_that_are_near_to_each_other_are_chosen():
    sizes = np.array([100.5, 3, 100, 99.9, 50, 50.1])
    assert nearest(sizes).tolist() == [True, False, True, True, False, False]


def test_of_nothing_nothing_is_near():
    assert nearest(np.zeros(0)).tolist() == []


def test_spreads_tell_what_is_further_from_the_mean_than_nobody():
    """Of 100, 100, 100 and 104, the last one is as far as the spread allows: 3, of 101."""
    values = np.array([100.0, 100, 100, 104])
    squares = np.array([((values - values.mean()) ** 2).sum()])
    assert spreads_tell(squares, np.array([4]), np.array([104.0])).tolist() == [True]
    assert spreads_tell(squares, np.array([4]), np.array([59.0])).tolist() == [False]
    nothing = np.array([np.nan, np.inf, 0.0])
    assert spreads_tell(nothing, np.array([4, 4, 1]), np.ones(3)).tolist() == [False] * 3
