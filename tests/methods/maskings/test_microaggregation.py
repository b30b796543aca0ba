from dataclasses import replace

import numpy as np
import pytest
from masked import facts_of, rows_of
from pydantic import ValidationError

from policy_engine.methods.maskings.microaggregation import Microaggregation
from policy_engine.methods.perturbation import groups_of

PAY = np.array([1.0, 2, 3, 11, 12, 13])
ALONE = Microaggregation(name="pay", groupSize=3)


def test_every_value_is_the_mean_of_its_group():
    rows = rows_of(PAY)
    made = ALONE.perturb(rows)
    assert made[:, 0].tolist() == [2, 2, 2, 12, 12, 12]
    both = facts_of(np.stack([PAY, made[:, 0]], axis=1)).moments
    # The squared distances from the means are 4 in all, those from 7 are 154.
    [figures] = ALONE.paired_figures({}, rows.facts, both)
    assert figures["informationLoss"] == pytest.approx(100 * 4 / 154)


def test_a_loss_is_that_of_the_rows_themselves_and_at_most_doubled_by_rounding():
    # Means of the wrong rows have the variance of the right ones, and more is lost by them.
    turned = facts_of(np.stack([PAY, [12, 12, 12, 2, 2, 2]], axis=1)).moments
    [figures] = ALONE.paired_figures({}, facts_of(PAY[:, None]), turned)
    assert figures["informationLoss"] == pytest.approx(100 * 604 / 154)
    integers = facts_of(np.array([[0.0, 0], [1, 0]])).moments
    [figures] = ALONE.paired_figures({}, facts_of(PAY[:, None]), integers)
    assert figures["informationLoss"] == pytest.approx(200)


def test_columns_of_one_label_and_size_are_aggregated_together():
    both = [Microaggregation(name=n, groupSize=3, together="money") for n in ("pay", "cap")]
    larger = Microaggregation(name="tax", groupSize=4, together="money")
    assert [len(one) for one in groups_of([ALONE, *both, larger])] == [2, 1, 1]
    values = np.stack([PAY, -PAY], axis=1)
    made = both[0].perturb(rows_of(values))
    assert np.unique(made, axis=0).tolist() == [[2, -2], [12, -12]]


def test_values_that_too_few_share_break_it():
    after = np.array([2.0, 2, 2, 12, 12, 13])[:, None]
    tally = ALONE.tally(PAY[:, None], after, facts_of(PAY[:, None]))
    assert tally["broken"].tolist() == [3]


@pytest.mark.parametrize(("largest", "doubts"), [(13, 0), (1000, 1)])
def test_a_mean_that_one_value_dominates_is_doubted(largest, doubts):
    rows = rows_of(np.append(PAY[:-1], largest))
    tally = ALONE.tally(rows.values, ALONE.perturb(rows), rows.facts)
    told = [*ALONE.doubts(["pay"], tally, rows.facts)]
    assert [*ALONE.doubts(["pay"], tally, replace(rows.facts, dates=(True,)))] == []
    assert len(told) == doubts
    assert not told or told[0].endswith(
        "1 of 2 groups. Top coding, or more rows to each mean, hides it."
    )


@pytest.mark.parametrize("size", [1, 0, -3, 2.0, True, "3"])
def test_a_group_of_fewer_than_two_rows_is_refused(size):
    with pytest.raises(ValidationError):
        Microaggregation(name="pay", groupSize=size)
