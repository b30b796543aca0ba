import numpy as np
import pytest
from attack_evidence import evidence, observed, of_probabilities, shadow

from policy_engine.audits.membership.attacks import attack_of
from policy_engine.audits.membership.measuring import figures

SURE = [20, 30, 40, 90, 100, 110]


@pytest.mark.parametrize("notation", ["loss", "entropy", "modified-entropy"])
def test_scores_rise_where_the_softmax_saturates(notation):
    judgement = attack_of(notation).judge(evidence(SURE))
    assert (np.diff(judgement.scores) > 0).all()
    assert judgement.threshold is None


def test_the_loss_ranks_as_the_loss_does():
    target = observed([-3, 0, 2, 5])
    scores = attack_of("loss").judge(evidence(target)).scores
    assert (scores.argsort() == (-target.loss).argsort()).all()


def test_the_loss_learns_its_threshold_from_shadows():
    shadows = [shadow([5, 4, 1, 0], [True, True, False, False], [0, 0])]
    assert attack_of("loss").judge(evidence([0, 3], shadows)).threshold == 2.5


def test_the_entropy_is_blind_to_the_label_and_the_modified_one_is_not():
    target = of_probabilities([[0.9, 0.1], [0.9, 0.1]], [0, 1])
    blind = attack_of("entropy").judge(evidence(target)).scores
    seeing = attack_of("modified-entropy").judge(evidence(target)).scores
    assert blind[0] == blind[1]
    assert seeing[0] > seeing[1]


@pytest.mark.parametrize("notation", ["entropy", "modified-entropy"])
def test_entropies_have_the_threshold_of_the_class(notation):
    shadows = [shadow([5, 4, 1, 0.5], [True, True, False, False], [0, 0])]
    judgement = attack_of(notation).judge(evidence([6, 0.1], shadows))
    assert judgement.threshold.shape == (2,)
    assert (judgement.scores > judgement.threshold).tolist() == [True, False]


def test_label_only_is_half_of_one_and_the_gap():
    """Yeom et al., CSF 2018: 3 of 4 members and 1 of 4 others right are an accuracy of .75."""
    target = observed([1, 1, 1, -1, 1, -1, -1, -1])
    is_member = np.arange(8) < 4
    judgement = attack_of("label-only").judge(evidence(target, gives="labels"))
    called = judgement.scores > judgement.threshold
    assert judgement.scores.tolist() == [1, 1, 1, 0, 1, 0, 0, 0]
    assert figures(judgement.scores, called, is_member).accuracy.value == 0.75
