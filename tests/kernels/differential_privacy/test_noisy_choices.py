import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from policy_engine.kernels.differential_privacy.selection import (
    exponential,
    permute_and_flip,
    quantile_scores,
    quantile_sensitivity,
    top_k,
)

HALF = Fraction(1, 2)
D52 = (1, 3, 5, 7, 8, 11, 12, 13, 17, 22)
"""The example of D5.2, section 3.2.1, of which a median is asked: here on the public grid 0..30."""
DRAWS = 3_000
UNLIKELY = 1e-6


def counted(values, size=31):
    return np.bincount(values, minlength=size)


def flipped(scores, scale):
    """Return the probabilities of permute-and-flip, by all orders of candidates."""
    chances = [math.exp((score - max(scores)) / scale) for score in scores]
    totals = [0.0] * len(scores)
    for order in permutations(range(len(scores))):
        left = 1.0
        for index in order:
            totals[index] += left * chances[index]
            left *= 1 - chances[index]
    return [total / math.factorial(len(scores)) for total in totals]


def weighed(scores, scale):
    weights = [math.exp((score - max(scores)) / scale) for score in scores]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("choice", "law"), [(permute_and_flip, flipped), (exponential, weighed)])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 3)])
def test_choices_have_their_probabilities(choice, law, scale):
    scores = [0, 2, 3, 3, -1]
    counts = Counter(choice(scores, scale) for _ in range(DRAWS))
    expected = [chance * DRAWS for chance in law(scores, float(scale))]
    assert chisquare([counts[index] for index in range(5)], expected).pvalue > UNLIKELY


def test_ranks_of_the_median_of_d52():
    """Of n = 10 rows the score is twice the distance of ranks from 5, which 8 to 11 have."""
    scores = quantile_scores(counted(D52), HALF)
    assert [scores[value] for value in (0, 1, 7, 8, 9, 10, 11)] == [-10, -8, -2, 0, 0, 0, 0]
    assert [scores[value] for value in (12, 22, 30)] == [-2, -8, -10]


def test_other_quantiles_divide_rows_by_their_shares():
    """Of four rows the ranks of a quarter are 1 to 1: four times 0, 0, 1 and 2 from it."""
    assert quantile_scores([1, 1, 1, 1], Fraction(1, 4)) == [0, 0, -4, -8]
    assert quantile_scores([2, 1], Fraction(0)) == [0, -2]
    assert quantile_scores([2, 1], Fraction(1)) == [-1, 0]
    assert quantile_scores([0, 0], HALF) == [0, 0]
    with pytest.raises(ValueError, match="0 to 1"):
        quantile_scores([1], Fraction(3, 2))


def test_the_median_among_many_equal_rows_is_the_best():
    """Of 100 rows, 49 below it and 50 equal; a row of one below it is not as good."""
    assert quantile_scores([39, 10, 50, 1], HALF) == [-22, -2, 0, -98]


@pytest.mark.parametrize("at", [Fraction(0), HALF, Fraction(1, 3), Fraction(9, 10), Fraction(1)])
def test_a_row_changes_scores_by_no_more_than_the_sensitivity(at):
    """All rows of up to four on three candidates, and a row more on each."""
    greatest = 0
    for counts in np.ndindex(3, 3, 3):
        before = quantile_scores(counts, at)
        for place in range(3):
            after = quantile_scores(np.add(counts, np.eye(3, dtype=int)[place]), at)
            changes = [abs(one - other) for one, other in zip(before, after, strict=True)]
            greatest = max(greatest, *changes)
    assert greatest == quantile_sensitivity(at)


def test_the_best_k_are_chosen_one_after_the_other():
    scores = [10**6, 0, 3 * 10**6, 2 * 10**6]
    assert top_k(scores, 3, Fraction(10)) == [2, 3, 0]
    assert sorted(top_k(scores, 9, Fraction(10**9))) == [0, 1, 2, 3]


def test_a_choice_among_none_is_refused():
    with pytest.raises(ValueError, match="nothing to choose from"):
        permute_and_flip([], Fraction(1))


def test_scores_beyond_64_bits_are_saturated():
    assert permute_and_flip([-(10**40), 10**40], Fraction(1000)) == 1
