from functools import partial

import numpy as np
import pytest
from attack_evidence import evidence, gaussian_evidence, observed, shadow, unseen
from scipy.stats import norm

from policy_engine.audits.membership.attacks import attack_of, choosing, rmia
from policy_engine.audits.membership.attacks.likelihood import OWN_VARIANCE, gaussians
from policy_engine.audits.membership.attacks.references import left_out_scores
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.observations import Evidence

REFERENCES = ["calibrated-loss", "lira-offline", "rmia"]


def auc(scores, is_member):
    order = falling_order(scores)
    return curve(scores[order], is_member[order]).area()


def test_calibrated_loss_is_the_mean_loss_of_others_less_the_own():
    judged = evidence([2, -1], unseen([0, 0], [1, 3]))
    scores = attack_of("calibrated-loss").judge(judged).scores
    others = (observed([0, 0]).loss + observed([1, 3]).loss) / 2
    assert scores == pytest.approx(others - observed([2, -1]).loss)


def test_lira_offline_counts_deviations_from_the_shadows():
    """Means 2 and 5; the pooled variance is (2 + 8) / 2 = 5."""
    judged = evidence([3, 5], unseen([1, 3], [3, 7]))
    assert attack_of("lira-offline").judge(judged).scores == pytest.approx([1 / np.sqrt(5), 0])


def test_gaussians_of_many_models_have_a_variance_of_their_own():
    margins = np.zeros((OWN_VARIANCE, 2))
    margins[::2] = [1, 10]
    fitted = gaussians(margins, np.ones(margins.shape, bool))
    own = np.sqrt(margins.var(axis=0, ddof=1))
    assert fitted.deviation == pytest.approx(own)
    fewer = gaussians(margins[2:], np.ones(margins[2:].shape, bool))
    assert fewer.deviation[0] == fewer.deviation[1]


def test_gaussians_leave_out_what_does_not_count():
    margins = np.array([[1.0, 100], [3, 4], [50, 6]])
    counts = np.array([[True, False], [True, True], [False, True]])
    fitted = gaussians(margins, counts)
    assert fitted.mean.tolist() == [2, 5]
    assert fitted.deviation == pytest.approx(np.sqrt([2, 2]))


def test_models_that_all_agree_give_finite_scores():
    judged = evidence([3, 3.5], unseen([3, 3], [3, 3]))
    scores = attack_of("lira-offline").judge(judged).scores
    assert np.isfinite(scores).all()
    assert scores[0] < scores[1]


def test_two_shadows_are_too_few_for_the_deviations_of_a_threshold():
    """One peer has no deviation: a threshold in units of it would call nobody a member."""
    others = [([9, 2, 3, 1], [True, False, True, False], [5, 1], [[4, 2, 1, 3]], [[False] * 4])] * 3
    two = tuple(shadow(*one) for one in others[:2])
    assert attack_of("lira-offline").judge(evidence([3, 5], two)).threshold is None
    assert attack_of("rmia").judge(evidence([3, 5], two)).threshold is not None
    peers = [[4, 2, 1, 3], [5, 2, 2, 3]], [[False] * 4] * 2
    three = tuple(shadow(*one[:3], *peers) for one in others)
    assert attack_of("lira-offline").judge(evidence([3, 5], three)).threshold < 10


def published_rmia(target, shadows, population, gamma, a):
    """The share of z with ratio(x) >= gamma ratio(z), in probabilities as it is published."""

    def ratio(margins, others):
        p, q = observed(margins).confidence, np.mean([observed(o).confidence for o in others], 0)
        return p / (((1 + a) * q + 1 - a) / 2)

    x, z = ratio(target, shadows), ratio(*population)
    return (x[:, None] / z >= gamma).mean(axis=1)


@pytest.mark.parametrize("gamma", [1.0, 1.5, 2.0])
def test_rmia_ranks_as_the_published_share_does(gamma):
    draw = np.random.default_rng(3)
    target, *shadows = draw.normal(1, 2, (4, 200))
    judged = evidence(target, unseen(*shadows))
    population = draw.normal(1, 2, 300), draw.normal(1, 2, (3, 300))
    share = published_rmia(target, shadows, population, gamma, rmia.estimate_slope(judged))
    scores = attack_of("rmia").judge(judged).scores
    assert len(np.unique(share)) > 20
    assert (np.diff(share[scores.argsort()]) >= 0).all()


def test_rmia_rises_with_the_target_and_falls_with_the_others():
    margins = np.array([-40.0, -3, 0, 3, 18, 40, 300])
    higher = attack_of("rmia").judge(evidence(margins, unseen([1] * 7, [2] * 7))).scores
    lower = attack_of("rmia").judge(evidence([1] * 7, unseen(margins, margins))).scores
    assert (np.diff(higher[:6]) > 0).all()
    assert (np.diff(lower[1:6]) < 0).all()


