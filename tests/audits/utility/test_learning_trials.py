"""Models that learn a label from a release: how right they are, and what an attack reaches."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.utility.learning_trials import LearningTrial, RowSplit
from policy_engine.data.cells import MISSING
from policy_engine.errors import DataError, PlanError
from policy_engine.methods.audits.classifier import Estimator

ROWS = 200


def table(**columns):
    """Return people of whom the old ones buy."""
    age = np.arange(ROWS) % 100
    own = {"age": age, "city": np.where(age % 2, "Oslo", "Rome")}
    own["buys"] = np.where(age >= 50, "yes", "no")
    return pa.table({**own, **columns})


def trial(rows=None, **parts):
    return LearningTrial(table() if rows is None else rows, ("age", "city"), "buys", **parts)


def test_a_fifth_of_every_class_is_tested_and_no_row_twice():
    splits = list(trial().splits(3))
    for learnt, tested in splits:
        assert len(tested) == ROWS // 5
        assert sorted([*learnt, *tested]) == list(range(ROWS))
        assert table().take(pa.array(tested)).column("buys").to_pylist().count("yes") == ROWS // 10
    assert len({tuple(one.tested) for one in splits}) == 3
    again = list(trial().splits(3))
    assert all(np.array_equal(a.tested, b.tested) for a, b in zip(splits, again, strict=True))


def test_rows_of_one_person_are_on_one_side():
    person = np.arange(ROWS) // 4
    for learnt, tested in trial(table(person=person), unit="person").splits(3):
        assert not set(person[learnt]) & set(person[tested])
        assert len(tested) == ROWS // 5


def test_a_model_of_the_rows_as_they_are_is_right_where_the_label_follows():
    own = trial()
    [split] = own.splits(1)
    assert own.original_figures(split).right.mean() == 1
    assert own.guessed(split) == 0.5


def test_a_model_of_a_release_knows_what_the_release_has_alone():
    own = trial()
    [split] = own.splits(1)
    rows = table().take(pa.array(split.learnt))
    blank = rows.set_column(0, "age", pa.array(["50"] * len(rows)))
    assert own.figures(split, blank, ("age", "city")).right.mean() < 0.7
    cells = pa.array([f"{age}{MISSING}" for age in rows.column("age").to_pylist()])
    told = rows.set_column(0, "age", cells)
    assert own.figures(split, told, ("age", "city")).right.mean() == 1


def test_a_column_without_a_value_is_learnt_from_as_any():
    own = trial(table(city=pa.nulls(ROWS, pa.string()), age=pa.nulls(ROWS, pa.int64())))
    [split] = own.splits(1)
    assert own.original_figures(split).right.mean() == 0.5


def test_a_described_model_learns_too():
    own = trial(architecture=Estimator(name="DecisionTreeClassifier"))
    [split] = own.splits(1)
    assert own.original_figures(split).right.mean() == 1


def test_members_are_told_where_a_model_learns_them_by_heart():
    # Labels that follow from nothing: a tree is sure of those that it has seen.
    random = np.random.default_rng(0)
    rows = table(buys=random.choice(["no", "yes"], ROWS), age=random.random(ROWS))
    own = trial(rows, architecture=Estimator(name="DecisionTreeClassifier"))
    [split] = own.splits(1)
    assert own.original_figures(split).auc.value > 0.65


def test_quantities_are_measured_by_the_variance_that_is_predicted():
    own = trial(table(buys=np.arange(ROWS) % 100 * 1.5))
    assert own.measure == "R2"
    [split] = own.splits(1)
    assert own.original_figures(split).right.mean() > 0.99
    assert own.guessed(split) == pytest.approx(0, abs=0.1)


def test_a_class_that_no_learnt_row_has_is_told_wrong():
    own = trial(table(buys=["rare"] * 4 + ["no"] * 98 + ["yes"] * 98))
    split = RowSplit(np.arange(4, ROWS), np.arange(4))
    assert own.original_figures(split).right.mean() == 0
    described = trial(own.table, architecture=Estimator(name="DecisionTreeClassifier"))
    assert described.original_figures(split).right.mean() == 0


@pytest.mark.parametrize(
    ("rows", "architecture", "error", "code"),
    [
        (table(buys=["no"] * ROWS), None, DataError, "R017"),
        (table(buys=["no"] * (ROWS - 1) + [None]), None, DataError, "R017"),
        (table().slice(45, 10), None, DataError, "R018"),
        (table(buys=np.arange(ROWS) * 1.5), Estimator(name="GaussianNB"), PlanError, "M004"),
    ],
)
def test_what_cannot_be_learnt_is_refused(rows, architecture, error, code):
    with pytest.raises(error, match=code):
        trial(rows, architecture=architecture).check()
