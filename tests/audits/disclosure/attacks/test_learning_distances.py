"""Distances learned from right links, and one-to-one links, on two small files."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure import settings
from policy_engine.audits.disclosure.attacks import learned
from policy_engine.audits.disclosure.attacks.assignment import assignment_linkage
from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.attacks.learned import learned_distance_linkage
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.pairing import pair_rows
from policy_engine.audits.disclosure.scales import differences
from policy_engine.audits.disclosure.settings import AttackSettings, read_settings
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable

PERSONS = 60
IN_FULL = AttackSettings(("learned-distance-linkage", "assignment-linkage"), 1.0)


def tables(persons=PERSONS, seed=3):
    """Return a file, and one of which `a` is nearly kept and `b` is drawn anew."""
    random = np.random.default_rng(seed)
    row = np.arange(persons)
    before = pa.table(
        {"row": row, "a": random.permutation(persons), "b": random.normal(size=persons)}
    )
    near = np.array(before["a"]) + random.uniform(-0.2, 0.2, persons)
    return before, pa.table({"row": row, "a": near, "b": random.normal(size=persons)})


def two_files(before, after):
    columns = known_columns(before, after, ["a", "b", "row"], None, {})
    own = pair_rows(columns[2:], before.num_rows, after.num_rows)
    return TwoFiles(columns[:2], own, after.num_rows)


def test_a_column_that_says_nothing_gets_no_weight():
    files = two_files(*tables())
    [found] = learned_distance_linkage(files, AttackSettings(seconds=2))
    assert distance_linkage(files).mean() < 0.5
    assert found.linked.mean() > 0.8
    assert found.distance.distance == "weighted mean"
    assert found.linked.mean() <= found.distance.in_sample <= found.distance.bound == 1


@pytest.mark.nightly
def test_families_asked_for_by_name_link_no_fewer_than_the_weighted_means_they_hold():
    found = learned_distance_linkage(two_files(*tables()), IN_FULL)
    weighted, *families = (one.distance for one in found)
    assert [one.distance for one in families] == [
        "ordered weighted mean",
        "submodular 2-additive Choquet integral",
        "2-additive Choquet integral",
        "submodular Choquet integral",
        "Choquet integral",
        "symmetric bilinear form",
    ]
    assert min(one.in_sample for one in families[1:]) >= weighted.in_sample


def test_nobody_is_found_in_the_file_of_others():
    before, after = tables()
    shuffled = np.random.default_rng(4).permutation(PERSONS)
    files = two_files(before, after.set_column(0, "row", [shuffled]))
    [found] = learned_distance_linkage(files, AttackSettings(seconds=1))
    assert found.linked.sum() <= 5
    assert found.distance.in_sample <= found.distance.bound


def test_the_order_of_rows_decides_nothing():
    before, after = tables()
    moved = before.take(np.random.default_rng(5).permutation(PERSONS))
    links = [
        learned_distance_linkage(two_files(*both), AttackSettings())[0].linked.sum()
        for both in ((before, after), (moved, after))
    ]
    assert links[0] == links[1]


def test_distances_of_categories_and_numbers_are_those_of_the_nearest_record():
    before = pa.table({"row": [0, 1], "a": [0, 10], "b": ["x", "y"]})
    after = pa.table({"row": [0, 1], "a": [10, 0], "b": ["y", "y"]})
    a, b = (differences(one) for one in two_files(before, after).columns)
    assert a.tolist() == [[-2, 0], [0, 2]]
    assert b.tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"find_spec": lambda _: None}, "install policy-engine"),
        ({"MOST_PERSONS_UNNAMED": 59}, "unless it is asked for by name"),
        ({"MOST_CELLS": 7_199}, "there are 7,200"),
        ({"LEAST_PERSONS": 61}, "60 are in the release"),
    ],
    ids=["solver", "persons", "cells", "paired"],
)
def test_distances_are_not_learned_for_a_reason(monkeypatch, change, said):
    for name, value in change.items():
        monkeypatch.setattr(learned, name, value)
    assert said in learned_distance_linkage(two_files(*tables()), AttackSettings()).reason


def test_one_column_has_nothing_to_weigh():
    found = learned_distance_linkage(two_files(*tables()).known_by(["a"]), AttackSettings())
    assert isinstance(found, NotApplicable)


def test_all_are_assigned_where_two_persons_have_one_nearest_record():
    # 4 is nearest to both 3 and 5; at the least cost together, 3 gets 1 and 5 gets 4.
    before = pa.table({"row": [0, 1], "a": [3.0, 5.0], "b": [0, 0]})
    after = pa.table({"row": [0, 1], "a": [1.0, 4.0], "b": [0, 0]})
    files = two_files(before, after).known_by(["a"])
    assert assignment_linkage(files, AttackSettings()).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("most", "named", "said"),
    [
        ({"MOST_PERSONS_UNNAMED": 59}, AttackSettings(), "more than 59 rows, unless"),
        ({"MOST_RECORDS": 59}, IN_FULL, "59 at most, and there are 60"),
        ({"MOST_PERSONS_UNNAMED": 59}, IN_FULL, None),
    ],
    ids=["unnamed", "named", "named within"],
)
def test_large_files_are_not_assigned(monkeypatch, most, named, said):
    for name, value in most.items():
        monkeypatch.setattr(f"policy_engine.audits.disclosure.attacks.assignment.{name}", value)
    found = assignment_linkage(two_files(*tables()), named)
    assert said in found.reason if said else len(found) == PERSONS


def test_all_that_is_wrong_with_settings_is_told_at_once():
    with pytest.raises(DataError, match=r"(?s)A012.*'nearest'.*in 0 seconds") as error:
        read_settings(["nearest", "distance-linkage"], 0)
    assert len(error.value.problems) == 2
    assert read_settings(["distance-linkage"], 1).names("distance-linkage")
    assert settings.AttackSettings().named == ()
