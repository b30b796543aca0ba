import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from policy_engine.audits.membership.comparison import gain
from policy_engine.audits.membership.result import Compared
from policy_engine.kernels.estimates import Estimate, NotApplicable

HALVES = np.arange(8) < 4


def test_a_gain_by_hand():
    """The score wins all 16 pairs; the model is right on all 4 members and on 2 others.

    Members win .75 of their pairs by it, as ties are half: .25 less each. The two others it is
    right on win half of theirs, .5 less, the two it errs on all.
    """
    scores, is_right = np.arange(8.0)[::-1], np.array([1, 1, 1, 1, 1, 1, 0, 0], bool)
    found = gain(scores, scores > 3.5, is_right, HALVES)
    assert found.auc.difference.value == 0.25
    assert found.accuracy.difference.value == 0.25
    of_members = (4 / 16 + 1) / 6 - (1 / 6) ** 2
    of_others = (2 / 4 + 1) / 6 - (1 / 6) ** 2
    deviation = math.sqrt((of_members + of_others) / 6)
    assert found.auc.smallest == pytest.approx(min(1, (1.959964 + 0.841621) * deviation))
    assert found.auc.outcome() == found.accuracy.outcome() == "untold"


def test_an_attack_that_calls_as_the_baseline_does_differs_by_nothing_that_is_known():
    is_right = np.arange(8) % 3 > 0
    found = gain(is_right.astype(float), is_right, is_right, HALVES)
    assert found.auc.difference.value == found.accuracy.difference.value == 0
    assert found.auc.difference.low < -0.2 < 0.2 < found.auc.difference.high
    assert found.auc.p == 1
    assert isinstance(found.auc.needed, NotApplicable)


def test_what_is_gained_by_one_is_lost_by_the_other():
    draw, is_member = np.random.default_rng(0), np.arange(300) < 150
    scores = draw.normal(size=300) + is_member
    is_right = draw.random(300) < 0.5 + 0.3 * is_member
    better = gain(scores, scores > 0.5, is_right, is_member)
    worse = gain(-scores, scores < 0.5, is_right, is_member)
    assert (better.auc.outcome(), worse.auc.outcome()) == ("more", "less")
    assert worse.auc.difference.high < 0 < better.auc.difference.low


def test_one_of_many_comparisons_has_to_show_more():
    found = Estimate(value=0.1, low=0.01, high=0.19)
    one = Compared(difference=found, p=0.02, smallest=0.1, needed=50)
    assert [one.outcome(among) for among in (1, 2, 3)] == ["more", "more", "untold"]


def drawn(draw, members, others, gap):
    """Return scores that know more than whether the model is right by `gap`, and the truth."""
    is_member = np.arange(members + others) < members
    hidden = draw.normal(size=len(is_member)) + 0.8 * is_member
    is_right = hidden > -0.8
    scores = hidden + draw.normal(size=len(is_member)) * gap
    return scores, scores > 0.4, is_right, is_member


def truth(gap):
    """Return by how much AUC and accuracy are above the baseline's, of two normals 0.8 apart."""
    spread = math.sqrt(1 + gap**2)
    gained = (norm.sf(-1.6) - norm.sf(-0.8)) / 2 + 0.5
    auc = norm.cdf(0.8 / math.sqrt(2 * spread**2))
    accuracy = (1 + norm.sf(-0.4 / spread) - norm.sf(0.4 / spread)) / 2
    return auc - gained, accuracy - gained


def misses(members, others, gap, times):
    draw, true = np.random.default_rng(members), truth(gap)
    missed = np.zeros(2, int)
    for _ in range(times):
        found = gain(*drawn(draw, members, others, gap))
        ends = [one.difference for one in (found.auc, found.accuracy)]
        missed += [not e.low <= t <= e.high for e, t in zip(ends, true, strict=True)]
    return missed.max()


SIZES = [(6, 6), (60, 60), (300, 40)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("members", "others"), SIZES)
@pytest.mark.parametrize("gap", [0.2, 3.0])
def test_a_gain_is_covered(members, others, gap):
    assert misses(members, others, gap, 200) <= binom.isf(1e-3, 200, 0.05)


@pytest.mark.nightly
@pytest.mark.parametrize(("members", "others"), [*SIZES, (250, 250), (2000, 2000)])
@pytest.mark.parametrize("gap", [0.0, 0.2, 1.0, 3.0])
def test_a_gain_is_covered_in_many(members, others, gap):
    assert misses(members, others, gap, 2000) <= binom.isf(1e-3, 2000, 0.05)


def test_as_many_as_are_needed_tell_a_difference_four_times_in_five():
    draw = np.random.default_rng(4)
    first = [gain(*drawn(draw, 400, 400, 1.0)).auc for _ in range(20)]
    true = truth(1.0)[0]
    needed = round(np.median([one.needed * (one.difference.value / true) ** 2 for one in first]))
    told = sum(gain(*drawn(draw, needed, needed, 1.0)).auc.outcome() != "untold" for _ in range(60))
    assert 38 <= told <= 56
