import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.noise import (
    add_correlated_noise,
    add_noise,
    covariance_factor,
    multiply_noise,
    without_last_bits,
    without_last_digits,
)
from policy_engine.kernels.normal import laplaces, normals

ROWS = 1_000_000
MANY = np.random.default_rng(3).integers(0, 2**64, (ROWS, 4), dtype=np.uint64)
MIDDLE = 2**63  # the word of noise 0
ONE_UP = 2**64 - round(0.15865525393145707 * 2**64)  # that of one standard deviation
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.integers(0, 2**64 - 1)
CELLS = st.lists(st.tuples(FLOATS, FLOATS, WORDS, WORDS), min_size=1, max_size=10)


def words(*numbers):
    return np.array(numbers, np.uint64)


def floats(*numbers):
    return np.array(numbers, float)


def correlated(values, covariance, share, drawn, *, keeps=True):
    means, covariance = np.mean(values, axis=0), np.array(covariance, float)
    return add_correlated_noise(values, means, covariance, share, drawn, keeps_covariance=keeps)


def test_added_noise_is_that_of_the_word_in_units_of_the_deviation():
    noisy = add_noise(floats(10, 20), 3.0, words(MIDDLE, ONE_UP), "normal")
    assert noisy == pytest.approx([10, 23])
    drawn = words(1, 2**64 - 9)
    assert add_noise(floats(0, 0), 2.0, drawn, "laplace").tolist() == (2 * laplaces(drawn)).tolist()


def test_multiplied_noise_is_one_deviation_up_less_half_the_variance():
    noisy = multiply_noise(floats(10, -10, 0), 0.2, words(ONE_UP, MIDDLE, 5))
    assert noisy == pytest.approx([10 * math.exp(0.18), -10 * math.exp(-0.02), 0])


@pytest.mark.parametrize("distribution", ["normal", "laplace"])
def test_added_noise_has_its_mean_and_deviation(distribution):
    noise = add_noise(np.zeros(ROWS), 5.0, MANY[:, 0], distribution)
    assert noise.mean() == pytest.approx(0, abs=0.02)
    assert noise.std() == pytest.approx(5, abs=0.02)


def test_multiplied_noise_has_mean_1_and_its_deviation():
    noise = multiply_noise(np.ones(ROWS), 0.5, MANY[:, 0])
    assert noise.mean() == pytest.approx(1, abs=0.002)
    assert np.log(noise).std() == pytest.approx(0.5, abs=0.002)


def test_correlated_noise_of_one_column_is_kims():
    # The mean is 1 and the variance 4: noise of share 1 has deviation 2.
    values = floats([-1], [3])
    noisy = correlated(values, [[4]], 1, words([ONE_UP], [MIDDLE]), keeps=False)
    assert noisy.ravel() == pytest.approx([1, 3])
    noisy = correlated(values, [[4]], 1, words([ONE_UP], [MIDDLE]))
    assert noisy.ravel() == pytest.approx([1, 1 + 2 / math.sqrt(2)])


def test_columns_that_are_multiples_get_multiples_of_one_noise():
    values = floats([0, 10], [2, 6], [4, 2])
    noisy = correlated(values, [[8 / 3, -16 / 3], [-16 / 3, 32 / 3]], 0.5, MANY[:3, :2])
    assert noisy[:, 1] == pytest.approx(10 - 2 * noisy[:, 0])
    assert abs(noisy - values).max() > 0.1


def test_a_constant_column_stays_as_it_is():
    values = floats([1, 7], [3, 7])
    noisy = correlated(values, [[1, 0], [0, 0]], 0.5, MANY[:2, :2])
    assert noisy[:, 1].tolist() == [7, 7]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("keeps", "ratio"), [(True, 1.0), (False, 1.1)])
def test_correlated_noise_keeps_the_correlations_of_a_million_rows(keeps, ratio):
    # The acceptance figures of ../shared/recipes/masking.md: correlations of .5, a share of .1.
    covariance = (np.full((4, 4), 0.5) + 0.5 * np.eye(4)) * np.outer(SCALES, SCALES)
    values = normals(MANY) @ covariance_factor(covariance).T + 5.0
    drawn = np.random.default_rng(4).integers(0, 2**64, (ROWS, 4), dtype=np.uint64)
    noisy = correlated(values, np.cov(values.T), 0.1, drawn, keeps=keeps)
    assert np.corrcoef(noisy.T) == pytest.approx(np.corrcoef(values.T), abs=0.002)
    assert noisy.var(axis=0) / values.var(axis=0) == pytest.approx(ratio, abs=0.005)
    assert noisy.mean(axis=0) == pytest.approx(values.mean(axis=0), abs=0.005 * SCALES.max())


