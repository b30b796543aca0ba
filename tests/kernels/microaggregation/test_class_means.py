import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from microaggregated import random_words

from policy_engine.kernels.microaggregation import aggregate, class_means


def test_every_row_has_the_mean_of_its_class():
    values = np.array([[1.0, 10], [2, 20], [4, 40], [9, 90]])
    made = class_means(values, np.array([0, 1, 0, 1]))
    assert made.tolist() == [[2.5, 25], [5.5, 55], [2.5, 25], [5.5, 55]]


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=20), st.randoms())
def test_a_mean_is_nearly_exact_and_the_order_of_rows_does_not_matter(numbers, random):
    mixed = random.sample(numbers, len(numbers))
    one, other = (
        class_means(np.array(rows)[:, None], np.zeros(len(rows), np.int64))[0, 0]
        for rows in (numbers, mixed)
    )
    assert one == other
    exact = math.fsum(numbers) / len(numbers)
    assert one == pytest.approx(exact, rel=1e-15, abs=1e-15 * max(map(abs, numbers)))


SIZES = st.sampled_from([10, 10**6, 2**50, 2**51, 2**52, 2**53])
INTEGERS = SIZES.flatmap(
    lambda most: st.lists(
        st.integers(most // 2, most) | st.integers(-most, most), min_size=1, max_size=50
    )
)


@given(INTEGERS)
@example([-2343333333333334, -2343333333333333, -2343333333333333])
@example([2**51 + 1, 2**51 + 1, 2**51])
def test_the_mean_of_integers_rounds_to_the_integer_nearest_to_it(numbers):
    made = class_means(np.array(numbers, float)[:, None], np.zeros(len(numbers), np.int64))[0, 0]
    assert np.rint(made) == round(Fraction(sum(numbers), len(numbers)))


def test_the_mean_of_the_largest_numbers_is_finite():
    values = np.full((3, 1), 1.7e308)
    assert class_means(values, np.zeros(3, np.int64))[:, 0].tolist() == [1.7e308] * 3


def test_a_small_number_is_not_lost_among_large_ones():
    values = np.array([[1e17], [1], [-1e17]])
    assert class_means(values, np.zeros(3, np.int64))[0, 0] == pytest.approx(1 / 3, rel=1e-15)


def test_one_column_is_aggregated_by_its_optimum():
    # MDAV would put 1 and 2 together, 20 and 21, and 3 and 19.
    values = np.array([[1.0], [2], [3], [19], [20], [21]])
    made = aggregate(values, 2, random_words(6))
    assert made[:, 0].tolist() == [2, 2, 2, 20, 20, 20]


def test_words_decide_nothing_between_rows_with_different_values():
    random = np.random.default_rng(4)
    values = np.stack([random.permutation(40), random.permutation(40)], axis=1) * 1.0
    first, second = (
        aggregate(values, 3, random.permutation(40).astype(np.uint64)) for _ in range(2)
    )
    assert np.array_equal(first, second)
