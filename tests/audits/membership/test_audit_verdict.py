import re

import numpy as np
import pytest
from audits_made import LOWER, NONE, UPPER, attack, estimate, figures, gained

from policy_engine.audits.membership.epsilon_verdict import bounds_contradict
from policy_engine.audits.membership.figures import AtPrior, TprAtFpr
from policy_engine.audits.membership.intervals import beats_guessing
from policy_engine.audits.membership.measuring import figures as measured
from policy_engine.audits.membership.result import Slice
from policy_engine.audits.membership.verdict import inverted_accuracy, slice_text, verdict
from policy_engine.audits.membership.wording import format_signed, share_text
from policy_engine.errors import format_count

_GAIN = gained(0.0)


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
    facts = {"figures": counted, "worst": NONE, "gain": _GAIN if notation != "label-only" else NONE}
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
    best = made("lira-online", (0.712, 0.698, 0.726))
    first, *_ = said(BASELINE, best, strongest="lira-online")
    assert first == (
        "Given a model's answer about a record, the strongest of 2 attacks (lira-online) tells "
        "members from non-members in 71.2% of cases (95% interval 69.8% to 72.6%); guessing "
        "reaches 50%, and the label-only baseline 55.4%."
    )


def few(one, members, others):
    counted = one.figures.model_copy(update={"members": members, "non_members": others})
    return one.model_copy(update={"figures": counted})


def test_an_interval_that_holds_a_half_is_not_told_from_guessing_and_no_proof():
    weak = made("loss", (0.51, 0.49, 0.53))
    first, *others = said(made("label-only", (0.5, 0.48, 0.52)), weak, strongest="loss")
    assert first == (
        "Whether the strongest of 2 attacks (loss) tells members from non-members better than "
        "guessing is undecided on 1,000 members and 1,000 non-members: it is right in 49.0% to "
        "53.0% of cases (95% interval), guessing in 50%; so many records show, four times in five, "
        "an attack that is right in 53.4%, and that is not a proof of safety."
    )
    assert not any("rank above" in one for one in others)


def test_six_and_six_records_all_told_apart_are_not_said_to_be_all_of_them():
    """What 12 rows say of the best of nine attacks: nothing, and no figure that looks like much."""
    best = few(made("loss", (1.0, 0.49, 1.0), found=(at(0.001, 1.0, 0.0, 1.0),)), 6, 6)
    many = [few(made(f"other-{n}", (0.5, 0.2, 0.8)), 6, 6) for n in range(8)]
    sentences = said(best, *many, strongest="loss")
    assert "is undecided on 6 members and 6 non-members" in sentences[0]
    assert "so few records can hardly show that any attack is better" in sentences[0]
    assert " ".join(sentences).count("100.0% of cases") == 1  # the end of an interval
    assert not any(one.startswith("Where 1% of the world") for one in sentences)


def test_the_best_of_many_has_to_show_more_than_one_alone():
    lucky = made("loss", (0.55, 0.501, 0.599))
    assert said(lucky, strongest="loss")[0].startswith("Given a model's answer")
    many = [lucky, *(made(f"other-{n}", (0.5, 0.45, 0.55)) for n in range(8))]
    first = said(*many, strongest="loss")[0]
    assert first.startswith("Whether the strongest of 9 attacks (loss)")
    assert "and being the best of 9 is partly chance" in first


def test_an_attack_that_is_right_less_often_than_guessing_is_no_proof_either():
    wrong = made("loss", (0.4, 0.38, 0.42))
    first = said(wrong, strongest="loss")[0]
    assert "right in 40.0% of cases (95% interval 38.0% to 42.0%), less than the 50%" in first


def test_an_attack_that_ranks_members_below_others_is_told_first():
    turned = made("loss", (0.5, 0.48, 0.52), auc=estimate(0.08, 0.06, 0.1))
    first, second, *others = said(made("label-only", (0.5, 0.48, 0.52)), turned, strongest="loss")
    assert first.startswith(
        "Members rank below non-members by loss (AUC 0.080, 95% interval 0.060 to "
    )
    assert "its scores inverted would tell members from non-members" in first
    assert "is undecided" in second
    assert not any("rank above" in one for one in others)
    one = made("loss", (0.5, 0.48, 0.52), auc=estimate(0.47, 0.44, 0.5))
    assert not any("rank below" in sentence for sentence in said(one, strongest="loss"))


