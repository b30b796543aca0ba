"""Regressions and trees that are tables in disguise, and those that are not."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from policy_engine.audits.outputs.fitted_models import (
    MOST_LEVERAGE,
    RegressionDesign,
    estimator_output,
    regression_output,
)
from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(60, 2))
Y = X @ [1.0, 2.0] + RANDOM.normal(size=60)
UNITS = np.arange(60)


def reasons(model):
    verdict = judge(model.made.table, OutputCheck(profile=PROFILES["sacro"]))
    return {reason for reason in Reason for mask in verdict.reasons.ravel() if mask & reason.bit}


def fitted(variables, response=Y, units=UNITS):
    return regression_output(sm.OLS(response, variables).fit(), units, 10)


def test_a_regression_on_quantities_is_released_with_its_evidence():
    model = fitted(sm.add_constant(X))
    assert reasons(model) == set()
    assert model.known["rank"] == 3
    assert model.known["residual degrees of freedom"] == 57
    head, rows = model.parts["coefficients"]
    assert head[:2] == ("term", "coefficient")
    assert rows[1][1] == pytest.approx(1.0, abs=0.5)


def test_a_regression_on_categories_is_a_table():
    dummies = np.column_stack([np.ones(60), np.arange(60) % 2])
    assert reasons(fitted(dummies)) == {Reason.IMPLICIT_TABLE}


def test_a_dummy_for_one_person_gives_that_person_away():
    alone = np.zeros(60)
    alone[17] = 1
    model = fitted(np.column_stack([np.ones(60), X, alone]))
    assert model.known["greatest leverage"] == pytest.approx(1)
    assert Reason.IMPLICIT_TABLE in reasons(model)


def test_a_dummy_for_few_persons_is_a_small_group():
    few = (np.arange(60) < 5).astype(float)
    assert reasons(fitted(np.column_stack([np.ones(60), X, few]))) == {Reason.IMPLICIT_TABLE}


def test_many_rows_of_few_persons_have_few_degrees_of_freedom():
    model = fitted(sm.add_constant(X), units=np.arange(60) % 11)
    assert reasons(model) == {Reason.FEW_DEGREES_OF_FREEDOM}


def test_a_perfect_fit_repeats_the_data():
    assert Reason.IMPLICIT_TABLE in reasons(fitted(sm.add_constant(X), response=X[:, 0]))


def test_a_model_of_rows_that_nobody_knows_is_for_a_person():
    assert Reason.NEEDS_CHECKER in reasons(fitted(sm.add_constant(X), units=None))


def test_leverage_and_rank_are_those_of_the_hat_matrix():
    variables = sm.add_constant(X)
    hat = variables @ np.linalg.pinv(variables)
    design = RegressionDesign(np.column_stack([variables, variables[:, 1]]), UNITS, 57)
    assert (design.rank, design.greatest_leverage) == (3, pytest.approx(np.diag(hat).max()))


def test_a_linear_model_is_judged_as_a_regression():
    model = estimator_output(LinearRegression().fit(X, Y), X, UNITS, 10)
    assert reasons(model) == set()
    assert [row[0] for row in model.parts["coefficients"][1]] == ["intercept", "0", "1"]


def test_leaves_of_a_tree_are_cells():
    labels = (X[:, 0] + RANDOM.normal(size=60) > 0).astype(int)
    small = DecisionTreeClassifier(max_depth=8, random_state=0).fit(X, labels)
    model = estimator_output(small, X, UNITS, 10)
    assert {Reason.FEW_UNITS, Reason.GROUP_DISCLOSURE} <= reasons(model)
    coin = RANDOM.permutation(np.arange(60) % 2)
    large = DecisionTreeClassifier(max_depth=1, min_samples_leaf=25, random_state=0).fit(X, coin)
    assert reasons(estimator_output(large, X, UNITS, 10)) == set()


def test_other_estimators_are_judged_by_nobody():
    clusters = KMeans(2, n_init=1, random_state=0).fit(X)
    assert estimator_output(clusters, X, UNITS, 10) is None


@pytest.mark.parametrize(("cases", "is_few"), [(5, True), (55, True), (25, False)])
@pytest.mark.parametrize("kind", [sm.OLS, sm.Logit, sm.Probit])
def test_an_outcome_of_few_is_a_small_group(kind, cases, is_few):
    outcome = np.zeros(60)
    outcome[np.random.default_rng(4).permutation(60)[:cases]] = 1
    options = {} if kind is sm.OLS else {"disp": False}
    result = kind(outcome, sm.add_constant(X[:, :1])).fit(**options)
    model = regression_output(result, UNITS, 10)
    assert model.known["units in the smallest group"] == min(cases, 60 - cases)
    assert (Reason.IMPLICIT_TABLE in reasons(model)) == is_few


@pytest.mark.parametrize(("size", "is_refused"), [(1e6, True), (30.0, True), (3.0, False)])
def test_a_person_who_makes_up_the_own_fitted_value_is_given_away(size, is_refused):
    wealth = X[:, 0].copy()
    wealth[7] = size
    model = fitted(sm.add_constant(wealth))
    assert (model.known["greatest leverage"] > MOST_LEVERAGE) == is_refused
    assert (Reason.IMPLICIT_TABLE in reasons(model)) == is_refused


def test_leverage_is_that_of_all_rows_of_a_person():
    wealth = X[:, 0].copy()
    wealth[:2] = 40.0
    alone = fitted(sm.add_constant(wealth))
    model = fitted(sm.add_constant(wealth), units=np.maximum(UNITS, 1))
    assert alone.known["greatest leverage"] < MOST_LEVERAGE < model.known["greatest leverage"]
