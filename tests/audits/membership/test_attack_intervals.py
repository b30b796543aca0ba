import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from policy_engine.audits.membership.curves import curve, order_of
from policy_engine.audits.membership.intervals import (
    area,
    difference,
    of_mean,
    rate_at,
    share_at_prior,
    wilson,
)
from policy_engine.estimates import clopper_pearson

COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_differences_as_published(one, other, low, high):
    """Newcombe, Statistics in Medicine 1998, 17: 873-890, table II, method 10."""
    shares = [wilson(hits / trials, trials) for hits, trials in (one, other)]
    found = difference(*shares)
    assert (found.low, found.high) == pytest.approx((low, high), abs=6e-5)


def test_a_difference_of_exact_shares_covers_what_it_says():
    """The chance that the interval holds .3, summed over all that 40 and 40 records can show."""
    shares = [clopper_pearson(hits, 40) for hits in range(41)]
    covered = 0.0
    for hits, one in enumerate(shares):
        for alarms, other in enumerate(shares):
            found = difference(one, other)
            if found.low <= 0.3 <= found.high:
                covered += binom.pmf(hits, 40, 0.6) * binom.pmf(alarms, 40, 0.3)
    assert 0.95 <= covered < 0.985


@given(COUNTS, COUNTS)
def test_a_difference_turns_round(one, other):
    forth = difference(clopper_pearson(*one), clopper_pearson(*other))
    back = difference(clopper_pearson(*other), clopper_pearson(*one))
    assert -1 <= forth.low <= forth.value <= forth.high <= 1
    assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low))


def test_an_area_has_the_published_error():
    """Hanley and McNeil, Radiology 1982: .893 with 51 and 58 images has an error of .032."""
    found = area(0.893, 51, 58)
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx(0.032, abs=0.003)


@given(st.floats(0, 1), st.integers(1, 500), st.integers(1, 500))
def test_an_area_lies_in_its_interval_and_mirrors(value, members, others):
    found, mirrored = area(value, members, others), area(1 - value, others, members)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


def test_the_ends_of_an_area_are_as_far_as_they_should_be():
    end = area(0.8, 40, 60).low
    first, second = end / (2 - end), 2 * end**2 / (1 + end)
    weight = 49  # the mean number of records, less one
    spread = end * (1 - end) + weight * (first - end**2) + weight * (second - end**2)
    assert (0.8 - end) / math.sqrt(spread / 2400) == pytest.approx(1.96, abs=1e-3)


def test_an_area_of_1_has_a_width():
    found = area(1.0, 1000, 1000)
    assert found.high == 1
    assert 0.99 < found.low < 0.9999


def test_without_members_nothing_is_known():
    assert area(0.5, 0, 9).model_dump() == {"value": 0.5, "low": 0, "high": 1}


@pytest.mark.parametrize(("prior", "share"), [(0.5, 0.8), (0.1, 0.08 / 0.26), (0.01, 8 / 206)])
def test_a_share_at_a_prior(prior, share):
    """A rate of .8 against one of .2."""
    found = share_at_prior((80, 100), (20, 100), prior)
    assert found.value == pytest.approx(share)
    hits, alarms = (clopper_pearson(n, 100, math.sqrt(0.95)) for n in (80, 20))
    odds = prior / (1 - prior)
    assert found.low == pytest.approx(1 / (1 + alarms.high / hits.low / odds))
    assert found.high == pytest.approx(1 / (1 + alarms.low / hits.high / odds))


@given(COUNTS, COUNTS, st.floats(0.001, 0.999))
def test_a_share_lies_in_its_interval(hits, alarms, prior):
    if hits[0] + alarms[0]:
        found = share_at_prior(hits, alarms, prior)
        assert 0 <= found.low <= found.value <= found.high <= 1


@given(st.floats(0, 1), st.integers(1, 1000))
def test_a_mean_lies_in_its_intervals(mean, trials):
    for found in (wilson(mean, trials), of_mean(mean, 0.1, trials)):
        assert 0 <= found.low <= mean <= found.high <= 1


