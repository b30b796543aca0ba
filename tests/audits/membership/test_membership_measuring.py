import numpy as np
import pytest
from attack_evidence import evidence, gaussian_evidence, observed, unseen
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.audits.membership.attacks import Judgement, attack_of
from policy_engine.audits.membership.attacks.attack import best_threshold
from policy_engine.audits.membership.measuring import (
    attack_result,
    called_members,
    figures,
)
from policy_engine.audits.membership.observations import Evidence, ScoredRecords, Shadow
from policy_engine.audits.membership.slices import RecordSlice, record_slices
from policy_engine.errors import AuditError, InternalError
from policy_engine.kernels.estimates import NotApplicable, clopper_pearson

RECORDS = st.lists(
    st.tuples(st.integers(-4, 4), st.booleans(), st.booleans()), min_size=1, max_size=25
)
HALVES = np.arange(200) < 100


def measured(records):
    scores, called, is_member = np.array(records).T
    return figures(scores.astype(float), called.astype(bool), is_member.astype(bool))


def result(margins, is_member=HALVES, notation="loss", columns=None, labels=None, **more):
    target = observed(margins, labels)
    seen = evidence(target, **more)
    parts = record_slices(target, ("a", "b"), columns or {})
    attack = attack_of(notation)
    return attack_result(attack, attack.judge(seen), seen, is_member, parts)


def test_figures_by_hand():
    """3 of 4 members and 1 of 5 others are called; the pairs are won 17 to 3."""
    scores = np.array([9.0, 8, 7, 3, 7.5, 2, 1, 0, -1])
    is_member = np.arange(9) < 4
    found = figures(scores, scores > 5, is_member)
    assert (found.members, found.non_members) == (4, 5)
    assert found.precision == clopper_pearson(3, 4)
    assert found.recall == clopper_pearson(3, 4)
    assert found.advantage.value == pytest.approx(0.75 - 0.2)
    assert found.accuracy.value == pytest.approx((0.75 + 0.8) / 2)
    assert found.auc.value == pytest.approx(18 / 20)
    assert [one.tpr.value for one in found.tpr_at_fpr] == [0.5, 0.5]
    assert not any(one.randomised for one in found.tpr_at_fpr)
    assert [one.fpr for one in found.tpr_at_fpr] == [0.01, 0.001]
    assert found.at_priors[0].precision.value == pytest.approx(0.75 / 0.95)


def test_an_attack_with_next_to_no_values_is_degenerate():
    draw = np.random.default_rng(0)
    assert result(draw.normal(size=200)).degenerate == ""
    assert result(np.zeros(200)).degenerate == "it gives all records one score"
    assert result(np.arange(200) % 3 > 1).degenerate == "its score has 2 values"
    dead = result(0.8 + draw.normal(0, 1e-7, 200), notation="entropy")
    assert dead.degenerate == "it gives all records one score"
    by_nature = result(draw.normal(size=200), notation="label-only")
    assert by_nature.degenerate == ""
    assert [one.randomised for one in by_nature.figures.tpr_at_fpr] == [True, True]


def test_a_score_of_two_values_that_tells_members_is_not_degenerate():
    """All members have one value, all others another; or one member in four a value of its own."""
    alternating = np.arange(200) % 2 == 0
    labels = np.arange(200) // 2 % 2
    assert result(alternating * 2.0, alternating, labels=labels).degenerate == ""
    some = np.where(alternating & (np.arange(200) % 8 == 0), 5 + np.arange(200) / 100, 1.0)
    assert result(some, alternating, labels=labels).degenerate == ""
    assert "pairs of records" in result(some, ~alternating, labels=labels).degenerate


def test_a_score_that_tells_members_by_their_class_alone_is_degenerate():
    mostly = np.where(np.arange(200) % 10, HALVES, ~HALVES).astype(int)
    assert result(mostly * 2.0, labels=mostly).figures.auc.low > 0.8
    assert result(mostly * 2.0, labels=mostly).degenerate