def test_rmia_tells_apart_what_all_models_are_sure_of():
    margins = np.array([40.0, 45, 50, 60])
    score = partial(rmia._score, a=0.3)
    counts = np.ones((2, 4), bool)
    assert (np.diff(score(margins, np.full((2, 4), 42.0), counts)) > 0).all()
    assert (np.diff(score(np.full(4, 60.0), np.stack([margins] * 2), counts)) < 0).all()


def test_rmia_finds_the_slope_between_the_two_worlds():
    """Doubts of .1 on members and .4 on others: p_in = .25 p_out + .75."""
    logit = np.log([9, 1.5])
    shadows = [shadow(logit, [True, False], [0, 0]) for _ in range(2)]
    assert rmia.estimate_slope(evidence([0, 0], shadows)) == pytest.approx(0.25)


def test_rmia_takes_the_slope_that_tells_most_of_the_shadows_own_records():
    draw = np.random.default_rng(1)
    is_member = np.arange(400) < 200
    hard = draw.normal(0, 2, 400)

    def said(seen):
        return hard + 1.5 * seen + draw.normal(0, 0.3, 400)

    shadows = [
        shadow(said(is_member), is_member, hard, [said(0), said(0)], np.zeros((2, 400)))
        for _ in range(3)
    ]
    seen = evidence(hard, shadows)
    reached = {
        a: choosing.auc(*left_out_scores(seen, partial(rmia._score, a=a))).value
        for a in (rmia.estimate_slope(seen), 0.0, 0.5, 1.0, rmia.tune_slope(seen))
    }
    assert reached[rmia.tune_slope(seen)] == max(reached.values())
    assert rmia.tune_slope(evidence([0], unseen([1], [2]))) == rmia.estimate_slope(
        evidence([0], unseen([1], [2]))
    )


@pytest.mark.parametrize("notation", REFERENCES)
def test_thresholds_are_learnt_with_each_shadow_taken_for_the_target(notation):
    """Every shadow is surer by 4 of what it was trained on; what it judges says nothing."""
    is_member = np.array([True, True, False, False])
    others, knew = [[0, 1, 0, 1], [1, 0, 1, 0]], np.zeros((2, 4), bool)
    own = [4, 5, 0.5, 0.5]
    shadows = [shadow(own, is_member, own, others, knew) for _ in range(3)]
    attack = attack_of(notation)
    threshold = attack.judge(evidence(own, shadows)).threshold
    again = [shadow(own, is_member, judged) for judged in others]
    assert (attack.judge(evidence(own, again)).scores > threshold).tolist() == is_member.tolist()


@pytest.mark.parametrize("notation", REFERENCES)
def test_records_that_all_others_knew_teach_nothing(notation):
    """What the others say of the last record matters only where they did not know it."""

    def threshold(said, knew):
        own, is_member = [4, 0.5, 3], [True, False, True]
        others, known = [[0, 0, said], [0, 1, said]], [[False, False, knew]] * 2
        shadows = [shadow(own, is_member, [0], others, known) for _ in range(3)]
        return attack_of(notation).judge(evidence([0], shadows)).threshold

    assert threshold(said=2, knew=True) == threshold(said=9, knew=True)
    assert threshold(said=2, knew=False) != threshold(said=9, knew=False)


@pytest.mark.parametrize("notation", REFERENCES)
def test_nothing_is_learnt_where_peers_are_not_known(notation):
    assert attack_of(notation).judge(evidence([1], unseen([0], [2]))).threshold is None


def test_attacks_reach_the_areas_that_gaussians_have():
    """With a gap of one deviation and difficulties of three: Phi(1 / sqrt(2)) at best."""
    seen, is_member = gaussian_evidence()
    best = norm.cdf(1 / np.sqrt(2))
    loss = norm.cdf(1 / np.sqrt(2 * (1 + 3**2)))
    offline = norm.cdf(1 / np.sqrt(2 * (1 + 1 / 16)))
    assert auc(attack_of("loss").judge(seen).scores, is_member) == pytest.approx(loss, abs=0.02)
    found = auc(attack_of("lira-offline").judge(seen).scores, is_member)
    assert found == pytest.approx(offline, abs=0.015)
    online = auc(attack_of("lira-online").judge(seen).scores, is_member)
    assert best - 0.03 < online < best + 0.01


def test_what_an_attack_says_depends_on_the_seed_in_nothing():
    seen, _ = gaussian_evidence(50)
    other = Evidence(seen.target, seen.shadows, seen.online, 99)
    for notation in (*REFERENCES, "lira-online"):
        one, two = attack_of(notation).judge(seen), attack_of(notation).judge(other)
        assert (one.scores == two.scores).all()
        assert one.threshold == two.threshold
