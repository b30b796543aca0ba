"""Whose rows models are of that a session is handed."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression

from policy_engine.audits.outputs.microdata import Microdata
from policy_engine.audits.outputs.model_rows import fitted_rows, result_rows
from policy_engine.errors import PolicyEngineError

FRAME = pd.DataFrame({"age": np.arange(20.0, 50), "pay": np.arange(30.0) ** 2})
DATA = Microdata.of(FRAME)


def result(frame):
    return sm.OLS(frame.pay, sm.add_constant(frame[["age"]])).fit()


def test_a_result_is_of_the_rows_of_its_labels():
    assert result_rows(result(FRAME), DATA).units.tolist() == list(range(30))
    assert result_rows(result(FRAME[5:]), DATA).numbers.tolist() == list(range(5, 30))
    assert result_rows(result(FRAME), None) is None
    arrays = sm.OLS(FRAME.pay.to_numpy()[3:], np.ones(27)).fit()
    assert result_rows(arrays, DATA) is None


def test_a_result_with_the_labels_of_other_rows_is_refused():
    with pytest.raises(PolicyEngineError, match="K025"):
        result_rows(result(FRAME[5:].reset_index(drop=True)), DATA)


def test_an_estimator_is_of_the_rows_of_its_features_and_outcome():
    part = FRAME[5:]
    model = LinearRegression().fit(part[["age"]], part.pay)
    for outcome in ("pay", part.pay):
        matrix, column, own = fitted_rows(model, part[["age"]], outcome, DATA)
        assert (matrix.shape, len(column.codes), own.units.tolist()) == (
            (25, 1),
            25,
            list(range(5, 30)),
        )
    assert fitted_rows(model, part.age, None, DATA)[1] is None


@pytest.mark.parametrize(
    ("features", "outcome", "code"),
    [
        (FRAME[["age", "pay"]], None, "K025"),
        (FRAME[["pay"]], None, "K025"),
        (FRAME[["age"]], FRAME.pay[3:], "C009"),
        (FRAME[["age"]].where(FRAME.age > 30), None, "C009"),
        ("age", None, "C009"),
    ],
)
def test_other_features_than_those_of_the_model_are_refused(features, outcome, code):
    model = LinearRegression().fit(FRAME[["age"]], FRAME.pay)
    with pytest.raises(PolicyEngineError, match=code):
        fitted_rows(model, features, outcome, DATA)
