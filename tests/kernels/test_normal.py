import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.normal import laplaces, normal_quantiles, normals, uniforms

WORDS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20).map(
    lambda words: np.array(words, np.uint64)
)
ENDS = np.array([0, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)


def many(count=1_000_000):
    return np.random.default_rng(1).integers(0, 2**64, count, dtype=np.uint64)


def below(number):
    """The share of the normal distribution below a number."""
    return math.erfc(-number / math.sqrt(2)) / 2


@pytest.mark.parametrize(
    ("share", "number"),
    # Wichura, Applied Statistics 37(3), 1988, of which these are the test values.
    [(0.25, -0.6744897501960817), (0.001, -3.090232306167814), (1e-20, -9.262340089798408)],
)
def test_quantiles_are_the_published_ones(share, number):
    assert normal_quantiles(np.array([share]))[0] == pytest.approx(number, rel=5e-16)


@given(st.floats(1e-300, 1, exclude_max=True))
def test_the_share_below_a_quantile_is_the_share_asked_for(share):
    number = normal_quantiles(np.array([share]))[0]
    # An error of 1e-16 of the number is one of number**2 * 1e-16 in the share.
    assert below(number) == pytest.approx(share, rel=1e-15 * (1 + number**2))
    assert number == pytest.approx(NormalDist().inv_cdf(share), rel=1e-15)


def test_quantiles_keep_the_shape_of_the_shares():
    assert normal_quantiles(np.full((3, 2), 0.5)).tolist() == [[0.0, 0.0]] * 3
    assert normals(np.zeros((0, 4), np.uint64)).shape == (0, 4)


def test_numbers_of_the_least_and_greatest_words_are_finite():
    assert uniforms(ENDS).tolist() == [2.0**-53, 0.5 - 2.0**-53, 0.5 + 2.0**-53, 1 - 2.0**-53]
    for number in (normals(ENDS), laplaces(ENDS)):
        assert number[0] == -number[3]
        assert np.copysign(1, number[1:3]).tolist() == [1, 1]
        assert number[1:3].tolist() == [0, 0]
    assert normals(ENDS)[3] == pytest.approx(9.155, abs=0.001)
    assert laplaces(ENDS)[3] == pytest.approx(64 * math.log(2) / math.sqrt(2))


@given(WORDS)
def test_greater_words_never_make_smaller_numbers(words):
    for numbers in (uniforms, normals, laplaces):
        assert (np.diff(numbers(np.sort(words))) >= 0).all()


@given(WORDS)
def test_each_number_is_that_of_its_word_wherever_it_stands(words):
    for numbers in (uniforms, normals, laplaces):
        assert numbers(words[::-1]).tolist() == numbers(words).tolist()[::-1]


@pytest.mark.parametrize(
    ("numbers", "share_below"),
    [
        (uniforms, lambda number: number),
        (normals, below),
        (laplaces, lambda number: math.exp(math.sqrt(2) * number) / 2),
    ],
)
def test_a_million_words_make_the_distribution(numbers, share_below):
    # The largest distance of a million draws from the true distribution is below 0.00195 but for
    # one time in a thousand (Kolmogorov).
    drawn = numbers(many())
    for place in (-3.0, -1.0, -0.25, 0.1, 0.4):
        if numbers is uniforms or place < 0:
            expected = min(max(share_below(place), 0.0), 1.0)
            assert (drawn <= place).mean() == pytest.approx(expected, abs=0.00195)


@pytest.mark.parametrize("numbers", [normals, laplaces])
def test_a_million_words_make_mean_0_and_deviation_1(numbers):
    drawn = numbers(many())
    assert drawn.mean() == pytest.approx(0, abs=0.004)
    assert drawn.std() == pytest.approx(1, abs=0.005)
