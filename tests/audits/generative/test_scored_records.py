"""Figures of scores: ties count as half, and one pair of sets has an exact probability."""

import numpy as np
import pytest

from policy_engine.audits.generative.measuring import attack_figures, set_evidence, single_share
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.audits.membership.curves import curve
from policy_engine.errors import AuditError

SETTINGS = GenerativeSettings(draws=100)


def members(count, others):
    return np.arange(count + others) < count


@pytest.mark.parametrize(
    ("found", "p"), [(58, 0.017), (59, 0.0080), (60, 0.0035), (65, 2e-5), (100, 0)]
)
def test_a_set_of_a_hundred_has_the_published_probabilities(found, p):
    """Figures of the hypergeometric law: of 200 records, 100 are taken."""
    is_member = members(100, 100)
    scores = np.concatenate([np.arange(100) < found, np.arange(100) < 100 - found]).astype(float)
    result = set_evidence(scores, is_member, 100, seed=0)
    assert (result.records, result.found) == (100, found)
    assert result.p == pytest.approx(p, rel=0.25, abs=1e-6)


def test_equal_scores_tell_nothing():
    is_member = members(3_000, 3_000)
    result = attack_figures("none", np.zeros(6_000), is_member, SETTINGS, 1)
    assert result.auc.value == 0.5
    assert result.games.single.value == pytest.approx(0.5, abs=0.01)
    assert result.set_evidence.p > 0.001


@pytest.mark.nightly
def test_null_scores_have_the_spread_of_chance():
    """Of 100 and 100 records the share has a deviation of 1 / (2 sqrt(199)) = 3.54 points."""
    random = np.random.default_rng(5)
    singles = [
        attack_figures("null", random.random(200), members(100, 100), SETTINGS, seed).games.single
        for seed in range(100)
    ]
    values = [one.value for one in singles]
    assert np.mean(values) == pytest.approx(0.5, abs=0.01)
    assert np.std(values) == pytest.approx(0.0354, rel=0.2)


def test_members_and_others_swapped_give_the_complement():
    scores, is_member = np.random.default_rng(2).random(400), members(200, 200)
    one, other = (
        attack_figures("any", scores, flags, SETTINGS, 3) for flags in (is_member, ~is_member)
    )
    assert one.auc.value + other.auc.value == pytest.approx(1)
    assert one.games.single.value + other.games.single.value == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("scores", "share"),
    [
        ([4, 3, 2, 1], 1),
        ([1, 2, 3, 4], 0),
        ([4, 2, 3, 1], 0.5),
        ([1, 1, 1, 1], 0.5),
        ([2, 1, 1, 1], 2 / 3),
    ],
)
def test_single_inference_takes_the_upper_half(scores, share):
    """Of two members and two others; of three equal ones, a third of the half that is left."""
    scores, is_member = np.array(scores, float), members(2, 2)
    order = np.argsort(-scores, kind="stable")
    assert single_share(curve(scores[order], is_member[order])) == pytest.approx(share)


def test_scores_that_tell_all_reach_everything():
    is_member = members(300, 300)
    result = attack_figures("all", is_member.astype(float), is_member, SETTINGS, 0)
    assert result.auc.value == result.games.single.value == result.games.set.value == 1
    assert result.set_evidence.found == 100


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused(score):
    from policy_engine.audits.generative.scoring import _scored

    with pytest.raises(AuditError, match="no finite score of 1 record") as refusal:
        _scored("nearest-sample", np.array([0.5, score]), ())
    assert refusal.value.code == "A031"
