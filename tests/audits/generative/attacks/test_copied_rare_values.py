"""Members whose rare values occur among synthetic ones, one column at a time."""

import numpy as np
import pytest

from policy_engine.audits.generative.attacks.rare_values import rare_values
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.kernels.estimates import NotApplicable


def material(members, holdout, synthetic, reference=None):
    sides = (members, holdout, synthetic, reference)
    sets = [None if one is None else RecordSet("", np.array(one, float)) for one in sides]
    columns = tuple(AuditedColumn(f"x{one}", is_number=True) for one in range(len(members[0])))
    return Material(*sets, columns=columns)


def test_the_surprise_is_by_hand():
    # 7 is one of 3 public values, 8 is none of them: (1 + .5) / 4 and .5 / 4.
    scores = rare_values(material([[7], [8]], [[9]], [[7]], [[7], [5], [5]]))
    assert scores.tolist() == pytest.approx(
        [(1 - 0.375) * -np.log(0.375), -0.125 * -np.log(0.125), -0.125 * -np.log(0.125)]
    )


def test_values_that_are_shuffled_within_columns_are_found():
    generator = np.random.default_rng(1)
    members, holdout, reference = (
        np.column_stack([generator.normal(size=300), generator.integers(0, 3, (300, 5))])
        for _ in range(3)
    )
    synthetic = generator.permuted(members, axis=0)
    for public in (reference, None):
        scores = rare_values(material(members, holdout, synthetic, public))
        assert scores[:300].min() > scores[300:].max()


def test_common_values_say_nothing():
    generator = np.random.default_rng(1)
    members, holdout, synthetic = (generator.integers(0, 2, (200, 3)) for _ in range(3))
    assert abs(rare_values(material(members, holdout, synthetic))).max() < 1e-9


def test_what_is_missing_is_a_value():
    scores = rare_values(material([[np.nan], [1]], [[2]], [[np.nan], [3]], [[3], [3]]))
    assert scores[0] > 0 > scores[1] == scores[2]


def test_arrays_and_samplers_have_no_columns_of_values():
    record_set = RecordSet("", np.zeros((2, 2)))
    arrays = Material(record_set, record_set, record_set, shape=(2,))
    assert isinstance(rare_values(arrays), NotApplicable)
    assert isinstance(rare_values(material([[1]], [[1]], None, [[1]])), NotApplicable)


def test_values_that_floats_round_to_one_are_told_apart_by_their_exact_numbers():
    sides = [
        RecordSet("", np.full((1, 1), 1e18), exact=np.array([[number]])) for number in (0, 1, 0, 2)
    ]
    scores = rare_values(Material(*sides, columns=(AuditedColumn("x", is_number=True),)))
    assert scores[0] > 0 > scores[1]