SCALES = np.array([0.1, 1.0, 10.0, 100.0])


def test_the_factor_of_a_matrix_is_choleskys():
    # The second column has the greater share left: of 4, 2 ** 2 / 9 is explained.
    factor = covariance_factor(floats([9, 2], [2, 4]))
    assert factor == pytest.approx(floats([3, 0], [2 / 3, math.sqrt(4 - 4 / 9)]))


# Variances below 2**-960 count as none.
TAKEN = st.floats(-10, 10).filter(lambda value: value == 0 or abs(value) > 1e-140)


def columns_of(size):
    return st.lists(TAKEN, min_size=size, max_size=size)


@given(st.integers(1, 4).flatmap(lambda size: st.lists(columns_of(size), min_size=1, max_size=4)))
def test_a_factor_times_itself_is_the_matrix_even_if_it_is_singular(rows):
    covariance = np.array(rows).T @ np.array(rows)
    factor = covariance_factor(covariance)
    deviations = np.sqrt(np.diag(covariance))
    difference = abs(factor @ factor.T - covariance)
    assert (difference <= 1e-8 * np.outer(deviations, deviations)).all()


@pytest.mark.parametrize(
    "matrix",
    [[[1, 2], [2, 1]], [[1, 0.5], [0, 1]], [[-1]], [[0, 1], [1, 1]], [[math.nan]]],
    ids=["negative eigenvalue", "not symmetric", "negative", "covaries with a constant", "nan"],
)
def test_a_matrix_that_is_not_one_of_covariances_is_refused(matrix):
    with pytest.raises(ValueError, match="not one of covariances"):
        covariance_factor(np.array(matrix, float))


@given(CELLS, st.permutations(range(10)), st.booleans())
def test_noise_moves_with_its_rows_and_is_finite(cells, order, keeps):
    order = [place for place in order if place < len(cells)]
    values, drawn = (np.array(cells)[:, :2], np.array([cell[2:] for cell in cells], np.uint64))
    covariance = floats([9, 3], [3, 4])

    def masked(values, drawn):
        means = floats(1, 2)
        both = add_correlated_noise(values, means, covariance, 0.3, drawn, keeps_covariance=keeps)
        one = add_noise(values[:, 0], 1e300, drawn[:, 0], "laplace")
        return np.column_stack([both, one, multiply_noise(values[:, 0], 2.0, drawn[:, 1])])

    noisy = masked(values, drawn)
    assert np.isfinite(noisy).all()
    assert masked(values[order], drawn[order]).tolist() == noisy[order].tolist()


def test_noise_beyond_the_floats_ends_at_the_largest():
    most = sys.float_info.max
    assert add_noise(floats(most, -most), most, words(2**64 - 1, 0), "normal").tolist() == [
        most,
        -most,
    ]
    assert multiply_noise(floats(most), 1.0, words(2**64 - 1)).tolist() == [most]


@pytest.mark.parametrize("deviation", [1e-300, 0.001, 1.0, 3.0, 1e15])
def test_the_last_bits_of_noisy_numbers_tell_nothing(deviation):
    noisy = np.array([0.1, -1234.56789, 1e10 / 3, 0]) * deviation
    coarse = without_last_bits(noisy, deviation)
    step = 2.0 ** (math.floor(math.log2(deviation)) - 20)
    assert (coarse / step == np.rint(coarse / step)).all()
    assert (np.abs(coarse - noisy) <= step / 2).all()
    assert without_last_bits(noisy, 0).tolist() == noisy.tolist()


def test_the_last_digits_of_products_tell_nothing():
    products = np.array([1 / 3, -1e80 / 3, 1e-80 / 3, 0])
    coarse = without_last_digits(products, 0.1)
    # 0.1 is at least 2**-4: floats of 24 bits.
    assert coarse[:1] == np.float32(1 / 3)
    assert np.abs(coarse - products) == pytest.approx(np.zeros(4), abs=1e80 * 2.0**-25)
    assert coarse[3] == 0
    assert without_last_digits(products, 1e-12).tolist() == products.tolist()
