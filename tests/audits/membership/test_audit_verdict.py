import numpy as np
import pytest
from audits_made import LOWER, NONE, UPPER, attack, estimate, figures

from policy_engine.audits.membership.result import AtPrior, Slice, TprAtFpr
from policy_engine.audits.membership.verdict import (
    beats_guessing,
    contradict,
    share_text,
    slice_text,
    verdict,
)


def made(notation, accuracy, **parts):
    """Return an attack with this accuracy and interval, that finds nobody for certain."""
    counted = figures(np.arange(8.0), np.arange(8) % 2 == 1).model_copy(
        update={
            "members": 1_000,
            "non_members": 1_000,
            "accuracy": estimate(*accuracy),
            "auc": parts.pop("auc", estimate(*accuracy)),
            "tpr_at_fpr": parts.pop("found", (at(0.01, 0.012), at(0.001, 0.001))),
            "at_priors": (AtPrior(prior=0.01, precision=estimate(0.021, 0.02, 0.022)),),
        }
    )
    facts = {"figures": counted, "worst": NONE, "exceeds_baseline": False}
    return attack(notation, records=12).model_copy(update=facts | parts)


def at(fpr, tpr, low=None, high=None):
    return TprAtFpr(fpr=fpr, tpr=estimate(tpr, tpr * 0.8 if low is None else low, high))


def said(*attacks, strongest, upper=NONE, lower=NONE):
    return verdict(
        attacks,
        baseline="label-only",
        strongest=strongest,
        epsilon_upper=upper,
        epsilon_lower=lower,
    )


BASELINE = made("label-only", (0.554, 0.54, 0.568))


def test_what_an_attacker_gains_comes_first_with_its_interval_and_the_baseline():
    best = made("lira-online", (0.712, 0.698, 0.726), exceeds_baseline=True)
    first, *_ = said(BASELINE, best, strongest="lira-online")
    assert first == (
        "Given a model's answer about a record, the strongest of 2 attacks (lira-online) tells "
        "members from others in 71.2% of cases (95% interval 69.8% to 72.6%); guessing reaches "
        "50%, and the label-only baseline 55.4%."
    )


def test_an_interval_that_holds_a_half_cannot_be_told_from_guessing():
    weak = made("loss", (0.51, 0.49, 0.53))
    first, *others = said(made("label-only", (0.5, 0.48, 0.52)), weak, strongest="loss")
    assert first.startswith("No attack did better than guessing: the strongest of 2 attacks (loss)")
    assert "cannot be told from the 50% of guessing; that is no proof of safety" in first
    assert not any("rank above" in one for one in others)


def test_an_attack_with_a_poor_threshold_that_ranks_members_higher_is_told():
    weak = made("rmia", (0.5, 0.49, 0.51), auc=estimate(0.8, 0.78, 0.82))
    _, second, *_ = said(weak, strongest="rmia")
    assert "members do rank above others by rmia (AUC 0.800, 95% interval 0.780 to 0.820)" in second


def test_attacks_no_better_than_the_baseline_are_told_so():
    same = made("loss", (0.56, 0.546, 0.574))
    sentences = said(BASELINE, same, strongest="loss")
    assert "No attack gains more than the label-only baseline" in sentences[1]
    alone = said(BASELINE, strongest="label-only")
    assert "It is the label-only baseline" in alone[1]


def test_attacks_better_than_the_baseline_are_not_told_otherwise():
    better = made("loss", (0.7, 0.69, 0.71), exceeds_baseline=True)
    assert not any("gains more" in one for one in said(BASELINE, better, strongest="loss"))


def test_members_found_at_few_false_alarms_are_told_of_the_attack_that_finds_most():
    strong = made("loss", (0.7, 0.69, 0.71))
    certain = made("lira-online", (0.6, 0.58, 0.62), found=(at(0.001, 0.123, 0.1, 0.145),))
    assert (
        "At 0.1% false alarms, lira-online finds 12.3% of the members (95% interval 10.0% to "
        "14.5%)." in said(strong, certain, strongest="loss")
    )


def test_too_few_others_for_a_rate_are_counted_instead():
    few = made("loss", (0.7, 0.6, 0.8), found=(at(0.001, 0.02, 0.01, 0.03),))
    few = few.model_copy(update={"figures": few.figures.model_copy(update={"non_members": 100})})
    third = said(few, strongest="loss")[1]
    assert third.startswith("Without one of the 100 others called a member, loss finds 2.0%")
    assert third.endswith(", which guessing might as well.")


