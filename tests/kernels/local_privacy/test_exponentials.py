"""Exponentials that are never too large."""

from fractions import Fraction

import pytest

from policy_engine.kernels.local_privacy.exponentials import (
    WORDS,
    check_epsilon,
    floor_exp,
    least_weight,
)

# e, cut after 39 decimals.
E = Fraction(2718281828459045235360287471352662497757, 10**39)


def test_the_exponential_of_nothing_is_one():
    assert floor_exp(Fraction(0)) == 1


def test_the_exponential_of_one_has_the_digits_of_e_and_is_not_more():
    assert E - Fraction(1, 10**39) < floor_exp(Fraction(1)) < E + Fraction(1, 10**39)


@pytest.mark.parametrize("exponent", [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(20)])
def test_exponentials_are_hardly_less_than_those_of_a_longer_series(exponent):
    term, total = Fraction(1), Fraction(1)
    for number in range(1, 160):
        term = term * exponent / number
        total += term
    assert 0 <= total - floor_exp(exponent) < total / 2**200


def test_what_is_large_counts_as_sixty_four():
    assert floor_exp(Fraction(10**9)) == floor_exp(Fraction(64)) > WORDS


def test_a_weight_is_rounded_up():
    """Of 2**64 words, one output with 2 parts and two with one have 4 parts: no remainder. With
    3 parts there are 5, and 2**64 = 5 * 3689348814741910323 + 1."""
    assert least_weight(Fraction(2), 1, 2) == WORDS // 4
    assert least_weight(Fraction(3), 1, 2) == 3689348814741910324


@pytest.mark.parametrize("epsilon", [0, -1])
def test_an_epsilon_that_is_not_positive_is_refused(epsilon):
    with pytest.raises(ValueError, match="not positive"):
        check_epsilon(Fraction(epsilon))


def test_a_negative_exponent_is_refused():
    with pytest.raises(ValueError, match="negative"):
        floor_exp(Fraction(-1))