def test_calibrated_scores_of_one_answer_are_degenerate():
    """The score varies with the shadows, not with the model."""
    random = np.random.default_rng(4)
    shadows = unseen(*random.normal(size=(4, 200)))
    found = result(np.full(200, 1.5), notation="rmia", shadows=shadows)
    assert found.degenerate == "the model gives all records of a class one answer"
    alive = result(random.normal(size=200), notation="rmia", shadows=shadows)
    assert alive.degenerate == ""


def test_nobody_called_is_no_precision():
    found = figures(np.array([1.0, 2]), np.array([False, False]), np.array([True, False]))
    assert isinstance(found.precision, NotApplicable)
    assert isinstance(found.at_priors[0].precision, NotApplicable)
    assert found.accuracy.value == 0.5


@given(RECORDS)
def test_figures_are_shares_within_their_intervals(records):
    found = measured(records)
    shares = [found.recall, found.accuracy, found.auc, *(one.tpr for one in found.tpr_at_fpr)]
    shares += [one.precision for one in found.at_priors] + [found.precision]
    for share in shares:
        if not isinstance(share, NotApplicable):
            assert 0 <= share.low <= share.value <= share.high <= 1
    assert -1 <= found.advantage.low <= found.advantage.value <= found.advantage.high <= 1
    assert found.accuracy.value == pytest.approx((1 + found.advantage.value) / 2)


@given(RECORDS)
def test_figures_do_not_depend_on_the_order_of_records(records):
    assert measured(records) == measured(records[::-1])


def test_thresholds_of_attacks_are_used_as_they_are():
    scores, is_member = np.array([1.0, 2, 3, 4]), np.array([True, False, True, False])
    assert called_members(Judgement(scores, 2.0), is_member, 0).tolist() == [0, 0, 1, 1]
    each = np.array([0.0, 2, 4, 3])
    assert called_members(Judgement(scores, each), is_member, 0).tolist() == [1, 0, 0, 1]


def test_a_threshold_that_is_chosen_is_not_flattered():
    """On noise the best threshold of all records seems to gain; that of the other half does not."""
    draw = np.random.default_rng(0)
    is_member = np.arange(40) < 20
    gains, flattered = [], []
    for seed in range(200):
        scores = draw.normal(size=40)
        called = called_members(Judgement(scores, None), is_member, seed)
        gains.append(called[is_member].mean() - called[~is_member].mean())
        best = scores > best_threshold(scores, is_member)
        flattered.append(best[is_member].mean() - best[~is_member].mean())
    assert abs(np.mean(gains)) < 0.05
    assert np.mean(flattered) > 0.15


def test_a_chosen_threshold_finds_what_is_plain_and_repeats():
    scores = np.where(HALVES, 3.0, 0) + np.random.default_rng(1).random(200)
    called = called_members(Judgement(scores, None), HALVES, 5)
    assert (called == HALVES).all()
    noise = Judgement(np.random.default_rng(2).normal(size=200), None)
    one, again = (called_members(noise, HALVES, 5) for _ in range(2))
    assert (one == again).all()
    assert (one != called_members(noise, HALVES, 6)).any()


def test_the_baseline_gains_nothing_on_itself_and_a_better_attack_does():
    draw = np.random.default_rng(0)
    margins = np.where(HALVES, 5, 2) + draw.normal(size=200)
    assert result(margins, notation="label-only").gain.reason == "this is the baseline"
    assert result(margins).gain.auc.outcome() == result(margins).gain.accuracy.outcome() == "more"
    assert result(draw.normal(size=200)).gain.auc.outcome() == "untold"


