"""Whose rows the models are of that sessions are handed."""

from typing import Any

import numpy as np

from policy_engine.audits.outputs.fitted_estimators import check_features
from policy_engine.audits.outputs.microdata import (
    CodedColumn,
    Microdata,
    OwnedRows,
    coded,
    feature_matrix,
)
from policy_engine.audits.outputs.model import Figures
from policy_engine.errors import DataError


def result_rows(result: Any, data: Microdata | None) -> OwnedRows | None:
    """Return the rows of the data that a result of statsmodels is of, None where nothing says so.

    Raises RequestError (K025) where its columns have the values of other rows.
    """
    model = result.model
    variables = np.asarray(getattr(model, "exog", None))
    if data is None or variables.ndim == 0:
        return None
    labels = getattr(getattr(model, "data", None), "row_labels", None)
    places = data.places(labels, len(variables), _result_columns(model, variables))
    return None if places is None else data.owned(places)


def _result_columns(model: Any, variables: Any) -> dict[str, Any]:
    """Return the columns of a model by their names: numbers, as it was fitted to them."""
    names = [str(name) for name in getattr(model, "exog_names", None) or ()]
    columns = dict(zip(names, variables.T, strict=False)) if variables.ndim > 1 else {}
    outcome = np.asarray(getattr(model, "endog", ()))
    name = getattr(model, "endog_names", None)
    if isinstance(name, str) and outcome.shape == (len(variables),):
        columns.setdefault(name, outcome)
    return columns


def fitted_rows(
    estimator: Any, features: Any, outcome: Any, rows: Microdata
) -> tuple[Figures, CodedColumn | None, OwnedRows]:
    """Return the features and the outcome that an estimator was fitted to, and of which rows they
    are.

    Raises RequestError (K025) for other features than it has, or rows that are not the data's, and
    DataError (C009) for features that are not numbers or have missing values.
    """
    matrix = feature_matrix(features)
    names = () if not hasattr(features, "columns") else tuple(map(str, features.columns))
    check_features(estimator, matrix, names)
    places = rows.located(features)
    if outcome is None:
        return matrix, None, rows.owned(places)
    own = rows.choose([outcome])
    column = coded(*own.columns[0])
    if isinstance(outcome, str):
        column = CodedColumn(column.name, column.codes[places], column.labels)
    elif not np.array_equal(rows.located(outcome), places):
        raise DataError.of("C009", "The features and the outcome are not of the same rows.")
    if (column.codes < 0).any():
        raise DataError.of("C009", "The outcome has missing values.")
    return matrix, column, rows.owned(places)