@pytest.mark.parametrize(
    ("high", "right"), [(0.0, 1.0), (0.08, 0.8), (0.5, 0.5), (0.9, 0.5)], ids=str
)
def test_what_a_turned_score_is_shown_to_reach_follows_from_its_auc(high, right):
    one = made("loss", (0.5, 0.48, 0.52), auc=estimate(min(high, 0.5), 0.0, high))
    assert inverted_accuracy([one]) == pytest.approx(right)


def test_counts_of_one_and_differences_of_nothing_are_written_as_such():
    assert [format_count(n, "non-member") for n in (0, 1, 1200)] == [
        "0 non-members",
        "1 non-member",
        "1,200 non-members",
    ]
    assert [format_signed(value) for value in (-0.0001, 0.0, -0.0006)] == [
        "0.000",
        "0.000",
        "-0.001",
    ]
    one = few(made("loss", (0.5, 0.48, 0.52)), 1, 1)
    assert "on 1 member and 1 non-member: it is right" in said(one, strongest="loss")[0]


def test_an_attack_with_a_poor_threshold_that_ranks_members_higher_is_told():
    weak = made("rmia", (0.5, 0.49, 0.51), auc=estimate(0.8, 0.78, 0.82))
    _, second, *_ = said(weak, strongest="rmia")
    assert (
        "members do rank above non-members by rmia (AUC 0.800, 95% interval 0.780 to 0.820)"
        in second
    )


def test_the_strongest_is_so_by_the_measure_that_was_asked_for():
    best = made("rmia", (0.7, 0.68, 0.72))
    first = verdict(
        (BASELINE, best),
        baseline="label-only",
        strongest="rmia",
        measure="tprAtFpr 0.001",
        epsilon_upper=NONE,
        epsilon_lower=NONE,
    )[0]
    assert "the strongest of 2 attacks by tprAtFpr 0.001 (rmia) tells" in first


# -- against the baseline -------------------------------------------------------------------------


def compared(*gains, **parts):
    names = ("rmia", "loss", "entropy")
    others = [
        made(name, (0.56, 0.546, 0.574), gain=gained(value, **parts))
        for name, value in zip(names, gains, strict=False)
    ]
    return said(BASELINE, *others, strongest="label-only")[1]


def test_what_is_gained_beyond_the_baseline_is_told_with_its_interval():
    assert compared(0.2, 0.01, 0.1) == (
        "2 of 3 attacks gain more than the label-only baseline on the same records: rmia most, "
        "with an AUC 0.200 higher (95% interval 0.150 to 0.250)."
    )
    assert compared(0.2) == (
        "The attack gains more than the label-only baseline on the same records: rmia, with an AUC "
        "0.200 higher (95% interval 0.150 to 0.250)."
    )


def test_calls_alone_may_gain_more():
    one = gained(0.0).model_copy(update={"accuracy": gained(0.2).accuracy})
    sentence = said(BASELINE, made("loss", (0.7, 0.69, 0.71), gain=one), strongest="loss")[1]
    assert "loss, with calls right in 20.0% more of the cases (95% interval 15.0%" in sentence


def test_what_could_not_be_told_from_the_baseline_is_no_absence():
    """A gain of one comparison of six has to be 2.64 deviations from none, not 1.96."""
    assert compared(0.02, 0.01, -0.03) == (
        "Whether any of 3 attacks gains more than the label-only baseline is undecided on "
        "1,000 members and 1,000 non-members: the largest difference in AUC is 0.020 (rmia, 95% "
        "interval -0.030 to 0.070); so many records show a difference of 0.087 four times in five, "
        "and about 2,000 members and as many non-members would show one of this size."
    )
    assert "rmia gains more than the label-only baseline is undecided" in compared(-0.02)
    assert "of this size" not in compared(-0.02)
    assert "so few records can hardly show any" in compared(0.02, smallest=0.6)


def test_a_gain_that_one_comparison_shows_and_many_do_not_could_not_be_told():
    assert "gains more" in compared(0.06, p=0.02)
    assert "is undecided" in compared(0.06, 0.01, p=0.02)


