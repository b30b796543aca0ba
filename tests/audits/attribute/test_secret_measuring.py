"""Advantages over an imputation, paired by record, with intervals that hold."""

import numpy as np
import pytest

from policy_engine.audits.attribute.measuring import (
    AttackNames,
    Truths,
    apart,
    attack_result,
    paired_difference,
)
from policy_engine.kernels.estimates import Estimate, NotApplicable


def result(attack, imputed, secrets, is_member, values=("a", "b")):
    guesses = np.array(attack), np.array(imputed), np.array(imputed)
    truths = Truths(np.array(secrets), np.array(is_member, dtype=bool))
    return attack_result(AttackNames("attack", "population", "marginals"), guesses, truths, values)


def test_an_attack_that_guesses_as_the_imputation_has_no_advantage():
    one = result([0, 1, 0, 1] * 10, [0, 1, 0, 1] * 10, [0, 0, 1, 1] * 10, [1, 0] * 20)
    assert one.members.advantage.value == one.others.advantage.value == one.excess.value == 0
    assert one.added.value == 0
    assert [value.advantage.value for value in one.values] == [0, 0]
    assert one.members.advantage.low < 0 < one.members.advantage.high


def test_the_advantage_is_of_members_and_of_others_apart():
    # Of four members the attack is right about 4, the imputation about 2; of four others, 2 and 2.
    attack = [0, 1, 0, 1, 0, 0, 1, 1]
    imputed = [0, 0, 0, 0, 0, 0, 1, 1]
    one = result(attack, imputed, [0, 1, 0, 1, 0, 1, 0, 1], [1] * 4 + [0] * 4)
    assert (one.members.accuracy.value, one.members.imputed.value) == (1.0, 0.5)
    assert (one.members.advantage.value, one.others.advantage.value) == (0.5, 0.0)
    assert one.excess.value == 0.5


def test_always_saying_a_value_gains_nothing_on_it():
    one = result([1] * 8, [0] * 8, [0, 1] * 4, [1] * 8)
    assert [value.advantage.value for value in one.values] == [0, 0]
    assert one.values[1].recall.value == 1
    assert isinstance(one.values[0].precision, NotApplicable)


def test_precision_and_recall_of_a_value_are_those_of_members():
    attack, secrets = [1, 1, 0, 0, 1, 1], [1, 0, 1, 0, 0, 0]
    one = result(attack, [0] * 6, secrets, [1, 1, 1, 1, 0, 0])
    value = one.values[1]
    assert (value.precision.value, value.recall.value, value.records) == (0.5, 0.5, 2)
    # Members: said of 1 in 2 who have it and of 1 in 2 others. Others: of both who have it not.
    assert value.advantage.value == 0


def test_the_interval_of_a_difference_is_wide_where_nothing_differs():
    # Three in the number of records, as the rule has it, and more than Agresti and Min's.
    none = paired_difference(np.zeros(100, dtype=np.int64))
    assert 0.03 < none.high < 0.06
    assert none.low == -none.high


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("ahead", "behind"), [(0.002, 0.0), (0.05, 0.04), (0.3, 0.1), (0.01, 0.1)])
@pytest.mark.parametrize("records", [40, 500])
def test_intervals_hold_the_true_difference_as_often_as_they_say(ahead, behind, records):
    random = np.random.default_rng(3)
    kinds = random.choice([1, -1, 0], (2000, records), p=[ahead, behind, 1 - ahead - behind])
    estimates = [paired_difference(gains) for gains in kinds]
    held = [one.low <= ahead - behind <= one.high for one in estimates]
    assert np.mean(held) >= 0.94


def test_figures_apart_add_the_squares_of_their_distances():
    one, other = (Estimate(value=v, low=v - 0.03, high=v + 0.03) for v in (0.5, 0.1))
    found = apart(one, other, 1.0)
    assert found.value == pytest.approx(0.4)
    assert found.high == pytest.approx(0.4 + 0.03 * 2**0.5)


def test_without_records_nothing_is_known():
    assert paired_difference(np.zeros(0, dtype=np.int64)) == Estimate(value=0, low=-1, high=1)
