"""Members and holdout of one distribution pass, others are told apart; overlaps are found."""

import numpy as np
import pytest

from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.shift import MOST_SHIFT, measured_shift, overlaps


def material(members, holdout, reference=None):
    return Material(
        RecordSet("m", members),
        RecordSet("h", holdout),
        reference=None if reference is None else RecordSet("r", reference),
        columns=(AuditedColumn("x", is_number=True), AuditedColumn("y", is_number=True)),
    )


def records(seed, shift=0.0, rows=600):
    return np.random.default_rng(seed).normal(shift, 1, (rows, 2))


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
