"""Persons with several records: nobody is told by how many they have."""

from dataclasses import replace

import numpy as np
import pytest

from policy_engine.audits.generative.by_class import ClassScores
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.shift import uneven_persons
from policy_engine.audits.generative.subjects import Subjects

PERSONS = 400


def persons(counts, first=0):
    return np.repeat(np.arange(first, first + len(counts)), counts)


def pooled(members, others, score, seed=1):
    """Return the pooled scores of both sides, of persons with so many records each."""
    owners = persons(members), persons(others, PERSONS)
    subjects = Subjects.of_persons(*owners).evened(seed)
    every = subjects.pooled(score(np.concatenate(owners), len(owners[0]), seed))
    return every[subjects.is_member], every[~subjects.is_member]


def area(members, others):
    return np.mean(members[:, None] > others) + np.mean(members[:, None] == others) / 2


def alike(owners, _members, seed):
    return np.random.default_rng(seed).normal(size=len(owners))


def same_within_a_person(owners, _members, seed):
    return np.random.default_rng(seed).normal(size=2 * PERSONS)[owners]


def one_record_leaks(owners, members, seed):
    scores = alike(owners, members, seed)
    scores[:members][np.diff(owners[:members], prepend=-1) > 0] += 3  # the first of each member
    return scores


MANY = np.random.default_rng(0).geometric(0.2, PERSONS)
COUNTS = {
    "one and three": (np.full(PERSONS, 1), np.full(PERSONS, 3)),
    "ten and one": (np.full(PERSONS, 10), np.full(PERSONS, 1)),
    "some have many": (MANY, np.full(PERSONS, 2)),
    "fewer persons": (MANY, 1 + np.arange(PERSONS // 4) % 9),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("score", [alike, same_within_a_person])
@pytest.mark.parametrize("counts", COUNTS)
def test_persons_nobody_saw_are_not_told_by_how_many_records_they_have(counts, score):
    areas = [area(*pooled(*COUNTS[counts], score, seed)) for seed in range(40)]
    assert np.mean(areas) == pytest.approx(0.5, abs=0.015)  # a deviation of .005 at most


def test_members_are_found_however_many_records_others_have():
    few, many = COUNTS["one and three"]
    assert area(*pooled(few, few, one_record_leaks)) > 0.97
    assert area(*pooled(few, many, one_record_leaks)) > 0.97
    # One of a member's three is scored: it is the leak for a third of them.
    assert area(*pooled(many, few, one_record_leaks)) == pytest.approx(0.5 + 0.48 / 3, abs=0.05)


def test_all_records_count_where_both_sides_have_as_many():
    owners = persons(MANY), persons(np.random.default_rng(3).permutation(MANY), PERSONS)
    assert Subjects.of_persons(*owners).evened(0).are_counted.all()


def test_everybody_is_scored_by_a_record_and_the_seed_decides_by_which():
    owners = persons(MANY), persons(np.ones(7, np.int64), PERSONS)
    one, again, other = (Subjects.of_persons(*owners).evened(seed) for seed in (0, 0, 1))
    assert np.array_equal(one.are_counted, again.are_counted)
    assert not np.array_equal(one.are_counted, other.are_counted)
    assert len(np.unique(one.places[one.are_counted])) == PERSONS + 7
    assert one.are_counted.sum() == PERSONS + 7


def material(members, others):
    def side(owners, seed):
        random = np.random.default_rng(seed)
        labels = random.integers(0, 2, len(owners))
        return RecordSet("side", random.normal(size=(len(owners), 1)), labels, owners)

    columns = (AuditedColumn("x", is_number=True),)
    sides = side(persons(members), 1), side(persons(others, PERSONS), 2)
    return Material(*sides, columns=columns, classes=("a", "b"), unit="who")


def test_the_warning_says_how_many_records_count():
    few, many = COUNTS["one and three"]
    assert not [*uneven_persons(material(MANY, MANY))]
    (sentence,) = uneven_persons(material(few, many))
    assert "1.0 records" in sentence
    assert "3.0: each" in sentence
    assert "400 of the 400 records of members and 400 of the 1,200 of the holdout." in sentence
    (other,) = uneven_persons(material(many, few))
    assert "give a holdout of persons with as many" in other


def test_all_records_count_where_it_is_drawn_who_is_a_member():
    own = replace(material(*COUNTS["one and three"]), is_drawn=True)
    assert own.subjects.are_counted is None
    assert not [*uneven_persons(own)]


def test_within_a_class_persons_are_not_told_by_how_many_records_they_have():
    own = material(*COUNTS["ten and one"])
    by_class = ClassScores.of(own, {"any": own.audited.values[:, 0]})
    assert [one.value for one in by_class.areas("any").values()] == pytest.approx(
        [0.5, 0.5], abs=0.06
    )