def test_a_result_has_classes_slices_and_the_worst():
    """Members of class b alone are found, and only where the column says so."""
    labels = np.arange(200) % 2
    column = np.where(labels == 1, "loud", "quiet")
    margins = np.where(HALVES & (labels == 1), 9.0, 1) + np.random.default_rng(0).random(200)
    found = result(margins, labels=labels, columns={"c": column})
    assert [one.name for one in found.classes] == ["a", "b"]
    assert {one.kind for one in found.slices} == {"correctness", "confidence", "column"}
    assert found.worst.name == "b"
    assert found.worst.figures.auc.value == 1
    named = {one.name: one.figures for one in found.slices}
    assert named["c = loud"] == found.classes[1].figures
    assert named["c = quiet"].members == 50


def test_parts_are_measured_as_if_alone():
    draw = np.random.default_rng(0)
    seen, is_member = gaussian_evidence(100, models=2)
    rows = np.sort(draw.choice(200, 60, replace=False))
    scores = np.round(draw.normal(size=200), 1)
    judgement = Judgement(scores, 0.3)
    part = RecordSlice("column", "some", rows)
    found = attack_result(attack_of("loss"), judgement, seen, is_member, [part]).slices[0].figures
    assert found == figures(scores[rows], scores[rows] > 0.3, is_member[rows])


def test_parts_of_one_kind_alone_are_left_out_and_small_ones_are_not_the_worst():
    parts = [
        RecordSlice("column", "in", np.arange(50)),
        RecordSlice("column", "few", np.arange(90, 110)),
    ]
    seen = evidence(np.where(HALVES, 2.0, 1))
    attack = attack_of("loss")
    found = attack_result(attack, attack.judge(seen), seen, HALVES, parts)
    assert [one.name for one in found.slices] == ["few"]
    assert isinstance(found.worst, NotApplicable)


def test_means_over_classes_leave_out_those_without_a_call():
    """Class a: 25 of 50 called are members of 50; class b: nobody is called."""
    labels = np.arange(200) % 2
    scores = np.where((labels == 0) & (np.arange(200) % 4 == 0), 1.0, 0)
    seen = evidence(observed(scores, labels))
    parts = record_slices(seen.target, ("a", "b"), {})
    found = attack_result(attack_of("loss"), Judgement(scores, 0.5), seen, HALVES, parts)
    assert found.mean_precision == 0.5
    assert found.mean_recall == 0.25


def test_without_classes_there_are_no_means():
    seen = evidence(np.arange(200.0))
    judgement = Judgement(np.arange(200.0), 1e9)
    found = attack_result(attack_of("loss"), judgement, seen, HALVES, [])
    assert isinstance(found.mean_precision, NotApplicable)


@pytest.mark.parametrize("is_member", [np.ones(200, bool), np.zeros(200, bool)])
def test_one_kind_of_records_is_refused(is_member):
    with pytest.raises(AuditError, match="A011"):
        result(np.arange(200.0), is_member)


def test_scores_that_are_no_numbers_are_our_bug():
    seen = evidence([1.0, 2])
    judgement = Judgement(np.array([1.0, np.nan]), 0.0)
    with pytest.raises(InternalError, match="X001"):
        attack_result(attack_of("loss"), judgement, seen, np.array([True, False]), [])


def test_a_model_that_gives_scores_alone_is_measured_without_a_baseline():
    """A likelihood, say: members have one more than in the models that have not seen them."""
    draw = np.random.default_rng(3)
    hard = draw.normal(0, 5, 200)
    unseen = [ScoredRecords(hard + draw.normal(0, 0.1, 200), "likelihood") for _ in range(3)]
    shadows = tuple(Shadow(one, HALVES, one) for one in unseen)
    seen = Evidence(ScoredRecords(hard + HALVES, "likelihood"), shadows, (), 0)
    attack, column = attack_of("lira-offline"), np.repeat(["a", "b"], 100)
    parts = record_slices(seen.target, (), {"kind": column})
    found = attack_result(attack, attack.judge(seen), seen, HALVES, parts)
    assert found.figures.auc.value == 1
    assert found.gain == NotApplicable(reason="the model gives no labels, and there is no baseline")
    assert found.classes == ()
    assert found.shadow_models == 3
