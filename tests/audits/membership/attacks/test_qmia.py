import numpy as np
import pytest
from attack_evidence import evidence, observed

from policy_engine.audits.membership.attacks import attack_of
from policy_engine.audits.membership.attacks.choosing import auc
from policy_engine.audits.membership.observations import Evidence, References
from policy_engine.errors import AuditError

IS_MEMBER = np.arange(400) < 200


def known(gap, others=900):
    """The margin is 20 times the first feature, which says nothing of membership, and noise."""
    draw = np.random.default_rng(6)
    features, judged = draw.normal(size=(others, 3)), draw.normal(size=(400, 3))
    own = observed(20 * judged[:, 0] + draw.normal(size=400) + gap * IS_MEMBER)
    seen = observed(20 * features[:, 0] + draw.normal(size=others))
    return Evidence(own, (), (), 1, references=References(seen, features, judged))


def test_members_stand_out_of_records_like_them_though_not_of_all():
    given = known(gap=8)
    judgement = attack_of("qmia").judge(given)
    assert auc(given.target.margin, IS_MEMBER).value < 0.65
    assert auc(judgement.scores, IS_MEMBER).value > 0.9
    assert judgement.scores[IS_MEMBER].mean() > judgement.threshold


def test_its_threshold_accuses_one_other_in_twenty_whoever_is_a_member():
    judgement = attack_of("qmia").judge(known(gap=0))
    assert 0.01 < (judgement.scores > judgement.threshold).mean() < 0.1


def test_without_reference_records_there_is_nothing_to_learn_from():
    with pytest.raises(AuditError, match=r"A007 .* needs reference records"):
        attack_of("qmia").judge(evidence([1, 2]))


def test_the_same_seed_gives_the_same_scores():
    first, again = (attack_of("qmia").judge(known(gap=8)) for _ in range(2))
    np.testing.assert_array_equal(first.scores, again.scores)
    assert first.threshold == again.threshold
