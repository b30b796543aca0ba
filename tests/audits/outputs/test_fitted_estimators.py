"""Estimators whose fit is repeated, and leaves of trees as cells."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from policy_engine.audits.outputs.fitted_estimators import check_features, estimator_output
from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.microdata import coded
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.errors import RequestError
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(120, 2))
Y = X @ [1.0, 2.0] + RANDOM.normal(size=120) + 9
WHOLE = X.round()
UNITS = np.arange(120)
COIN = RANDOM.permutation(UNITS % 2)
FEW = np.where(UNITS < 3, 1, 1e-12)


def column(values):
    return coded("outcome", pa.chunked_array([pa.array(values)]))


def reasons(estimator, outcome=None, features=X):
    known = None if outcome is None else column(outcome)
    model = estimator_output(estimator, features, known, UNITS, 10)
    verdict = judge(model.made.table, OutputCheck(profile=PROFILES["sacro"]))
    return {reason for reason in Reason for mask in verdict.reasons.ravel() if mask & reason.bit}


def test_a_linear_model_is_judged_as_a_regression():
    estimator = LinearRegression().fit(X, Y)
    assert reasons(estimator, Y) == set()
    rows = estimator_output(estimator, X, column(Y), UNITS, 10).parts["coefficients"][1]
    assert [row[0] for row in rows] == ["intercept", "0", "1"]
    assert reasons(Ridge(alpha=2.0).fit(X, Y), Y) == set()
    assert reasons(LogisticRegression().fit(X, COIN), COIN) == set()


@pytest.mark.parametrize(
    ("estimator", "outcome"),
    [
        (LinearRegression().fit(X, Y, sample_weight=FEW), Y),
        (LinearRegression().fit(X[:3], Y[:3]), Y),
        (LinearRegression().fit(X, Y), Y[::-1]),
        (LinearRegression().fit(X, Y), None),
        (LogisticRegression(class_weight={0: 1, 1: 2}).fit(X, COIN), COIN),
        (DecisionTreeRegressor(max_depth=1).fit(X, Y, sample_weight=1 + UNITS % 2), Y),
        (DecisionTreeRegressor(max_depth=1, criterion="absolute_error").fit(X, Y), Y),
        (DecisionTreeRegressor(max_depth=1).fit(X, Y), None),
    ],
)
def test_a_fit_that_cannot_be_repeated_is_for_a_person(estimator, outcome):
    assert Reason.NEEDS_CHECKER in reasons(estimator, outcome)


def test_a_class_of_few_and_an_outcome_of_one_are_found():
    rare = np.where(UNITS < 3, 2, COIN)
    assert Reason.IMPLICIT_TABLE in reasons(LogisticRegression().fit(X, rare), rare)
    wealth = np.where(UNITS == 7, 1e9, Y)
    assert Reason.TWO_LARGEST_DOMINATE in reasons(LinearRegression().fit(X, wealth), wealth)


def test_leaves_of_a_tree_are_cells():
    labels = (X[:, 0] + RANDOM.normal(size=120) > 0).astype(int)
    small = DecisionTreeClassifier(max_depth=8, random_state=0).fit(X, labels)
    assert {Reason.FEW_UNITS, Reason.GROUP_DISCLOSURE} <= reasons(small, labels)
    large = DecisionTreeClassifier(max_depth=1, min_samples_leaf=30, random_state=0)
    assert reasons(large.fit(WHOLE, COIN), COIN, WHOLE) == set()


def test_thresholds_between_the_values_of_few_are_for_a_person():
    large = DecisionTreeClassifier(max_depth=1, min_samples_leaf=50, random_state=0).fit(X, COIN)
    assert reasons(large, COIN) == {Reason.NEEDS_CHECKER}


def test_leaves_of_a_regression_show_means():
    tree = DecisionTreeRegressor(max_depth=1, min_samples_leaf=30, random_state=0)
    assert reasons(tree.fit(WHOLE, Y + 90), Y + 90, WHOLE) == set()
    wealth = np.where(UNITS == 7, 1e9, Y + 90)
    assert Reason.TWO_LARGEST_DOMINATE in reasons(tree.fit(X, wealth), wealth)


def test_a_few_of_a_class_in_a_leaf_are_too_few():
    ill = np.where(UNITS < 4, "ill", "well")
    tree = DecisionTreeClassifier(max_depth=1, min_samples_leaf=40, random_state=0).fit(X, ill)
    assert Reason.FEW_UNITS in reasons(tree, ill)


def test_other_estimators_are_judged_by_nobody():
    for other in (KMeans(2, n_init=1, random_state=0).fit(X), LinearSVC().fit(X, COIN)):
        assert estimator_output(other, X, None, UNITS, 10) is None
    assert estimator_output(LinearRegression(), X, None, UNITS, 10) is None


def test_features_are_those_of_the_model():
    with pytest.raises(RequestError, match="2 features"):
        reasons(LinearRegression().fit(X, Y), Y, X[:, :1])
    estimator = LinearRegression().fit(X, Y)
    estimator.feature_names_in_ = np.array(["age", "pay"])
    check_features(estimator, X, ("age", "pay"))
    with pytest.raises(RequestError, match="in this order"):
        check_features(estimator, X, ("pay", "age"))