def test_attacks_that_gain_less_are_told_so():
    assert compared(-0.2, -0.1) == (
        "All 2 other attacks gain less than the label-only baseline on the same records; loss "
        "comes nearest, with an AUC lower by 0.100 (95% interval 0.050 to 0.150)."
    )


def test_attacks_that_are_shown_to_gain_less_stand_beside_those_untold():
    assert compared(0.02, -0.2, -0.1) == (
        "Against the label-only baseline on the same 1,000 members and 1,000 non-members: by AUC, "
        "2 of 3 attacks gain less, entropy by 0.100 (95% interval 0.050 to 0.150); by AUC, whether "
        "any other gains more is undecided (rmia: 0.020, 95% interval -0.030 to 0.070); by calls, "
        "2 of 3 attacks gain less, entropy by 0.100 (95% interval 0.050 to 0.150); by calls, "
        "whether any other gains more is undecided (rmia: 0.020, 95% interval -0.030 to "
        "0.070)."
    )


def mixed(auc, calls):
    both = gained(auc).model_copy(update={"accuracy": gained(calls).accuracy})
    return said(BASELINE, made("loss", (0.6, 0.59, 0.61), gain=both), strongest="loss")[1]


def test_a_lower_auc_is_told_though_the_calls_are_not():
    assert mixed(-0.215, 0.01).endswith(
        "non-members: by AUC, the other attack gains less, loss by 0.215 (95% interval 0.165 to "
        "0.265); by calls, whether loss gains more is undecided (loss: 0.010, 95% interval -0.040 "
        "to 0.060)."
    )


def test_measures_that_point_to_different_sides_are_both_told():
    more = "The attack gains more than the label-only baseline on the same records: loss, with "
    assert mixed(0.2, -0.1) == more + (
        "an AUC 0.200 higher (95% interval 0.150 to 0.250); yet its calls are right less often, "
        "by 0.100 (95% interval 0.050 to 0.150)."
    )
    assert mixed(-0.1, 0.2).endswith(
        "; yet its AUC is lower, by 0.100 (95% interval 0.050 to 0.150)."
    )


def test_the_baseline_alone_says_that_no_finer_attack_was_tried():
    assert "no finer attack was run" in said(BASELINE, strongest="label-only")[1]
    two = made("a", (0.7, 0.69, 0.71), gain=NONE)
    alone = verdict((two,), baseline=NONE, strongest="a", epsilon_upper=NONE, epsilon_lower=NONE)
    assert not any("baseline" in one for one in alone)


def test_no_sentence_says_that_nothing_is_there():
    for value in (-0.2, 0.0, 0.02):
        for accuracy in ((0.5, 0.4, 0.6), (0.4, 0.3, 0.45), (0.6, 0.55, 0.65)):
            one = made("loss", accuracy, gain=gained(value))
            text = " ".join(said(BASELINE, one, strongest="loss"))
            assert not re.search(r"\bNo attack|no better|as well as|cannot be told from", text)


# -- few false alarms -----------------------------------------------------------------------------


def test_members_found_at_few_false_alarms_are_told_of_the_attack_that_finds_most():
    strong = made("loss", (0.7, 0.69, 0.71))
    certain = made("lira-online", (0.6, 0.58, 0.62), found=(at(0.001, 0.123, 0.1, 0.145),))
    assert (
        "At a false-positive rate of 0.1%, lira-online finds 12.3% of the members (95% interval "
        "10.0% to 14.5%)." in said(strong, certain, strongest="loss")
    )


def test_what_guessing_might_find_is_not_told_of_an_attack():
    one = few(made("loss", (0.7, 0.6, 0.8), found=(at(0.001, 0.02, 0.0005, 0.09),)), 100, 100)
    assert (
        "Whether more members are found at a false-positive rate of 0.1% than the 0.1% that "
        "guessing finds is undecided on 100 non-members: loss comes nearest, with 0.05% to 9.0% "
        "(95% interval)."
    ) in said(one, strongest="loss")


