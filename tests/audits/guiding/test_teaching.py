"""What a model that learns from the table itself says of its rows."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.guiding import guide_fitting
from policy_engine.audits.guiding.features import BoostedFeatures
from policy_engine.audits.guiding.teaching import TeacherFitting, folds_of
from policy_engine.engines.readings import record_marks
from policy_engine.errors import DataError
from policy_engine.methods.audits.classifier import Estimator
from policy_engine.methods.guide import Guide

FEATURES = ("x", "c")


def people(rows=400, seed=1):
    """Return a table whose label follows from x, but for a tenth of the rows."""
    random = np.random.default_rng(seed)
    x, c = random.integers(0, 1000, rows), random.integers(0, 4, rows)
    y = (x > 500) ^ (random.random(rows) < 0.1)
    return pa.table({"x": x, "c": [*map(str, c)], "y": [*map(str, y)], "z": x * 1.5 + c})


def targets(table, label="y", features=FEATURES, **settings):
    fitting = guide_fitting(Guide(label=label, **settings), features)
    return fitting.fit(table.select(list(fitting.columns))).targets(table)


def test_a_model_says_what_the_label_follows_from():
    table = people()
    made, x = targets(table)[:, 0], table["x"].to_numpy()
    assert made.min() >= 0
    assert made.max() <= 10_000
    assert ((made > 5_000) == (x > 500)).mean() > 0.9


@pytest.mark.nightly
def test_rows_are_predicted_by_models_that_did_not_see_them():
    # Labels are random: models that had seen them would tell many of them.
    random, table = np.random.default_rng(0), people()
    labels = random.random(400) < 0.5
    noise = table.set_column(2, "y", [[*map(str, labels)]])
    soft = ((targets(noise)[:, 0] > 5_000) == labels).mean()
    seen = (targets(noise, labels="hard")[:, 0] > 0) == labels
    assert soft < 0.62 < seen.mean()


@pytest.mark.nightly
def test_rows_with_equal_features_are_in_one_fold_and_have_equal_targets():
    table = people()
    double = pa.concat_tables([table, table.set_column(2, "y", [["True"] * 400])])
    made = targets(double)[:, 0]
    assert np.array_equal(made[:400], made[400:])
    folds = folds_of(record_marks(table, FEATURES))
    assert np.bincount(folds, minlength=5).min() > 50


def test_rows_that_occur_several_times_are_learnt_from_as_often():
    table, times = people(100), np.arange(100) % 3
    whole, fitting = table.take(pa.array(np.repeat(np.arange(100), times))), TeacherFitting
    once = fitting(Guide(label="y"), FEATURES).fit(table, times).targets(table)
    assert np.array_equal(once, fitting(Guide(label="y"), FEATURES).fit(whole).targets(table))


NETWORK = Estimator(name="MLPClassifier")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "settings", [{}, {"labels": "hard"}, {"label": "z"}, {"architecture": NETWORK}]
)
def test_targets_do_not_depend_on_the_order_of_rows(settings):
    table, order = people(), np.random.default_rng(2).permutation(400)
    whole = targets(table, **settings)
    assert np.array_equal(targets(table.take(order), **settings), whole[order])


def test_quantities_are_predicted_as_numbers():
    table = people()
    made, z = targets(table, "z")[:, 0], table["z"].to_numpy()
    assert np.corrcoef(made, z)[0, 1] > 0.98
    assert 5_000 < made.std() < 15_000


def test_hard_labels_are_the_classes_of_one_model():
    made = targets(people(), labels="hard")
    assert set(made[:, 0].tolist()) == {0, 10_000}


@pytest.mark.nightly
def test_several_classes_have_a_target_each():
    assert targets(people(), "c", ("x",)).shape == (400, 4)
    hard = targets(people(), "c", ("x",), labels="hard")
    assert set(hard.sum(axis=1).tolist()) == {10_000}


def test_a_described_model_guides_as_well():
    architecture = Estimator(name="LogisticRegression")
    table = people()
    made, x = targets(table, architecture=architecture)[:, 0], table["x"].to_numpy()
    assert ((made > 5_000) == (x > 500)).mean() > 0.85


def test_a_label_that_all_rows_have_teaches_nothing():
    table = people().set_column(2, "y", [["yes"] * 400])
    assert set(targets(table)[:, 0].tolist()) == {0}


def test_a_rare_class_is_refused_by_its_number_and_never_by_its_name():
    table = people().set_column(2, "y", [["secret"] * 3 + ["no"] * 197 + ["yes"] * 200])
    with pytest.raises(DataError) as caught:
        targets(table)
    [problem] = caught.value.problems
    assert problem.code == "R018"
    assert "1 of the 3 classes of 'y' has fewer than 5 rows, the rarest 3 rows" in problem.message
    assert "secret" not in f"{problem.message}{problem.hint}"
    assert targets(table, labels="hard").shape == (400, 3)


def test_a_classifier_is_refused_for_quantities():
    with pytest.raises(DataError, match="the guide is a classifier"):
        targets(people(), "z", architecture=Estimator(name="GaussianNB"))


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(DataError, match="no column to predict 'y' from"):
        targets(people(), features=())


def test_scikit_learn_is_asked_for_where_it_is_not_installed(monkeypatch):
    monkeypatch.setattr(
        "policy_engine.audits.membership.learners.scikit.find_spec", lambda _name: None
    )
    with pytest.raises(DataError, match="scikit-learn is not installed"):
        targets(people())


def test_missing_numbers_and_rare_categories_are_features():
    texts = [None, *["a"] * 3, *[f"v{number}" for number in range(300)]]
    table = pa.table({"n": [None, *range(303)], "t": texts, "d": ["2020-01-01", *[None] * 303]})
    fitted = BoostedFeatures.fit(table, ("n", "t", "d"))
    features = fitted.apply(table)
    assert fitted.are_categories == [False, True, False]
    assert np.isnan(features[0, :2]).all()
    assert features[1, 1] == 0  # the most frequent
    assert np.nanmax(features[:, 1]) == 254  # all but the 254 most frequent
    assert np.isnan(features[1:, 2]).all()


def test_a_model_learns_from_a_share_of_many_rows(monkeypatch):
    monkeypatch.setattr("policy_engine.audits.guiding.teaching.MOST_ROWS", 150)
    table = people()
    made, x = targets(table)[:, 0], table["x"].to_numpy()
    assert len(made) == 400
    assert ((made > 5_000) == (x > 500)).mean() > 0.8


def test_what_is_learnt_from_is_the_features_and_the_label():
    assert TeacherFitting(Guide(label="y"), FEATURES).columns == ("x", "c", "y")
