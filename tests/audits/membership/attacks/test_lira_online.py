import numpy as np
import pytest
from attack_evidence import evidence, gaussian_evidence
from scipy.stats import norm

from policy_engine.audits.membership.attacks.attack import best_threshold
from policy_engine.audits.membership.attacks.lira_online import LiraOnline
from policy_engine.audits.membership.observations import Evidence
from policy_engine.errors import AuditError

IN_OUT = [[True, False], [True, False], [False, True], [False, True]]


def test_the_score_is_the_logarithm_of_the_ratio():
    """In: means 6 and 7; out: 1 and 2; all four within-record variances pool to 2 and 2."""
    margins = [[5, 1], [7, 3], [0, 6], [2, 8]]
    online = list(zip(margins, IN_OUT, strict=True))
    scores = LiraOnline().judge(evidence([6, 3], online=online)).scores
    deviation = np.sqrt(2)
    expected = [
        norm.logpdf(6, 6, deviation) - norm.logpdf(6, 1, deviation),
        norm.logpdf(3, 7, deviation) - norm.logpdf(3, 2, deviation),
    ]
    assert scores == pytest.approx(expected)


def test_a_pair_of_shadows_calls_what_is_likelier():
    online = [([5.0, 1], [True, False]), ([0.0, 6], [False, True])]
    assert LiraOnline().judge(evidence([6, 3], online=online)).threshold == 0


def test_the_threshold_separates_the_worlds_that_the_shadows_know():
    seen, is_member = gaussian_evidence(models=8, gap=6)
    judgement = LiraOnline().judge(seen)
    called = judgement.scores > judgement.threshold
    assert (called == is_member).mean() > 0.98


def test_the_threshold_is_learnt_with_each_shadow_taken_for_the_target():
    seen, _ = gaussian_evidence(20, models=6)
    scores = []
    for said, half in seen.online:
        others = [(other, own) for other, own in seen.online if not (own == half).all()]
        apart = tuple((other, own) for other, own in others if not (own == ~half).all())
        assert len(apart) == 4
        without = Evidence(said, (), apart, 0)
        scores.append(LiraOnline().judge(without).scores)
    halves = np.concatenate([half for _, half in seen.online])
    assert LiraOnline().judge(seen).threshold == best_threshold(np.concatenate(scores), halves)


def test_a_record_that_all_knew_is_refused():
    online = [([1, 2], [True, True]), ([1, 2], [True, False])]
    with pytest.raises(AuditError, match=r"A007 .* none or all"):
        LiraOnline().judge(evidence([1, 2], online=online))


def test_far_beyond_the_shadows_nothing_ties():
    margins = [[5, 5, 5], [7, 7, 7], [0, 0, 0], [2, 2, 2]]
    online = list(zip(margins, [[True] * 3] * 2 + [[False] * 3] * 2, strict=True))
    scores = LiraOnline().judge(evidence([50, 100, 200], online=online)).scores
    assert (np.diff(scores) > 0).all()


def test_four_shadows_leave_too_few_to_learn_a_threshold_from():
    seen, _ = gaussian_evidence(20, models=4)
    assert LiraOnline().judge(seen).threshold == 0
