import re
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from test_auditing import run

from policy_engine.audits.membership.member_differences import (
    LabelClasses,
    answer_differences,
    side_differences,
)
from policy_engine.audits.membership.records import FittedFeatures, read_records, records_of_arrays
from policy_engine.audits.membership.soundness import data_warnings
from policy_engine.audits.membership.splits import ModelCounts, Splits, make_splits

RANDOM = np.random.default_rng(8)
ALIKE = LabelClasses(np.zeros(1, int), ("0",))


def sides(records, disjoint=0, **told):
    return make_splits(records.labels, records.classes, ModelCounts(disjoint, seed=1), **told)


def found(records, disjoint=0):
    return list(data_warnings(records, sides(records, disjoint)))


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
    assert "of the 400 members are repeated exactly among the audited non-members" in warning
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
    assert "up to the last digits of numbers" in warning
    assert found(records_of_arrays(RANDOM.normal(size=(200, 3)), np.arange(200) % 2)) == []


def jittered(rows=400, digit=1, seed=3):
    """Each of the rows twice, the second with its ages and incomes off by a last digit."""
    random = np.random.default_rng(seed)
    age, income = random.integers(18, 90, rows), random.integers(500, 9000, rows)
    ill = random.choice(["yes", "no"], rows)
    return pa.table(
        {
            "age": np.concatenate([age, age + random.choice([-digit, 0, digit], rows)]),
            "income": np.concatenate([income, income + random.integers(-9, 9, rows)]),
            "city": np.tile(random.choice(["Rome", "Oslo", "Bonn"], rows), 2),
            "ill": np.tile(ill, 2),
        }
    )


def test_records_of_which_some_digits_were_touched_are_nearly_the_same():
    given = jittered()
    for fitted in (FittedFeatures.of(given, "ill"), FittedFeatures.of(given, "ill", fewest=10)):
        [warning] = found(fitted.records(given, "people"))
        assert "members are repeated up to the last digits of numbers among the audited" in warning
        assert warning.endswith("the same within 1/20 of their column's deviation.")
    alone = pa.concat_tables([jittered().slice(0, 400), jittered(seed=4).slice(0, 400)])
    assert found(read_records(alone, "ill")) == []


def test_records_that_are_near_by_chance_are_no_repetitions():
    random = np.random.default_rng(6)
    few = pa.table(
        {
            "age": random.integers(18, 90, 2000),
            "hours": np.where(random.random(2000) < 0.5, 40, random.integers(10, 80, 2000)),
            "ill": random.choice(["yes", "no"], 2000),
        }
    )
    assert not any("last digits" in said for said in found(read_records(few, "ill")))
    features = random.normal(size=(4000, 2)).round(3)
    assert found(records_of_arrays(features, np.arange(4000) % 2)) == []


def doubled(rows=400, few=0):
    """Each of the rows twice, the second but for a digit, save for a few."""
    random = np.random.default_rng(5)
    own = np.round(random.normal(50, 10, rows), 6)
    other = own + np.where(np.arange(rows) < few, 0.0, 1e-6)
    ill = random.choice(["yes", "no"], rows)
    numbers = np.concatenate([own, np.round(other, 6)])
    return pa.table({"age": numbers, "sex": ["m", "f"] * rows, "ill": np.tile(ill, 2)})


def test_a_few_exact_repetitions_hide_no_near_ones():
    near, both = (found(read_records(doubled(few=few), "ill"))[0] for few in (0, 40))
    assert "members are repeated up to the last digits of numbers among the audited" in near
    same, more = map(int, re.match(r"(\d+) .* exactly, and (\d+) up to", both).groups())
    assert 0 < same < more
    assert "Of 800 records 760 are different." in both
    assert same + more == int(re.match(r"(\d+) of", near)[1])


def test_rare_texts_are_no_repetitions():
    """All but 200 of the names share one feature."""
    random = np.random.default_rng(3)
    names = [f"name{row}" for row in range(800)]
    sexes, ill = random.choice(["m", "f"], (2, 800))
    records = read_records(pa.table({"name": names, "sex": sexes, "ill": ill}), "ill")
    assert len(np.unique(records.features, axis=0)) < 500
    assert found(records, disjoint=2) == []


def test_a_tossed_label_does_not_follow_from_records_that_stand_there_twice():
    random = np.random.default_rng(3)
    age, weight = np.tile(random.normal(size=(2, 251)), 2)
    ill = np.tile(random.choice(["yes", "no"], 251), 2)
    [warning] = found(read_records(pa.table({"age": age, "weight": weight, "ill": ill}), "ill"))
    assert "leave repetitions out" in warning


