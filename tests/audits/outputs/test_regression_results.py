"""Regressions that are tables in disguise, rest on few, or are not what they seem."""

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.regression.rolling import RollingOLS

from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.audits.outputs.regression_designs import MOST_LEVERAGE
from policy_engine.audits.outputs.regression_results import regression_output
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


FEW = np.where(UNITS < 3, 1, 1e-12)
QUANTITIES = sm.add_constant(X)
SEEN = np.where(UNITS < 3, 1 + UNITS, 0)
RARE = np.where(UNITS < 3, 50.0 + UNITS, 0.0)
DENSE = np.exp(X[:, 0] / 3 + 5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sm.WLS(Y, QUANTITIES, weights=FEW),
        lambda: sm.GLS(Y, QUANTITIES, sigma=1 / FEW),
        lambda: sm.GLM(Y, QUANTITIES, var_weights=FEW),
        lambda: sm.GLM(Y, QUANTITIES, freq_weights=FEW),
        lambda: sm.GLM(SEEN, QUANTITIES[:, :2], sm.families.Poisson(), exposure=FEW),
        lambda: sm.GLM(SEEN, QUANTITIES[:, :2], sm.families.Poisson(), offset=np.log(FEW)),
    ],
)
def test_persons_without_weight_do_not_count(make):
    model = regression_output(make().fit(), UNITS, 10)
    assert model.known["units"] == 3
    assert {Reason.FEW_UNITS, Reason.IMPLICIT_TABLE} <= reasons(model)
    assert model.made.members[0].units.tolist() == [0, 1, 2]


def test_moderate_weights_are_released():
    result = sm.WLS(Y, QUANTITIES, weights=1 + UNITS % 4).fit()
    assert reasons(regression_output(result, UNITS, 10)) == set()


@pytest.mark.parametrize(("share", "is_few"), [(0.5, False), (0.9999, True), (0.05, True)])
def test_a_line_with_few_beyond_it_is_a_percentile(share, is_few):
    model = regression_output(sm.QuantReg(Y, QUANTITIES).fit(q=share), UNITS, 10)
    assert Reason.NEEDS_CHECKER in reasons(model)
    assert (Reason.FEW_UNITS_BEYOND in reasons(model)) == is_few


def test_a_line_of_each_group_has_enough_beyond_it_in_each():
    few = (UNITS < 12).astype(float)
    model = regression_output(sm.QuantReg(Y, np.column_stack([QUANTITIES, few])).fit(), UNITS, 10)
    assert Reason.FEW_UNITS_BEYOND in reasons(model)


@pytest.mark.parametrize("rare", [RARE, RARE + X[:, 1], np.where(UNITS < 3, 1.0, 1e-9 * UNITS)])
def test_a_coefficient_rests_on_enough_persons(rare):
    model = fitted(np.column_stack([QUANTITIES, rare]))
    assert Reason.IMPLICIT_TABLE in reasons(model)
    assert model.known["information left without few units"] < 1e-3


def test_the_group_that_all_others_are_compared_with_is_not_small():
    groups = np.where(UNITS < 4, 0, 1 + UNITS % 2)
    dummies = (groups[:, None] == [1, 2]).astype(float)
    assert Reason.IMPLICIT_TABLE in reasons(fitted(np.column_stack([QUANTITIES, dummies])))


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (np.where(UNITS == 7, 1e9, DENSE), Reason.TWO_LARGEST_DOMINATE),
        (np.where(UNITS == 7, 1e9, DENSE), Reason.LARGEST_CAN_BE_ESTIMATED),
        (np.where(UNITS < 3, 900.0 + UNITS, 1e-9 * X[:, 1]), Reason.FEW_UNITS),
        (RARE, Reason.IMPLICIT_TABLE),
    ],
)
def test_an_outcome_of_which_few_hold_nearly_all_is_theirs(response, reason):
    assert reason in reasons(fitted(sm.add_constant(X[:, :1]), response=response))
    poisson = sm.GLM(np.abs(response), sm.add_constant(X[:, :1]), sm.families.Gaussian()).fit()
    assert reason in reasons(regression_output(poisson, UNITS, 10))


def test_classes_of_few_are_small_groups():
    classes = np.where(UNITS == 7, 2, UNITS % 2)
    with pytest.warns(Warning, match="converge"):
        rare = sm.MNLogit(classes, QUANTITIES).fit(disp=False, maxiter=5)
    assert Reason.IMPLICIT_TABLE in reasons(regression_output(rare, UNITS, 10))


def test_intervals_of_classes_are_beside_their_coefficients():
    result = sm.MNLogit(UNITS % 3, QUANTITIES).fit(disp=False)
    model = regression_output(result, UNITS, 10)
    assert reasons(model) == set()
    _, rows = model.parts["coefficients"]
    assert [row[0] for row in rows] == [
        f"{one}: {x}" for one in "12" for x in ("const", "x1", "x2")
    ]
    assert all(row[5] < row[1] < row[6] for row in rows)
    assert rows[3][1] == pytest.approx(result.params[0, 1])


@pytest.mark.parametrize(
    "make",
    [
        lambda: sm.OLS(Y, QUANTITIES).fit_regularized(alpha=0.5),
        lambda: sm.GLM(Y, QUANTITIES).fit_constrained("x1=0"),
        lambda: sm.GLM(1e4 * Y + 1e5, QUANTITIES).fit_constrained("x1=0"),
        lambda: sm.OLS(1e4 * Y + 1e5, QUANTITIES).fit_regularized(alpha=500.0),
        lambda: sm.RLM(Y, QUANTITIES).fit(),
        lambda: sm.PHReg(np.abs(Y), X).fit(),
    ],
)
def test_what_is_not_the_solution_of_known_equations_is_for_a_person(make):
    assert reasons(regression_output(make(), UNITS, 10)) == {Reason.NEEDS_CHECKER}


def test_a_result_without_its_data_is_judged_by_nobody():
    result = sm.OLS(Y, QUANTITIES).fit()
    result.remove_data()
    assert regression_output(result, UNITS, 10) is None
    assert regression_output(sm.tsa.AutoReg(Y, 1).fit(), UNITS, 10) is None
    assert regression_output(RollingOLS(Y, QUANTITIES, window=20).fit(), UNITS, 10) is None
