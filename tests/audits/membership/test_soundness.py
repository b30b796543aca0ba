from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from test_auditing import run

from policy_engine.audits.membership.records import read_records, records_of_arrays
from policy_engine.audits.membership.soundness import of_answers, of_data, of_sides
from policy_engine.audits.membership.splits import Wanted, make_splits

RANDOM = np.random.default_rng(8)


def sides(records, disjoint=0, **told):
    return make_splits(records.labels, records.classes, Wanted(disjoint, seed=1), **told)


def found(records, disjoint=0):
    return list(of_data(records, sides(records, disjoint)))


@cache
def table(rows=400):
    """People whose label a column neither contains nor determines."""
    random = np.random.default_rng(2)
    ill = random.integers(0, 2, rows)
    return pa.table(
        {
            "age": random.normal(size=rows) + ill,
            "city": random.choice(["Rome", "Oslo", "Bonn"], rows),
            "ill": np.where(ill, "yes", "no"),
        }
    )


def test_sound_records_are_passed_over():
    assert found(read_records(table(), "ill"), disjoint=2) == []


def test_records_four_times_over_are_counted():
    fourfold = pa.concat_tables([table()] * 4)
    [warning] = found(read_records(fourfold, "ill"), disjoint=2)
    assert "of the 400 members stand word for word among the judged records" in warning
    assert "among the records that the shadow models are trained on" in warning
    assert "Of 1,600 records 400 are different." in warning
    [alone] = found(read_records(fourfold, "ill"))
    assert "shadow models" not in alone
    judged = sides(read_records(fourfold, "ill"))
    rows = [set((part % 400).tolist()) for part in (judged.target_train, judged.target_test)]
    members = [row % 400 in rows[1] for row in judged.target_train.tolist()]
    assert alone.startswith(f"{sum(members)} of the 400 members")


def test_records_that_differ_in_a_digit_are_nearly_the_same():
    features = RANDOM.normal(size=(100, 3))
    twice = np.concatenate([features, features + 2e-6])
    [warning] = found(records_of_arrays(twice, np.arange(200) % 2))
    assert "but for last digits of numbers" in warning
    assert found(records_of_arrays(RANDOM.normal(size=(200, 3)), np.arange(200) % 2)) == []


@pytest.mark.parametrize(
    "says",
    [
        lambda ill: np.where(ill == "yes", "positive", "negative"),
        lambda ill: np.where(ill == "yes", 3.5, -1.0),
        lambda ill: (ill == "yes") + np.linspace(0, 0.5, len(ill)),
    ],
    ids=["text", "number", "threshold"],
)
def test_a_column_that_says_the_label_is_named(says):
    ill = table().column("ill").to_numpy(zero_copy_only=False)
    told = table().append_column("test", pa.array(says(ill))).select(["age", "test", "ill"])
    [warning] = found(read_records(told, "ill"))
    assert warning.startswith("The label follows from 'test' alone, in 100.0% of cases")


def test_a_rare_class_is_no_column_that_says_the_label():
    labels = np.zeros(600, int)
    labels[:5] = 1
    assert found(records_of_arrays(RANDOM.normal(size=(600, 2)), labels)) == []


def test_members_of_another_kind_are_told_with_how_well_and_where():
    later = np.arange(400) < 100
    features = RANDOM.normal(size=(400, 3))
    features[later, 1] += 1.0
    records = records_of_arrays(features, np.arange(400) % 2)
    kinds, columns = of_sides(records, sides(records, members=np.flatnonzero(later)))
    assert "told apart with an AUC of 0.6" in kinds
    assert columns.startswith("Members and others are distributed differently in 'features 1' (")


def test_members_drawn_by_lot_are_of_one_kind():
    records = records_of_arrays(RANDOM.normal(size=(400, 3)), np.arange(400) % 2)
    assert list(of_sides(records, sides(records))) == []


def test_columns_beside_answers_are_compared():
    is_member = np.arange(200) < 100
    city = np.where(is_member, "Rome", "Oslo").astype(object)
    number = np.arange(200).astype(str).astype(object)
    [warning] = of_answers({"city": city, "number": number}, is_member)
    assert "differently in 'city' (at 5% over 1 columns)" in warning


def test_an_audit_warns():
    twice = np.concatenate([np.eye(60, 20)] * 2)
    report = run(records_of_arrays(twice, np.arange(120) % 2), attacks=("loss",))
    assert any("leave repetitions out" in one for one in report.warnings)
