"""No mechanism's loss is larger than its epsilon: exactly, of all values and all answers."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from policy_engine.kernels.local_privacy.bounded_numbers import PiecewiseNumbers, TwoPoints
from policy_engine.kernels.local_privacy.exponentials import WORDS, floor_exp
from policy_engine.kernels.local_privacy.local_hashing import LocalHashing
from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse
from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding

EPSILONS = [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(21, 10), Fraction(8), 40, 100]


def _most(epsilon):
    """Return a number of at most e**epsilon. (More than e**64 is not told in one go.)"""
    return floor_exp(Fraction(epsilon) / 2) ** 2


def _largest_ratio(table):
    """Return the largest ratio of two weights of one answer, of a list of weights for each value.

    None is 0: a ratio would be infinite.
    """
    assert all(weight > 0 for weights in table for weight in weights)
    return max(Fraction(max(column), min(column)) for column in zip(*table, strict=True))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("values", [2, 3, 7])
def test_of_randomised_response(values, epsilon):
    mechanism = RandomisedResponse.of(values, Fraction(epsilon))
    table = [mechanism.weights(code) for code in range(values)]
    assert all(sum(weights) == WORDS for weights in table)
    assert _largest_ratio(table) <= _most(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("make", [UnaryEncoding.symmetric, UnaryEncoding.optimised])
def test_of_unary_encodings(make, epsilon):
    """All 16 answers of 4 bits."""
    mechanism = make(4, Fraction(epsilon))
    table = [
        [
            prod(
                weight if bit else WORDS - weight
                for bit, weight in zip(answer, mechanism.weights(code), strict=True)
            )
            for answer in product((0, 1), repeat=4)
        ]
        for code in range(4)
    ]
    assert all(sum(weights) == WORDS**4 for weights in table)
    assert _largest_ratio(table) <= _most(epsilon)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), 1, 3, 8])
def test_of_local_hashing(epsilon):
    """The hash is drawn without regard to the value: the loss is that of the answer to it."""
    mechanism = LocalHashing.of(5, Fraction(epsilon))
    table = [mechanism.response.weights(code) for code in range(mechanism.response.values)]
    assert _largest_ratio(table) <= _most(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("steps", [1, 2, 5, 14])
@pytest.mark.parametrize("kind", [TwoPoints, PiecewiseNumbers])
def test_of_bounded_numbers(kind, steps, epsilon):
    mechanism = kind.of(steps, Fraction(epsilon))
    table = [mechanism.weights(number) for number in range(steps + 1)]
    assert all(sum(weights) == WORDS for weights in table)
    assert _largest_ratio(table) <= _most(epsilon)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "mechanism",
    [
        RandomisedResponse.of(2, Fraction(1)),
        RandomisedResponse.of(5, Fraction(1)),
        RandomisedResponse.of(3, Fraction(100)),
        TwoPoints.of(4, Fraction(1)),
        TwoPoints.of(4, Fraction(100)),
        PiecewiseNumbers.of(4, Fraction(1)),
        PiecewiseNumbers.of(14, Fraction(1, 2)),
        PiecewiseNumbers.of(9, Fraction(100)),
    ],
    ids=repr,
)
def test_words_are_answered_by_the_weights(mechanism):
    """The answers change with the words only at a few ends: so all words are counted there."""
    values = mechanism.values if hasattr(mechanism, "values") else mechanism.steps + 1
    for number in range(values):
        weights = mechanism.weights(number)
        assert _words_of_answers(mechanism, number, len(weights)) == weights


def _words_of_answers(mechanism, number, answers):
    """Return how many words make each answer, by looking for where the answer changes."""
    counts, start = [0] * answers, 0
    while start < WORDS:
        answer = _answer(mechanism, number, start)
        step, end = 1, start
        while step:
            if end + step < WORDS and _is_all(mechanism, number, end + step, answer, start):
                end, step = end + step, step * 2
            else:
                step //= 2
        counts[answer] += end - start + 1
        start = end + 1
    return counts


def _is_all(mechanism, number, word, answer, start):
    return word > start and _answer(mechanism, number, word) == answer


def _answer(mechanism, number, word):
    numbers, words = np.array([number]), np.array([word], dtype=np.uint64)
    return int(mechanism.respond(numbers, words)[0])


@pytest.mark.parametrize("kind", [RandomisedResponse, UnaryEncoding, TwoPoints, PiecewiseNumbers])
def test_an_epsilon_that_tells_nothing_is_refused(kind):
    makers = [kind.symmetric, kind.optimised] if kind is UnaryEncoding else [kind.of]
    for make in makers:
        with pytest.raises(ValueError, match="tells nothing"):
            make(3, Fraction(1, 10**30))