def test_what_a_coin_or_a_dead_score_finds_is_not_told_as_the_attacks():
    coin = at(0.001, 0.02, 0.01).model_copy(update={"randomised": True})
    tied = made("loss", (0.7, 0.69, 0.71), found=(coin,))
    one = "it gives all records one score"
    dead = made("shokri", (0.5, 0.49, 0.51), found=(coin,), degenerate=one)
    sentences = said(tied, dead, strongest="loss")
    assert any(
        "was not measured: for every attack, too many non-members share" in s for s in sentences
    )
    assert (
        "What 'shokri' did not find proves nothing (shokri: it gives all records one score)."
        in sentences
    )


def test_a_degenerate_score_that_needs_no_coin_is_told():
    tied = made("loss", (0.7, 0.69, 0.71), found=(at(0.001, 0.076, 0.06),), degenerate="ties")
    sentences = said(tied, strongest="loss")
    assert any(
        one.startswith("At a false-positive rate of 0.1%, loss finds 7.6%") for one in sentences
    )


@pytest.mark.parametrize(("low", "beats"), [(0.0005, False), (0.001, False), (0.0015, True)])
def test_more_than_guessing_is_found_where_the_low_end_says_so(low, beats):
    assert beats_guessing(at(0.001, 0.5, low)) is beats


def test_guessing_seldom_beats_guessing():
    random = np.random.default_rng(5)
    is_member = np.arange(400) < 200
    counted = [measured(random.random(400), is_member, is_member) for _ in range(100)]
    assert sum(beats_guessing(one.tpr_at_fpr[0]) for one in counted) <= 7


def test_the_world_is_not_balanced():
    sentences = said(made("loss", (0.7, 0.69, 0.71)), strongest="loss")
    assert (
        "Where 1% of the population are members, a record that loss calls a member is one in "
        "2.1% of cases (95% interval 2.0% to 2.2%)." in sentences
    )


def test_a_share_in_the_world_that_may_be_any_is_not_told():
    one = made("loss", (0.99, 0.67, 1.0))
    wide = (AtPrior(prior=0.01, precision=estimate(1.0, 0.009, 1.0)),)
    counted = one.figures.model_copy(update={"at_priors": wide})
    assert (
        "Where 1% of the population are members, how many of those that loss calls members "
        "really are is undecided on so few records: 0.9% to 100.0% (95% interval)."
    ) in said(one.model_copy(update={"figures": counted}), strongest="loss")


def test_the_worst_slice_is_named():
    one = made("loss", (0.7, 0.69, 0.71))
    worst = Slice(kind="correctness", name="classified wrongly", figures=one.figures)
    sentence = said(one.model_copy(update={"worst": worst}), strongest="loss")[-1]
    assert sentence == (
        "The worst slice is the records classified wrongly (1,000 members, 1,000 non-members): "
        "there the AUC of loss is 0.700 (95% interval 0.690 to 0.710), against 0.700 over all "
        "records."
    )


def test_the_worst_slice_is_the_worst_of_how_many():
    one = made("loss", (0.7, 0.69, 0.71))
    worst = Slice(kind="column", name="age = 7", figures=one.figures)
    small = worst.model_copy(update={"figures": one.figures.model_copy(update={"members": 29})})
    several = one.model_copy(update={"worst": worst, "slices": (worst, worst, worst, small)})
    sentence = said(several, strongest="loss")[-1]
    assert sentence.startswith("The worst of 3 slices is the records with age = 7 (1,000 members")
    assert sentence.endswith("over all records; being the worst of several is partly chance.")


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
    assert bounds_contradict(UPPER, more)
    assert not bounds_contradict(UPPER, LOWER.model_copy(update={"value": 7.9}))
    assert not bounds_contradict(UPPER, more.model_copy(update={"delta": 1e-7}))
    assert not bounds_contradict(UPPER, NONE)
    sentence = said(BASELINE, strongest="label-only", upper=UPPER, lower=more)[-1]
    assert "one of the two is wrong" in sentence


def test_verdicts_are_two_to_eight_sentences_whatever_was_run():
    for shift in (-1.0, 0.0, 0.3, 3.0):
        attacks = [attack("label-only", 0.0), attack("loss", shift), attack("lira-online", shift)]
        for upper, lower in ((NONE, NONE), (UPPER, LOWER)):
            sentences = said(*attacks, strongest="loss", upper=upper, lower=lower)
            assert 2 <= len(sentences) <= 8
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
