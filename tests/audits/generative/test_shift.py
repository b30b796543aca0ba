"""Members and holdout of one distribution pass, others are told apart; overlaps are found."""

import numpy as np
import pytest

from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.shift import (
    MOST_SHIFT,
    class_shift,
    measured_shift,
    overlap_warnings,
    overlaps,
)


def material(members, holdout, reference=None):
    return Material(
        RecordSet("m", members),
        RecordSet("h", holdout),
        reference=None if reference is None else RecordSet("r", reference),
        columns=(AuditedColumn("x", is_number=True), AuditedColumn("y", is_number=True)),
    )


def records(seed, shift=0.0, rows=600):
    return np.random.default_rng(seed).normal(shift, 1, (rows, 2))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(5))
def test_one_distribution_is_not_told_apart(seed):
    assert measured_shift(material(records(seed), records(seed + 100))).low < MOST_SHIFT


def test_two_distributions_are_told_apart():
    assert measured_shift(material(records(1), records(2, shift=0.5))).low > MOST_SHIFT


def test_images_are_compared_by_few_components():
    random = np.random.default_rng(0)
    images = random.random((400, 64)).astype(np.float32)
    sides = RecordSet("m", images[:200]), RecordSet("h", images[200:] ** 4)
    assert measured_shift(Material(*sides, shape=(8, 8))).low > MOST_SHIFT


def test_a_holdout_of_members_overlaps():
    members = records(1)
    holdout = np.concatenate([records(2, rows=500), members[:50]])
    [problem] = overlaps(material(members, holdout, reference=records(3)))
    assert problem.code == "A030"
    assert "50 of the 550 records of the holdout" in problem.message
    [problem] = overlaps(material(members, records(2), reference=members[:30]))
    assert "references" in problem.message


def test_persons_who_are_alike_do_not_overlap():
    """Nine kinds of persons, of whom everybody has a double."""
    random = np.random.default_rng(7)
    members, holdout = (random.integers(0, 3, (300, 2)).astype(float) for _ in range(2))
    assert not [*overlaps(material(members, holdout))]


def test_missing_values_are_equal():
    members = np.where(records(1) > 2, np.nan, records(1))
    assert [*overlaps(material(members, members.copy()))]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_equal_sets_overlap_however_many_equal_records_persons_have(times):
    members = np.repeat(records(1, rows=100), times, axis=0)
    assert [*overlaps(material(members, members.copy()))]
    half = np.concatenate([members[: 50 * times], np.repeat(records(2, rows=50), times, axis=0)])
    assert [*overlaps(material(members, half))]


@pytest.mark.parametrize("kinds", [2, 4, 12, 40])
def test_persons_who_are_alike_to_any_degree_do_not_overlap(kinds):
    for seed in range(10):
        random = np.random.default_rng(seed)
        sides = [random.integers(0, kinds, (200, 2)).astype(float) for _ in range(3)]
        assert not [*overlaps(material(*sides))]


def test_references_of_the_holdout_overlap():
    holdout = records(2)
    references = np.concatenate([holdout[:150], records(3, rows=450)])
    [problem] = overlaps(material(records(1), holdout, reference=references))
    assert problem.code == "A030"
    expected = "150 of the 600 records of the references are equal to a record of the holdout."
    assert problem.message == expected


def test_numbers_beyond_32_bits_are_compared():
    members = records(1, rows=100)
    members[0] = 1e300
    assert measured_shift(material(members, records(2, rows=100))).low < MOST_SHIFT


@pytest.mark.parametrize(("times", "others"), [(2, 1), (1, 2), (2, 3), (5, 1)])
def test_repeated_records_hide_no_overlap(times, others):
    """All of 100 members are in the holdout, or half of them, and one side or both repeat them."""
    members, fresh = records(1, rows=100), records(2, rows=50)
    for holdout in (members, np.concatenate([members[:50], fresh])):
        sides = np.repeat(members, times, axis=0), np.repeat(holdout, others, axis=0)
        [problem] = overlaps(material(*sides))
        assert problem.message.startswith(f"{100 if holdout is members else 50} of the 100 records")
    doubled = np.concatenate([members, members[:90]])
    assert [*overlaps(material(doubled, np.concatenate([members[:50], fresh])))]


def test_repeated_records_of_other_persons_are_no_overlap():
    sides = (np.repeat(records(seed, rows=100), 3, axis=0) for seed in (1, 2))
    assert not [*overlaps(material(*sides))]
    assert not [*overlap_warnings(material(np.repeat(records(1), 2, axis=0), records(2)))]


@pytest.mark.parametrize("rows", [(150, 600), (600, 150)])
def test_persons_who_are_alike_do_not_overlap_where_one_side_is_larger(rows):
    for seed in range(10):
        random = np.random.default_rng(seed)
        sides = (random.geometric(0.02, (count, 2)) // 8.0 for count in rows)
        assert not [*overlaps(material(*sides))]


def test_a_few_records_on_both_sides_are_told():
    holdout = np.concatenate([records(2, rows=295), records(1)[:5]])
    sides = material(records(1), holdout)
    assert not [*overlaps(sides)]
    [warning] = overlap_warnings(sides)
    assert warning.startswith("5 of the 300 distinct records of the holdout are equal to a member")


def labelled(shares, rows=400):
    random = np.random.default_rng(0)
    sides = [
        RecordSet("s", random.normal(size=(rows, 2)), (random.random(rows) < share).astype(int))
        for share in shares
    ]
    columns = tuple(AuditedColumn(name, is_number=True) for name in "xy")
    return Material(*sides, columns=columns, classes=("a", "b"))


@pytest.mark.nightly
def test_classes_are_told_apart():
    other = labelled([0.95, 0.05])
    assert measured_shift(other).low > MOST_SHIFT
    assert class_shift(other).value > 0.9
    alike = labelled([0.5, 0.5])
    assert max(one(alike).low for one in (measured_shift, class_shift)) < MOST_SHIFT


def test_a_record_of_another_class_is_another_record():
    members = RecordSet("m", records(1), np.zeros(600, int))
    columns = tuple(AuditedColumn(name, is_number=True) for name in "xy")
    other = RecordSet("h", records(1), np.ones(600, int))
    assert not [*overlaps(Material(members, other, columns=columns, classes=("a", "b")))]
    assert [*overlaps(Material(members, members, columns=columns, classes=("a", "b")))]


def test_large_images_are_compared_by_few_components():
    images = np.random.default_rng(0).random((120, 12_288)).astype(np.float32)
    sides = RecordSet("m", images[:60]), RecordSet("h", images[60:] ** 4)
    assert measured_shift(Material(*sides, shape=(64, 64, 3))).low > MOST_SHIFT


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("factor", "offset"), [(1e200, 0), (1e-200, 0), (1e-6, 1.7e9)])
def test_two_distributions_are_told_apart_on_any_scale(factor, offset):
    sides = (records(seed, shift) * factor + offset for seed, shift in ((1, 0.0), (2, 0.5)))
    assert measured_shift(material(*sides)).low > MOST_SHIFT
