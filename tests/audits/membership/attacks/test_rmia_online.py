import numpy as np
import pytest
from attack_evidence import evidence, gaussian_evidence

from policy_engine.audits.membership.attacks import attack_of
from policy_engine.audits.membership.attacks.choosing import auc
from policy_engine.errors import AuditError

IN_OUT = [[True, False], [True, False], [False, True], [False, True]]


def test_the_score_is_the_logarithm_of_the_probability_over_its_mean_in_both_worlds():
    """Of record 0: .9 where it was seen, .5 elsewhere, .7 at large; of record 1: .6 and .2, .4."""
    shares = np.array([[0.9, 0.2], [0.9, 0.2], [0.5, 0.6], [0.5, 0.6]])
    online = list(zip(np.log(shares / (1 - shares)), IN_OUT, strict=True))
    target = np.log([0.84 / 0.16, 0.2 / 0.8])
    judgement = attack_of("rmia-online").judge(evidence(target, online=online))
    assert judgement.scores == pytest.approx(np.log([0.84 / 0.7, 0.2 / 0.4]))


def test_the_worlds_count_as_much_however_many_models_there_are():
    online = [([2.0], [True]), *([([0.0], [False])] * 3)]
    scores = attack_of("rmia-online").judge(evidence([1.0], online=online)).scores
    known = (1 / (1 + np.exp(-2)) + 0.5) / 2
    assert scores == pytest.approx(-np.log1p(np.exp(-1)) - np.log(known))


def test_it_finds_members_and_its_threshold_separates_the_worlds():
    seen, is_member = gaussian_evidence(records=500, models=8, gap=6, spread=1)
    judgement = attack_of("rmia-online").judge(seen)
    assert auc(judgement.scores, is_member).value > 0.97
    assert ((judgement.scores > judgement.threshold) == is_member).mean() > 0.9


def test_a_record_that_all_knew_is_refused():
    online = [([1, 2], [True, True]), ([1, 2], [True, False])]
    with pytest.raises(AuditError, match=r"A007 .* none or all"):
        attack_of("rmia-online").judge(evidence([1, 2], online=online))
