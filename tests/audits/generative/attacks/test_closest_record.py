"""The distance to the closest synthetic row, column by column."""

import numpy as np

from policy_engine.audits.generative.attacks.closest_record import closest_record, distance_summary
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.kernels.estimates import NotApplicable

COLUMNS = (
    AuditedColumn("age", is_number=True),
    AuditedColumn("sex", is_number=False, texts=("f", "m")),
)


def rows(name, values, labels=None):
    return RecordSet(name, np.array(values, float), None if labels is None else np.array(labels))


def material(members, holdout, synthetic, **more):
    sides = rows("members", members), rows("holdout", holdout), rows("samples", synthetic)
    return Material(*sides, columns=COLUMNS, **more)


def test_numbers_are_shares_of_the_public_range_and_categories_are_equal_or_not():
    public = rows("reference", [[20, 0], [60, 0]])
    own = material(
        [[30, 0], [30, 1]], [[90, 1], [np.nan, -1]], [[20, 0], [20, -1]], reference=public
    )
    assert np.allclose(closest_record(own), [-0.125, -0.625, -1, -0.5])


def test_what_is_missing_is_equal_to_what_is_missing():
    own = material([[np.nan, -1]], [[5, 1]], [[np.nan, -1], [1, 0], [3, 0]])
    assert closest_record(own).tolist() == [0.0, -1.0]


def test_the_class_is_one_more_column():
    sides = [rows(name, [[1, 0]], [label]) for name, label in (("m", 0), ("h", 1), ("s", 1))]
    assert np.allclose(closest_record(Material(*sides, columns=COLUMNS)), [-1 / 3, 0])


def test_ranges_are_not_those_of_audited_records():
    one = material([[1, 0]], [[2, 0]], [[0, 0], [10, 0]])
    other = material([[1, 0]], [[2000, 0]], [[0, 0], [10, 0]])
    assert closest_record(one)[0] == closest_record(other)[0]


def test_the_summary_has_both_sides_and_how_often_a_member_is_closer():
    distances = np.array([0.0, 0.2, 0.4, 0.4, 0.6, 0.8])
    summary = distance_summary(-distances, np.arange(6) < 3)
    assert np.isclose(summary.members_median, 0.2)
    assert np.isclose(summary.holdout_median, 0.6)
    assert np.isclose(summary.members_low, 0.02)
    assert np.isclose(summary.holdout_low, 0.42)
    assert np.isclose(summary.closer, 8.5 / 9)


def test_arrays_and_models_have_no_closest_row():
    sides = rows("members", [[1]]), rows("holdout", [[1]])
    assert isinstance(closest_record(Material(*sides, shape=(1,))), NotApplicable)
    column = (AuditedColumn("age", is_number=True),)
    assert isinstance(closest_record(Material(*sides, columns=column)), NotApplicable)
