import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from policy_engine.audits.membership.intervals import (
    area,
    difference,
    of_mean,
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
