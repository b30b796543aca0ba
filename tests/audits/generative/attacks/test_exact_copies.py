"""Records that are among the synthetic ones, value by value."""

import numpy as np

from policy_engine.audits.generative.attacks.exact_copies import (
    copy_rates,
    exact_copies,
    exact_copies_any_class,
)
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.kernels.estimates import NotApplicable


def rows(name, values, labels=None):
    return RecordSet(name, np.array(values, float), None if labels is None else np.array(labels))


def test_a_copy_has_every_value_of_the_record():
    own = Material(
        members=rows("members", [[1, 2], [3, np.nan], [0, 5]]),
        holdout=rows("holdout", [[1, 3], [1, 2 + 1e-12]]),
        synthetic=rows("samples", [[3, np.nan], [1, 2], [-0.0, 5], [1, 2]]),
        shape=(2,),
    )
    assert exact_copies(own).tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]


def test_a_copy_is_of_the_same_class():
    own = Material(
        members=rows("members", [[1]], [0]),
        holdout=rows("holdout", [[1]], [1]),
        synthetic=rows("samples", [[1]], [1]),
        shape=(1,),
    )
    assert exact_copies(own).tolist() == [0.0, 1.0]


def test_a_copy_under_another_label_is_one_of_any_class():
    own = Material(
        members=rows("members", [[1], [2]], [0, 1]),
        holdout=rows("holdout", [[3], [4]], [0, 1]),
        synthetic=rows("samples", [[1], [2], [4]], [1, 0, 1]),
        shape=(1,),
        classes=("a", "b"),
    )
    assert exact_copies(own).tolist() == [0.0, 0.0, 0.0, 1.0]
    assert exact_copies_any_class(own).tolist() == [1.0, 1.0, 0.0, 1.0]
    assert isinstance(exact_copies_any_class(own.without_classes()), NotApplicable)


def test_single_precision_is_compared_with_single_precision():
    values = np.array([[0.1]], np.float32)
    sides = [RecordSet(name, values) for name in ("members", "holdout", "samples")]
    assert exact_copies(Material(*sides, shape=(1,))).tolist() == [1.0, 1.0]


def test_the_excess_is_that_of_members_over_the_holdout():
    scores, is_member = np.repeat([1.0, 0, 1, 0], [60, 40, 10, 90]), np.arange(200) < 100
    rates = copy_rates(scores, is_member)
    assert (rates.members.value, rates.holdout.value, rates.excess.value) == (0.6, 0.1, 0.5)
    assert 0.37 < rates.excess.low < 0.4
    assert 0.59 < rates.excess.high < 0.62
    swapped = copy_rates(scores, ~is_member)
    assert np.isclose(swapped.excess.low, -rates.excess.high)


def test_nothing_is_copied_where_nothing_is_released():
    own = Material(rows("members", [[1]]), rows("holdout", [[1]]), shape=(1,))
    assert isinstance(exact_copies(own), NotApplicable)


def test_what_floats_round_to_one_value_is_told_apart_by_its_exact_numbers():
    sides = [
        RecordSet(name, np.full((1, 2), 1e18), exact=np.array([[0, number]]))
        for number, name in enumerate(("members", "holdout"))
    ]
    samples = RecordSet("samples", np.full((1, 2), 1e18), exact=np.array([[0, 0]]))
    assert exact_copies(Material(*sides, samples, shape=(2,))).tolist() == [1.0, 0.0]