def test_a_label_that_follows_from_one_of_many_codes_is_found():
    """200 of 300 codes have a feature of their own."""
    random = np.random.default_rng(2)
    told, code = random.integers(0, 3, 300), random.integers(0, 300, 2400)
    columns = {"x": random.normal(size=2400), "code": [f"C{one}" for one in code]}
    records = read_records(pa.table({**columns, "ill": [f"k{one}" for one in told[code]]}), "ill")
    assert records.encoding[1].width == 201
    [warning] = found(records)
    assert warning.startswith("The label follows from 'code' alone, in 100.0% of cases")


def test_a_label_that_several_bits_tell_together_is_found():
    ill = np.random.default_rng(2).choice(["ill", "well", "dead"], 600)
    bits = {f"is {one}": (ill == one).astype(int) for one in ("ill", "well")}
    x = np.random.default_rng(3).normal(size=600)
    [warning] = found(read_records(pa.table({"x": x, **bits, "label": ill}), "label"))
    assert "follows from 'is ill' and 'is well' together, in 100.0%" in warning
    one_alone = {"x": x, "is ill": bits["is ill"], "label": ill}
    assert found(read_records(pa.table(one_alone), "label")) == []


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


@pytest.mark.nightly
def test_members_of_another_kind_are_told_with_how_well_and_where():
    later = np.arange(400) < 100
    features = RANDOM.normal(size=(400, 3))
    features[later, 1] += 1.0
    records = records_of_arrays(features, np.arange(400) % 2)
    kinds, columns = side_differences(records, sides(records, members=np.flatnonzero(later)))
    assert "distinguish them with an AUC of 0.6" in kinds
    assert columns.startswith(
        "Members and non-members are distributed differently in 'features 1' ("
    )


@pytest.mark.nightly
def test_members_drawn_by_lot_are_of_one_kind():
    records = records_of_arrays(RANDOM.normal(size=(400, 3)), np.arange(400) % 2)
    assert list(side_differences(records, sides(records))) == []


def test_columns_beside_answers_are_compared():
    is_member = np.arange(200) < 100
    city = np.where(is_member, "Rome", "Oslo").astype(object)
    age = (RANDOM.normal(40, 9, 200) + 9 * is_member).round(2).astype(str).astype(object)
    age[7] = ""
    name = RANDOM.permutation([f"n{row}" for row in range(200)]).astype(object)
    [warning] = answer_differences({"city": city, "age": age, "name": name}, ALIKE, is_member)
    assert "differently in 'city' and 'age' (at 5% over 4 columns)" in warning


def test_texts_of_many_values_are_compared_by_their_order():
    days = np.array([f"2020-{1 + row // 40:02}-{1 + row % 28:02} {row}" for row in range(400)])
    [warning] = answer_differences({"day": days.astype(object)}, ALIKE, np.arange(400) < 200)
    assert "differently in 'day'" in warning


@pytest.mark.nightly
def test_labels_that_differ_between_the_sides_are_told():
    is_member = np.arange(200) < 100
    labels = np.where(np.arange(200) % 10 == 0, is_member, ~is_member).astype(int)
    [warning] = answer_differences({}, LabelClasses(labels, ("no", "yes")), is_member)
    assert "differ in their labels (at 5%), most in the class 'no': 90.0% of the members" in warning
    assert "10.0% of the non-members" in warning
    records = records_of_arrays(RANDOM.normal(size=(200, 2)), labels)
    splits = Splits(*map(np.flatnonzero, (is_member, ~is_member)), (), (), (), "")
    [warning] = side_differences(records, splits)
    assert "differ in their labels (at 5% over 3 columns)" in warning


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("members", "others", "columns"),
    [
        *((10, 1000, 1), (30, 1500, 1), (500, 500, 4)),
        pytest.param(30, 1500, 3, marks=pytest.mark.nightly),
    ],
)
def test_columns_of_one_kind_differ_in_one_table_of_twenty(members, others, columns):
    """Of 200 tables with values that few have 10 are expected; 18 or more one time in a hundred."""
    random = np.random.default_rng(6)
    weights = 1 / np.arange(1, 41) ** 1.5
    is_member = np.arange(members + others) < members
    found = 0
    for _ in range(200):
        drawn = random.choice(40, (columns, len(is_member)), p=weights / weights.sum())
        texts = {str(place): one.astype(str) for place, one in enumerate(drawn)}
        found += bool(list(answer_differences(texts, ALIKE, is_member)))
    assert found <= 17


def test_a_rare_value_that_members_alone_have_is_told():
    is_member = np.arange(1530) < 30
    few = np.where(np.arange(1530) < 8, "Oslo", "Rome").astype(object)
    [warning] = answer_differences({"city": few}, ALIKE, is_member)
    assert "differently in 'city'" in warning


def test_an_audit_warns():
    twice = np.concatenate([np.eye(60, 20)] * 2)
    report = run(records_of_arrays(twice, np.arange(120) % 2), attacks=("loss",))
    assert any("leave repetitions out" in one for one in report.warnings)
