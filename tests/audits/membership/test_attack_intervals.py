import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.intervals import (
    advantage,
    area,
    area_under,
    difference,
    rate_at,
    share_at_prior,
)
from policy_engine.kernels.estimates import Estimate, clopper_pearson

COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def wilson(mean, trials):
    """Wilson's interval, with which Newcombe's table was made; here the ends are exact."""
    half = 1.959964**2 / (2 * trials)
    spread = 1.959964 * math.sqrt(mean * (1 - mean) / trials + half / (2 * trials))
    low, high = ((mean + half + sign * spread) / (1 + 2 * half) for sign in (-1, 1))
    return Estimate(value=mean, low=max(low, 0), high=min(high, 1))


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


RATES = (0.003, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.995)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("members", "others"), [(3, 3), (10, 10), (20, 20), (10, 60), (40, 40)])
def test_figures_of_calls_cover_what_they_say(members, others):
    """The chance that each interval holds the truth, summed over all that may be counted."""
    hits, alarms = np.arange(members + 1)[:, None], np.arange(others + 1)
    ends = [
        [(advantage(*counts), _called(*counts), _prior(*counts)) for counts in row]
        for row in [[((h, members), (a, others)) for a in alarms] for h in hits[:, 0]]
    ]
    low, high = (
        np.array([[[getattr(one, end) for one in cell] for cell in row] for row in ends])
        for end in ("low", "high")
    )
    for tpr, fpr in itertools.product(RATES, RATES):
        chance = binom.pmf(hits, members, tpr) * binom.pmf(alarms, others, fpr)
        precision = members * tpr / (members * tpr + others * fpr)
        true = np.array([tpr - fpr, precision, 0.1 * tpr / (0.1 * tpr + 0.9 * fpr)])
        covered = chance[..., None] * ((low <= true + 1e-12) & (true - 1e-12 <= high))
        assert (covered.sum(axis=(0, 1)) >= 0.95).all()


def _called(hits, alarms):
    return clopper_pearson(hits[0], hits[0] + alarms[0])


def _prior(hits, alarms):
    return share_at_prior(hits, alarms, 0.1) if hits[0] + alarms[0] else clopper_pearson(0, 0)


def test_an_advantage_is_the_hybrid_one_where_calls_err():
    found = advantage((30, 40), (12, 40))
    assert found == difference(clopper_pearson(30, 40), clopper_pearson(12, 40))
    right = clopper_pearson(2, 20)
    assert advantage((1, 10), (9, 10)).low == pytest.approx(2 * right.low - 1)


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


LAWS = {
    "even": lambda draw, n, m: (draw.normal(size=n), draw.normal(size=m) + 1),
    "far apart": lambda draw, n, m: (draw.normal(size=n), draw.normal(size=m) + 3),
    "members of two kinds": lambda draw, n, m: (
        draw.normal(size=n) * 0.1,
        np.where(draw.random(m) < 0.7, 3, -3) + draw.normal(size=m) * 0.1,
    ),
    "two values": lambda draw, n, m: (draw.random(n) < 0.5, draw.random(m) < 0.9),
}
AREAS = {
    "even": norm.cdf(math.sqrt(0.5)),
    "far apart": norm.cdf(math.sqrt(4.5)),
    "members of two kinds": 0.7,
    "two values": 0.7,
}


def misses_of_areas(law, others, members, times):
    draw, missed = np.random.default_rng(others), 0
    for _ in range(times):
        sides = LAWS[law](draw, others, members)
        scores = np.concatenate(sides).astype(float)
        found = area_under(points_of(scores, np.arange(len(scores)) >= others))
        missed += not found.low <= AREAS[law] <= found.high
    return missed


@pytest.mark.one_in(4)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("others", "members"), [(4, 4), (60, 60), (300, 30)])
def test_an_area_is_covered(law, others, members):
    assert misses_of_areas(law, others, members, 250) <= allowed(250, 0.05)


@pytest.mark.nightly
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("others", "members"), [(4, 4), (60, 60), (250, 250), (30, 300), (300, 30), (2000, 2000)]
)
def test_an_area_is_covered_in_many(law, others, members):
    assert misses_of_areas(law, others, members, 2000) <= allowed(2000, 0.05)


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
    order = falling_order(scores)
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


@pytest.mark.one_in(24)
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
    """100 members above 100 non-members: the rate at which one of 100 is accused, by coin."""
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
