"""An auditor's test: runs on two neighbours never show more epsilon than is stated.

What is broken loses more than it says, and is caught by the same test.
"""

from fractions import Fraction

import numpy as np
import pytest
from auditing_epsilon import shown_epsilon

from policy_engine.kernels.differential_privacy.calibration import calibrate
from policy_engine.kernels.differential_privacy.contributions import bound_contributions
from policy_engine.kernels.differential_privacy.noise import discrete_gaussian, discrete_laplace
from policy_engine.kernels.differential_privacy.partition_selection import keeps
from policy_engine.kernels.differential_privacy.parts import NoisyPart
from policy_engine.kernels.differential_privacy.selection import (
    exponential,
    permute_and_flip,
    quantile_scores,
    top_k,
)

HALF = Fraction(1, 2)
EPSILON, DELTA = Fraction(1), Fraction(1, 10**4)
KEY = bytes(16)


def scale_of(mechanism, sensitivity=1, cells=1, delta=0):
    part = NoisyPart(mechanism, Fraction(1), cells, sensitivity)
    return calibrate([part], EPSILON, Fraction(delta)).scales[0]


def laplace(table, runs):
    return discrete_laplace([sum(table)] * runs, scale_of("discrete-laplace", 3))


def gaussian(table, runs):
    return discrete_gaussian([sum(table)] * runs, scale_of("discrete-gaussian", 3, delta=DELTA))


def of_choices(choice, runs):
    return [choice() for _ in range(runs)]


def median(choose):
    def mechanism(table, runs):
        scores = quantile_scores(np.bincount(table, minlength=4), HALF)
        scale = scale_of("permute-and-flip")
        return of_choices(lambda: choose(scores, scale), runs)

    return mechanism


def best_two(table, runs):
    scores = [int(count) for count in np.bincount(table, minlength=4)]
    scale = scale_of("permute-and-flip", cells=2)
    return of_choices(lambda: int("{}{}".format(*top_k(scores, 2, scale))), runs)


def partitions(table, runs):
    return [int(one) for one in keeps([len(table)] * runs, EPSILON, Fraction(1, 100))]


TABLES = [3, 1, 2, 0], [3, 1, 2, 0, 3]
MECHANISMS = {
    "laplace": (laplace, 0),
    "gaussian": (gaussian, float(DELTA)),
    "permute-and-flip": (median(permute_and_flip), 0),
    "exponential": (median(exponential), 0),
    "top-k": (best_two, 0),
    "partitions": (partitions, 0.01),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_more_is_shown_than_is_stated(name):
    mechanism, delta = MECHANISMS[name]
    runs = 20_000 if name in ("laplace", "gaussian", "partitions") else 1_500
    assert shown_epsilon(mechanism, TABLES, runs, delta) <= EPSILON


@pytest.mark.nightly
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_more_is_shown_than_is_stated_by_many_runs(name):
    mechanism, delta = MECHANISMS[name]
    shown = shown_epsilon(mechanism, TABLES, 200_000, delta)
    assert shown <= EPSILON
    assert shown > 0.1, "The auditor sees nothing."


def test_half_the_scale_is_caught():
    def broken(table, runs):
        return discrete_laplace([sum(table)] * runs, scale_of("discrete-laplace", 3) / 2)

    assert shown_epsilon(broken, TABLES, 20_000) > EPSILON


def inverse(uniform, scale):
    """Return Laplace noise by the inverse of its distribution function, as is often done."""
    share = uniform - 0.5
    return -scale * np.sign(share) * np.log1p(-2 * np.abs(share))


def is_reachable(answers, value, scale):
    """Tell which answers are the value plus noise of one of 2^53 uniform numbers (Mironov 2012)."""
    noise = answers - value
    share = np.sign(noise) * -np.expm1(-np.abs(noise) / scale) / 2
    nearest = np.rint((share + 0.5) * 2**53)
    found = np.zeros(len(answers), dtype=bool)
    for step in range(-8, 9):
        found |= value + inverse((nearest + step) / 2**53, scale) == answers
    return found


def test_floats_are_caught():
    """Of what is drawn around 1, most has last bits that nothing drawn around 0 has."""
    draws = np.random.default_rng(0)

    def broken(table, runs):
        return len(table) + inverse(draws.integers(1, 2**53, runs) / 2**53, 1.0)

    events = [lambda runs: ~is_reachable(runs, 0, 1.0), lambda runs: ~is_reachable(runs, 1, 1.0)]
    assert shown_epsilon(broken, ([], [1]), 4_000, more=events[:1]) > 2 * EPSILON

    def sound(table, runs):
        return discrete_laplace([len(table)] * runs, scale_of("discrete-laplace"))

    assert shown_epsilon(sound, ([], [1]), 4_000, more=events) <= EPSILON


@pytest.mark.nightly
@pytest.mark.parametrize("is_bounded", [True, False])
def test_skipped_bounds_of_contributions_are_caught(is_bounded):
    """A unit has six rows of a group, of which two are to be counted."""
    units = [0, 1, 1] + [2] * 6

    def mechanism(table, runs):
        words = np.array(table, dtype=np.uint64)
        rows = np.arange(len(table), dtype=np.uint64)
        kept = bound_contributions(words, words * 0, rows, KEY, 1, 2)
        count = int(kept.sum()) if is_bounded else len(table)
        return discrete_laplace([count] * runs, scale_of("discrete-laplace", 2))

    shown = shown_epsilon(mechanism, (units, units[:3]), 20_000)
    assert (shown <= EPSILON) == is_bounded