@pytest.mark.parametrize(
    ("others", "low", "beats"),
    [(100, 0.03, False), (100, 0.04, True), (10_000, 0.002, True), (10_000, 0.001, False)],
)
def test_few_others_cannot_show_a_rare_false_alarm(others, low, beats):
    # None of 100: at most 3.6% (Clopper-Pearson); 10 of 10,000: at most 0.18%.
    assert beats_guessing(at(0.001, 0.5, low), others) is beats


def test_guessing_seldom_beats_guessing():
    random = np.random.default_rng(5)
    is_member = np.arange(400) < 200
    counted = [figures(random.random(400), is_member) for _ in range(100)]
    beaten = sum(beats_guessing(one.tpr_at_fpr[0], 200) for one in counted)
    assert beaten <= 5


def test_the_world_is_not_balanced():
    sentences = said(made("loss", (0.7, 0.69, 0.71)), strongest="loss")
    assert (
        "Where 1% of the world are members, a record that loss calls a member is one in 2.1% of "
        "cases (95% interval 2.0% to 2.2%)." in sentences
    )


def test_the_worst_slice_is_named():
    one = made("loss", (0.7, 0.69, 0.71))
    worst = Slice(kind="correctness", name="classified wrongly", figures=one.figures)
    sentence = said(one.model_copy(update={"worst": worst}), strongest="loss")[-1]
    assert sentence == (
        "The worst slice is the records classified wrongly (1,000 members, 1,000 others): there "
        "the AUC of loss is 0.700 (95% interval 0.690 to 0.710), against 0.700 over all records."
    )


def test_the_worst_slice_is_the_worst_of_how_many():
    one = made("loss", (0.7, 0.69, 0.71))
    worst = Slice(kind="column", name="age = 7", figures=one.figures)
    small = worst.model_copy(update={"figures": one.figures.model_copy(update={"members": 29})})
    several = one.model_copy(update={"worst": worst, "slices": (worst, worst, worst, small)})
    sentence = said(several, strongest="loss")[-1]
    assert sentence.startswith("The worst of 3 slices is the records with age = 7 (1,000 members")


def test_both_bounds_on_epsilon_stand_side_by_side():
    sentence = said(BASELINE, strongest="label-only", upper=UPPER, lower=LOWER)[-1]
    assert sentence == (
        "The accountant proves epsilon at most 2.74 at delta 0.0001 for one record more or less, "
        "and 7.93 at delta 1e-06 for one exchanged for another; the attack (lira-online) shows an "
        "epsilon of at least 0.31 at delta 1e-06 for one record exchanged (no attack on so many "
        "records could show more than 5.6)."
    )
    alone = said(BASELINE, strongest="label-only", lower=LOWER)[-1]
    assert alone.startswith("The attack (lira-online) shows an epsilon of at least 0.31")
    nothing = LOWER.model_copy(update={"value": 0.0})
    alone = said(BASELINE, strongest="label-only", lower=nothing)[-1]
    assert alone.startswith("The attack (lira-online) shows no epsilon above 0 at delta 1e-06")


def test_an_attack_that_shows_more_than_is_proven_is_a_contradiction():
    more = LOWER.model_copy(update={"value": 8.0})
    assert contradict(UPPER, more)
    assert not contradict(UPPER, LOWER.model_copy(update={"value": 7.9}))
    assert not contradict(UPPER, more.model_copy(update={"delta": 1e-7}))
    assert not contradict(UPPER, NONE)
    sentence = said(BASELINE, strongest="label-only", upper=UPPER, lower=more)[-1]
    assert "one of the two is wrong" in sentence


def test_verdicts_are_two_to_six_sentences_whatever_was_run():
    for shift in (-1.0, 0.0, 0.3, 3.0):
        attacks = [attack("label-only", 0.0), attack("loss", shift), attack("lira-online", shift)]
        for upper, lower in ((NONE, NONE), (UPPER, LOWER)):
            sentences = said(*attacks, strongest="loss", upper=upper, lower=lower)
            assert 2 <= len(sentences) <= 6
            assert all(one.endswith(".") and "nan" not in one for one in sentences)


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0.0%"), (0.712, "71.2%"), (0.00421, "0.42%"), (1, "100.0%")]
)
def test_shares_in_percent(share, text):
    assert share_text(share) == text


def test_slices_are_named_as_in_a_sentence():
    parts = attack(records=60)
    assert slice_text(parts.classes[1]) == "the class 1"
    assert slice_text(parts.slices[2]) == "the records with city = Rome"
