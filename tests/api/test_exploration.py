import pytest

from policy_engine.api.exploration import (
    Draw,
    Outcome,
    Reached,
    Run,
    SettingLoss,
    SettingRisk,
    with_losses,
)
from policy_engine.api.exploration_wording import draws_words, loss_words, setting_words, verdict
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.disclosure import DisclosureBound

BOUND = DisclosureBound(measure="linked", asked=0.05)
NONE = NotApplicable(reason="it does not apply")


def reached(value, attack="distance-linkage"):
    linked = Estimate(value=value, low=value / 2, high=2 * value) if value else NONE
    return Reached(attack=attack, known=("age",), records=100, baseline=0.01, linked=linked)


def draw(*values, il1s=0.1, keeps=True):
    return Draw(
        attacks=tuple(map(reached, values)),
        keeps_bounds=keeps,
        il1s=il1s,
        probabilistic=NONE,
        query_error=0.2,
    )


def run(*draws, bounds=(BOUND,), **setting):
    outcome = Outcome(
        classes=None,
        average_class_ratio=None,
        global_certainty_penalty=None,
        discernability=None,
        suppressed=0,
        measurements=(),
        seconds=0,
        draws=draws,
        risk=SettingRisk.of(draws, bounds),
    )
    return Run(setting=setting, outcome=outcome)


MEASURES = ("il1s", "probabilistic", "query_error")


def test_the_risk_is_that_of_the_strongest_attack_on_the_worst_draw():
    risk = SettingRisk.of([draw(0.01, 0.02), draw(0.04, 0.03)], (BOUND,))
    assert risk.worst == reached(0.04)
    assert (risk.least, risk.greatest) == (0.02, 0.04)
    assert draws_words(risk) == "2.0% to 4.0%"


def test_a_bound_is_kept_where_every_draw_keeps_it():
    kept = SettingRisk.of([draw(0.01), draw(0.01)], (BOUND,))
    broken = SettingRisk.of([draw(0.01), draw(0.04, keeps=False)], (BOUND,))
    assert kept.keeps_bounds is True
    assert broken.keeps_bounds is False


def test_nothing_is_kept_or_broken_without_a_bound():
    assert SettingRisk.of([draw(0.01, keeps=None)], ()).keeps_bounds is None


def test_there_is_no_risk_where_no_attack_applies():
    assert SettingRisk.of([draw(None)], (BOUND,)) is None


def test_the_cheapest_run_that_keeps_the_bound_is_marked():
    runs = [
        run(draw(0.09, il1s=0.1, keeps=False), p=0.02),
        run(draw(0.02, il1s=0.3), draw(0.01, il1s=0.5), p=0.1),
        run(draw(0.01, il1s=0.9), p=0.2),
    ]
    told = with_losses(runs, MEASURES)
    assert [one.is_cheapest for one in told] == [False, True, False]
    assert told[1].outcome.loss == SettingLoss(measure="il1s", median=0.4, least=0.3, greatest=0.5)
    assert loss_words(told[1].outcome.loss) == "0.4000 (0.3000 to 0.5000)"
    assert verdict(told).startswith(
        "p = 0.1 is the cheapest setting that keeps what the policy bounds, linked at most 0.05: "
        "the strongest attack links 2.0% (95% interval 1.0% to 4.0%)"
    )


def test_of_equal_losses_the_least_risk_is_marked():
    told = with_losses([run(draw(0.02), p=0.1), run(draw(0.01), p=0.2)], MEASURES)
    assert [one.is_cheapest for one in told] == [False, True]


def test_no_run_is_marked_where_none_keeps_the_bound():
    broken = [run(draw(value, keeps=False), p=value) for value in (0.2, 0.1)]
    told = with_losses(broken, MEASURES)
    assert not any(one.is_cheapest for one in told)
    assert "None of the settings keeps" in verdict(told)
    assert "Least is linked at p = 0.1" in verdict(told)


def test_no_run_is_marked_where_nothing_is_bounded():
    told = with_losses([run(draw(0.1, keeps=None), bounds=(), p=0.1)], MEASURES)
    assert not told[0].is_cheapest
    assert "no setting is marked" in verdict(told)


@pytest.mark.parametrize(("il1s", "measure"), [(0.1, "il1s"), (NONE, "query_error")])
def test_losses_are_by_a_measure_that_all_runs_have(il1s, measure):
    told = with_losses([run(draw(0.1), p=0.1), run(draw(0.1, il1s=il1s), p=0.2)], MEASURES)
    assert {one.outcome.loss.measure for one in told} == {measure}


def test_a_run_that_was_refused_has_no_loss():
    refused = Run(setting={"p": 0.5}, outcome=NONE)
    kept, other = with_losses([run(draw(0.01), p=0.1), refused], MEASURES)
    assert kept.is_cheapest
    assert other == refused
    assert verdict([other]) == "No attack applies to the settings that can be released."


def test_the_setting_without_a_change_is_the_policys_own():
    assert setting_words(Run(setting={}, outcome=NONE)) == "the policy's own"
