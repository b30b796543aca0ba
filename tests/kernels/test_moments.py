import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.moments import DIGITS, Moments, exponents


def moments_of(*rows):
    values = np.array(rows, dtype=np.float64)
    return Moments.of(values, exponents(values))


def test_exponents_are_the_powers_of_2_above_the_largest_magnitudes():
    values = np.array([[0.75, -4.0, 0.0, 5e-324], [-0.5, 3.0, 0.0, 0.0]])
    assert exponents(values).tolist() == [0, 3, -1000, -1000]
    assert exponents(np.zeros((0, 2))).tolist() == [-1000, -1000]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_moments(value):
    with pytest.raises(ValueError, match="finite"):
        exponents(np.array([[1.0], [value], [0.0]]))
    with pytest.raises(ValueError, match="finite"):
        Moments.of(np.array([[value]]), np.array([1024]))


def test_values_beyond_the_exponents_are_refused():
    with pytest.raises(ValueError, match="those of other values"):
        Moments.of(np.array([[4.0]]), np.array([2]))


def test_moments_are_those_worked_out_by_hand():
    found = moments_of([1, 2], [3, -2], [5, 6])
    assert found.count == 3
    assert found.means.tolist() == [3, 2]
    # From the means, the rows are (-2, 0), (0, -4) and (2, 4).
    assert found.covariance.tolist() == [[8 / 3, 8 / 3], [8 / 3, 32 / 3]]


def test_without_rows_all_is_0():
    found = moments_of([1.0, 2.0]).of(np.zeros((0, 2)), np.array([1, 2]))
    assert (found.count, found.means.tolist(), found.covariance.any()) == (0, [0, 0], False)


def test_without_columns_there_is_a_count():
    found = Moments.of(np.zeros((3, 0)), exponents(np.zeros((3, 0))))
    assert (found.count, found.means.shape, found.covariance.shape) == (3, (0,), (0, 0))


def test_moments_in_different_units_are_not_added():
    with pytest.raises(ValueError, match="different units"):
        moments_of([1.0]) + moments_of([2.0])


def test_a_constant_column_has_no_variance_at_all():
    values = np.column_stack([np.full(5_000, 0.1), np.arange(5_000) / 3])
    found = Moments.of(values, exponents(values)).covariance
    assert found[0].tolist() == [0, 0]
    assert found[1, 1] == pytest.approx(values[:, 1].var(), rel=1e-12)


def test_the_variance_of_values_far_from_0_keeps_its_digits():
    # In floats, sums of squares of 1e18 would leave nothing of a variance of 2/3.
    assert moments_of([1e9 - 1], [1e9], [1e9 + 1]).covariance.item() == 2 / 3


def test_rows_of_many_blocks_of_the_largest_magnitude_are_counted_exactly():
    rows = 2 * 2**20 + 2049
    found = Moments.of(np.full((rows, 1), -(2.0**7)), np.array([8]))
    half = 2 ** (DIGITS - 1)
    assert found.sums == ((rows, -rows * half), (-rows * half, rows * half * half))
    odd = np.where(np.arange(rows) % 2, 1.0, -1.0)[:, None]
    assert Moments.of(odd * (2 - 2.0**-41), np.array([1])).sums[1][1] == rows * (2**42 - 1) ** 2


def test_the_ends_of_the_floats_are_neither_lost_nor_infinite():
    ends = moments_of([sys.float_info.max, 3e-308], [-sys.float_info.max, 1e-308])
    assert ends.means[0] == 0
    assert ends.means[1] == pytest.approx(2e-308, rel=1e-6)
    assert ends.covariance.diagonal().tolist() == [sys.float_info.max, 0]
    assert ends.covariance[0, 1] == pytest.approx(1.797693, rel=1e-6)


NUMBERS = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float)
TABLES = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12).map(np.array)


@given(TABLES, st.data())
def test_any_order_and_any_partitions_make_equal_moments(values, data):
    order = data.draw(st.permutations(range(len(values))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=3)))
    parts = np.split(values[order], cuts)
    powers = np.maximum.reduce([exponents(part) for part in parts])
    whole, first = Moments.of(values, exponents(values)), Moments.of(parts[0], powers)
    added = sum((Moments.of(part, powers) for part in parts[1:]), start=first)
    assert added == whole
    assert added.covariance.tobytes() == whole.covariance.tobytes()


@given(TABLES)
def test_moments_are_those_of_fractions(values):
    found = Moments.of(values, exponents(values))
    columns = [[Fraction(value) for value in column] for column in values.T.tolist()]
    means = [sum(column) / len(values) for column in columns]
    units = [2.0 ** (power - DIGITS) for power in found.exponents]
    for i in range(2):
        assert found.means[i] == pytest.approx(float(means[i]), rel=1e-15, abs=units[i])
        for j in range(2):
            pairs = zip(columns[i], columns[j], strict=True)
            covariance = sum((x - means[i]) * (y - means[j]) for x, y in pairs) / len(values)
            largest = [2.0 ** found.exponents[i], 2.0 ** found.exponents[j]]
            error = 4 * 2.0**-DIGITS * largest[0] * largest[1]
            assert found.covariance[i, j] == pytest.approx(float(covariance), rel=1e-15, abs=error)
