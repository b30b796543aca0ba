"""Models as outputs: what they are taken for, and which contributions they are judged by."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression

from policy_engine.audits.outputs.fitted_models import (
    fit,
    is_estimator,
    is_statsmodels,
    regression_tabulation,
)
from policy_engine.audits.outputs.model import Statbarn
from policy_engine.audits.outputs.regression_designs import RegressionDesign
from policy_engine.errors import RequestError

X = np.column_stack([np.ones(40), np.arange(40.0)])


def test_results_and_estimators_are_told_apart():
    result = sm.OLS(X[:, 1] ** 2, X).fit()
    assert (is_statsmodels(result), is_estimator(result)) == (True, False)
    assert (is_statsmodels(LinearRegression()), is_estimator(LinearRegression())) == (False, True)


def test_what_cannot_be_fitted_is_refused():
    assert fit("ols", X[:, 1] ** 2, X, None).params.shape == (2,)
    with pytest.raises(RequestError, match="K025"):
        fit("logit", X[:, 1], X, None)


def test_the_coefficients_that_rest_on_the_fewest_are_judged():
    outcome = np.where(np.arange(40) == 20, 1e6, X[:, 1] + 3)
    design = RegressionDesign(X, np.arange(40), 38, outcome, least=10)
    made = regression_tabulation(design, ("coefficients", "fit"))
    assert [one.name for one in made.table.measures] == ["coefficients", "fit"]
    sums = [s for s in made.table.measures[0].statistics if s.statbarn is Statbarn.SHAPE]
    assert min(float(s.evidence.units[0]) for s in sums) < 10
    assert max(float(s.evidence.largest[0] / s.evidence.total[0]) for s in sums) > 0.99
