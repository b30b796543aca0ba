from datetime import UTC, datetime
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.estimates import Estimate, NotApplicable, ceiling, clopper_pearson, floor
from policy_engine.methods.audits.membership_inference import AttackBound, AttackMeasurement
from policy_engine.methods.generative import GenerativeBound, GenerativeMeasurement
from policy_engine.release.attempts import Attempt, attempt_upper_end, pool_attempts

AUC = AttackBound(measure="auc", asked=0.6)
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def measured(high, value=0.5, **more):
    reached = Estimate(value=value, low=2 * value - high, high=high)
    return AttackMeasurement(**{"attack": "rmia", "bound": AUC, "reached": reached, **more})


def attempt(number, *attacks):
    digits = f"{number:064x}"
    named = {"data": "0" * 64, "way": "0" * 64, "seed": digits, "made": digits, "asked": digits}
    return Attempt(**named, time=NOW, held=False, attacks=attacks)


def test_the_first_attempt_is_judged_alone():
    assert pool_attempts((measured(0.55),), ()) == (measured(0.55),)


def test_the_second_attempt_has_to_hold_at_one_miss_in_eighty():
    # The normal deviate of 1.25% is 2.2414, that of 2.5% 1.96: squared, their ratio is 1.3078.
    [one] = pool_attempts((measured(0.55),), [attempt(1, measured(0.55))])
    assert one.pooled == pytest.approx(0.5 + 0.05 * 1.3078, abs=1e-4)
    assert one.reached.high == 0.55


def test_the_mean_over_all_attempts_has_to_hold():
    failed = [attempt(1, measured(0.9)), attempt(2, measured(0.85))]
    [one] = pool_attempts((measured(0.52),), failed)
    assert one.pooled == pytest.approx((0.9 + 0.85 + 0.52) / 3, abs=1e-5)
    assert not one.holds


def test_attempts_are_of_one_model_each_however_often_it_is_judged():
    twice = [attempt(1, measured(0.55)), attempt(1, measured(0.55))]
    assert pool_attempts((measured(0.55),), twice) == pool_attempts((measured(0.55),), twice[:1])


def test_another_measure_of_an_earlier_attempt_is_left_out_of_the_mean_and_counted():
    other = AttackBound(measure="precision", asked=0.6)
    [one] = pool_attempts((measured(0.55),), [attempt(1, measured(0.9, bound=other))])
    assert one.pooled == attempt_upper_end(measured(0.55).reached, 2)


def test_attempts_at_another_way_and_such_as_only_began_are_looks_without_a_figure():
    earlier = [attempt(1, measured(0.9)), attempt(2)]
    [one] = pool_attempts((measured(0.55),), earlier, "1" * 64)
    assert one.pooled == attempt_upper_end(measured(0.55).reached, 3)
    [one] = pool_attempts((measured(0.55),), earlier, "0" * 64)
    assert one.pooled == pytest.approx((0.9 + 0.55) / 2)


def test_an_attempt_without_a_figure_stays_without():
    lacking = measured(0.5).model_copy(update={"reached": NotApplicable(reason="none")})
    assert pool_attempts((lacking,), [attempt(1, measured(0.55))]) == (lacking,)


@given(st.integers(0, 60), st.integers(60, 400), st.integers(2, 6))
def test_an_interval_at_a_later_attempt_is_no_narrower_than_the_exact_one(hits, trials, number):
    exact = clopper_pearson(hits, trials, 1 - 0.05 / (number * (number - 1)))
    found = attempt_upper_end(clopper_pearson(hits, trials), number)
    assert found >= exact.high or found == 1


def test_whoever_tries_on_passes_wrongly_once_in_twenty_at_most():
    draw, deviate = Random(5), NormalDist().inv_cdf(0.975)
    passed = 0
    for _ in range(400):
        for number in range(1, 30):  # the truth is just beyond the bound of .6
            value = draw.gauss(0.601, 0.02)
            width = 0.02 * deviate
            reached = Estimate(value=value, low=value - width, high=value + width)
            if attempt_upper_end(reached, number) <= 0.6:
                passed += 1
                break
    assert passed / 400 <= 0.05 + 0.02


def test_figures_are_rounded_and_their_intervals_outwards():
    exact = Estimate(value=0.51249, low=0.50011, high=0.52301)
    assert exact.rounded(3) == Estimate(value=0.512, low=0.5, high=0.524)
    assert exact.rounded(2) == Estimate(value=0.51, low=0.5, high=0.53)
    assert (floor(0.6, 3), ceiling(0.6, 3), ceiling(0.1 + 0.2, 1)) == (0.6, 0.6, 0.3)


# -- rows that are made up ------------------------------------------------------------------------

ROWS_AUC = GenerativeBound(measure="auc", asked=0.6)
P = GenerativeBound(measure="setPValue", asked=0.0001, sense="at least")


def of_rows(bound, value, low=None, high=None):
    low, high = (value if end is None else end for end in (low, high))
    reached = Estimate(value=value, low=low, high=high)
    return GenerativeMeasurement(attack="nearest-sample", bound=bound, reached=reached)


def test_an_area_of_rows_is_pooled_the_way_round_that_reaches_more():
    below = of_rows(ROWS_AUC, 0.46, 0.42, 0.5)  # turned round: .54, from .5 to .58
    [one] = pool_attempts((of_rows(ROWS_AUC, 0.5, 0.45, 0.55),), [attempt(1, below)])
    widened = attempt_upper_end(Estimate(value=0.5, low=0.45, high=0.55), 2)
    assert one.pooled == max(widened, 0.565)  # the mean of .58 and .55
    [one] = pool_attempts((below,), [attempt(1, of_rows(ROWS_AUC, 0.5, 0.45, 0.55))])
    assert one.pooled > 0.58


@pytest.mark.parametrize(
    ("p", "past", "pooled"),
    [
        (0.02, [0.3], 0.01),  # of attempt 2, a half
        (0.3, [0.00001], 0.00002),  # the evidence of the first does not go away
        (0.3, [0.00001, 0.4], 0.00003),
        (0.06, [0.3, 0.3], 0.01),  # of attempt 3, a sixth
        (0.6, [0.7], 0.6),
    ],
)
def test_p_values_are_spent_over_attempts(p, past, pooled):
    earlier = [attempt(number, of_rows(P, one)) for number, one in enumerate(past)]
    [one] = pool_attempts((of_rows(P, p),), earlier)
    assert one.pooled == pytest.approx(pooled)
    assert one.holds == (pooled >= P.asked)
    assert one.reached.value == p


def test_p_values_of_rows_made_up_in_another_way_are_looks_alone():
    [one] = pool_attempts((of_rows(P, 0.3),), [attempt(1, of_rows(P, 1e-9))], "1" * 64)
    assert one.pooled == 0.15


def test_whoever_tries_on_falls_short_by_chance_seldom():
    """Of generators that show nothing, hardly more are refused at a later attempt than once in
    10,000 at the first."""
    draw = Random(7)
    refused = 0
    for _ in range(300):
        past = []
        for number in range(5):
            one = of_rows(P, draw.random())
            [judged] = pool_attempts((one,), past)
            refused += not judged.holds
            past.append(attempt(number, judged))
    assert refused / 1500 <= 0.01


def test_figures_of_models_and_of_rows_are_read_back_as_they_are():
    for one in (measured(0.55), of_rows(ROWS_AUC, 0.5, 0.45, 0.55), of_rows(P, 0.3)):
        kept = attempt(1, one)
        assert Attempt.model_validate_json(kept.model_dump_json()) == kept