# -- the true-positive rate at a false-positive rate ----------------------------------------------

FPRS = (0.001, 0.01, 0.1)
KINDS = {
    "continuous": lambda scores: scores,
    "rounded": lambda scores: np.round(scores * 2) / 2,
    "five values": lambda scores: np.clip(np.round(scores), -2, 2),
    "two values": lambda scores: np.where(scores > -1, 1.0, 0.0),
    "one value": np.zeros_like,
    "tied at the top": lambda scores: np.minimum(scores, 0.3),
}


def points_of(scores, is_member):
    order = order_of(scores)
    return curve(scores[order], is_member[order])


def tied_normal(random, n, kind, shift=1.0):
    is_member = np.arange(2 * n) < n
    return KINDS[kind](random.normal(size=2 * n) + shift * is_member), is_member


def true_rate(kind, fpr, shift=1.0):
    """Return the rate of a score of two normals, by the thresholds at which its ties end."""
    if kind == "continuous":
        return norm.sf(norm.isf(fpr) - shift)
    ends = {
        "rounded": np.arange(-12.25, 12.5, 0.5),
        "five values": np.arange(-1.5, 2),
        "two values": np.array([-1.0]),
        "one value": np.array([]),
        "tied at the top": np.arange(-9, 0.31, 0.001),
    }[kind]
    alarms = np.concatenate([[0], norm.sf(ends[::-1]), [1]])
    hits = np.concatenate([[0], norm.sf(ends[::-1] - shift), [1]])
    return np.interp(fpr, alarms, hits)


def misses_of_rates(kind, n, times):
    """Return how often each end fails, the low and the high one, at each rate."""
    random = np.random.default_rng(n)
    true = [true_rate(kind, fpr) for fpr in FPRS]
    missed = np.zeros((2, len(FPRS)), int)
    for _ in range(times):
        points = points_of(*tied_normal(random, n, kind))
        found = [rate_at(points, fpr) for fpr in FPRS]
        missed[0] += [one.low > rate + 1e-9 for one, rate in zip(found, true, strict=True)]
        missed[1] += [one.high < rate - 1e-9 for one, rate in zip(found, true, strict=True)]
    return missed


def allowed(times, share=0.025):
    """Return how many misses of so many are seen with a probability of 1 in 1,000 at most."""
    return binom.isf(1e-3, times, share)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "times"), [(60, 150), (250, 150), (1000, 80), (10_000, 12)])
def test_a_rate_at_a_false_positive_rate_is_covered(kind, n, times):
    assert misses_of_rates(kind, n, times).max() <= allowed(times)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "times"), [(60, 3000), (250, 3000), (1000, 2000), (10_000, 500)])
def test_a_rate_at_a_false_positive_rate_is_covered_in_many(kind, n, times):
    assert misses_of_rates(kind, n, times).max() <= allowed(times)


def test_of_four_and_four_all_tied_nothing_is_known():
    found = rate_at(points_of(np.zeros(8), np.arange(8) < 4), 0.01)
    assert found.value == pytest.approx(0.01)
    assert found.low == 0
    assert found.high > 0.99


def test_few_others_give_a_low_end_by_a_coin():
    """100 members above 100 others: the rate r at which one of 100 is surely accused, by coin."""
    found = rate_at(points_of(np.arange(200.0), np.arange(200) >= 100), 0.001)
    tail = 0.9 * 0.0125 / 2
    rate = 1 - tail ** (1 / 100)
    assert found.value == 1
    assert found.low == pytest.approx(0.001 / rate * tail ** (1 / 100))
    assert found.high == 1


@given(
    st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=25),
    st.floats(1e-4, 0.999),
)
def test_a_rate_lies_in_its_interval_which_holds_what_guessing_reaches(records, fpr):
    scores, is_member = np.array(records).T
    found = rate_at(points_of(scores.astype(float), is_member.astype(bool)), fpr)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high >= fpr
