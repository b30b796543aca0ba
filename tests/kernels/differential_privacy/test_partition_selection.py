import math
from fractions import Fraction
from itertools import pairwise

import pytest
from scipy.stats import binomtest

from policy_engine.kernels.differential_privacy.partition_selection import BITS, keep_chances, keeps
from policy_engine.kernels.local_privacy.exponentials import floor_exp

DELTA = Fraction(1, 10**6)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("delta", [DELTA, Fraction(1, 10)])
def test_neighbouring_counts_lose_no_more_than_epsilon_and_delta(epsilon, delta):
    """Exactly, of all counts: that a partition is kept, and that it is not, and of both orders."""
    growth = floor_exp(epsilon)  # at most e^epsilon
    chances = [Fraction(one, 1 << BITS) for one in keep_chances(epsilon, delta)]
    assert (chances[0], chances[-1]) == (0, 1)
    for one, next_one in pairwise(chances):
        assert one <= next_one <= growth * one + delta
        assert 1 - one <= growth * (1 - next_one) + delta


def test_no_greater_probabilities_are_allowed():
    """Each is that of the recursion (theorem 1), which goes as far as allowed, but for 2^-100."""
    epsilon, chance = 0.5, 0.0
    for ours in keep_chances(Fraction(1, 2), DELTA):
        assert ours / 2**BITS == pytest.approx(chance, rel=1e-9)
        stays = 1 - math.exp(-epsilon) * (1 - chance - 1e-6)
        chance = min(math.exp(epsilon) * chance + 1e-6, stays, 1.0)


def test_one_unit_is_kept_by_delta_alone():
    assert keep_chances(Fraction(1), DELTA)[1] == int(DELTA * 2**BITS)


def test_partitions_are_kept_as_often_as_they_should():
    chances = keep_chances(Fraction(1), Fraction(1, 100))
    for count in (1, 3, 5):
        kept = sum(keeps([count] * 20_000, Fraction(1), Fraction(1, 100)))
        assert binomtest(kept, 20_000, chances[count] / 2**BITS).pvalue > 1e-6


def test_of_many_units_always_and_of_none_never():
    assert keeps([0, 10**9, -1], Fraction(1), Fraction(1, 2)) == [False, True, False]
    assert keeps([], Fraction(1), DELTA) == []


@pytest.mark.parametrize("bits", [0, 2**BITS - 1])
def test_whatever_bits_are_drawn_none_is_not_kept_and_many_are(monkeypatch, bits):
    monkeypatch.setattr("secrets.randbits", lambda _: bits)
    assert keeps([0, 1, 60, 61], Fraction(1), DELTA) == [False, bits == 0, True, True]


@pytest.mark.parametrize(("epsilon", "delta"), [(0, DELTA), (1, 0), (1, 2), (1, 2.0**-129)])
def test_out_of_range(epsilon, delta):
    with pytest.raises(ValueError, match="Epsilon is above 0"):
        keeps([1], Fraction(epsilon), Fraction(delta))
