"""Results of statsmodels as outputs.

Kinds of models are judged whose estimating equations are known: the outcome less what is predicted,
by the weights of the fit, adds up to zero over each variable. What does not satisfy them, for a
penalty, a constraint or a fit that has not converged, and every other kind is for a person.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.fitted_models import (
    ModelOutput,
    PartTable,
    for_a_person,
    regression_tabulation,
)
from policy_engine.audits.outputs.model import (
    CellEvidence,
    Counts,
    Figures,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.regression_designs import (
    NEGLIGIBLE,
    RegressionDesign,
    counted_units,
)

_LEAST_SQUARES = ("OLS", "WLS", "GLS")
_LIKELIHOODS = ("Logit", "Probit", "Poisson", "GLM")
_CLASSES = ("MNLogit",)
_QUANTILES = ("QuantReg",)
_WHOLE = 1e-9
_ON_LINE = 1e-5
"""Nearer to a quantile's line, in deviations of the outcome, a unit is on it."""


def regression_output(
    result: Any, units: Counts | None, least: int, numbers: Counts | None = None
) -> ModelOutput | None:
    """Return a result of statsmodels as an output: coefficients, and figures of the fit. None where
    it has no variables or no coefficients of them: no rule judges it.

    `units` are the numbers of the units of the rows that it was fitted to, None if that is not
    known; `least` is how many units any figure must be about. `numbers` are those of the rows in
    the data, None where each unit has one row.
    """
    variables, parts = _variables(result), dict(_parts(result))
    parameters = _figures(result, "params")
    if variables is None or parameters is None or "coefficients" not in parts:
        return None
    if parameters.ndim > 1 and len(parameters) != variables.shape[1]:
        return None
    owners = np.arange(len(variables)) if units is None else units
    design = replace(_design(result, variables, owners, least), numbers=numbers)
    is_counted = counted_units(owners, _population_weights(result, design))
    own = _chosen(design, is_counted)
    more = _quantile(result, own)
    is_judged = units is not None and _is_solved(result, design)
    if not is_judged or _kind(result) in _QUANTILES:
        more += (for_a_person(own.unit_count),)
    made = regression_tabulation(own, tuple(parts), more)
    return ModelOutput(parts, made, own.evidence())


def _kind(result: Any) -> str:
    return type(result.model).__name__


def _variables(result: Any) -> Figures | None:
    """Return the explanatory variables, (rows, variables), None where there are none, or not all of
    them are known."""
    variables = getattr(result.model, "exog", None)
    if variables is None:
        return None
    try:
        figures = np.asarray(variables, np.float64)
    except (TypeError, ValueError):
        return None
    figures = figures[:, None] if figures.ndim == 1 else figures
    return figures if figures.size and np.isfinite(figures).all() else None


def _design(result: Any, variables: Figures, units: Counts, least: int) -> RegressionDesign:
    outcome = _outcome(result, len(variables))
    degrees = _figures(result, "df_resid")
    least_degrees = float(len(variables) - variables.shape[1])
    return RegressionDesign(
        variables,
        units,
        least_degrees if degrees is None or degrees.ndim else float(degrees),
        outcome,
        *_weights(result, len(variables)),
        least=least,
        is_classes=_kind(result) in _CLASSES,
        is_perfect=_is_perfect(result, outcome),
    )


def _chosen(design: RegressionDesign, rows: NDArray[np.bool_]) -> RegressionDesign:
    """Return the design of some rows."""
    if rows.all():
        return design
    outcome, weights, response = (
        None if one is None else one[rows]
        for one in (design.outcome, design.weights, design.response)
    )
    return replace(
        design,
        variables=design.variables[rows],
        units=design.units[rows],
        numbers=design.row_numbers[rows],
        outcome=outcome,
        weights=weights,
        response=response,
    )


def _outcome(result: Any, rows: int) -> Figures | None:
    """Return the outcome that a model was fitted to, None for one of several columns or of none."""
    try:
        outcome = np.asarray(getattr(result.model, "endog", ()), np.float64)
    except (TypeError, ValueError):
        return None
    return outcome.ravel() if outcome.size == rows else None


def _weights(result: Any, rows: int) -> tuple[Figures | None, Figures | None]:
    """Return the weights of the rows in the fit, and by which an outcome counts, None for 1."""
    kind, model = _kind(result), result.model
    if kind == "GLS":
        sigma = getattr(model, "sigma", None)
        own_weights = None if sigma is None else 1 / np.asarray(sigma, np.float64)
        return _each(own_weights, rows), _each(own_weights, rows)
    if kind in _LEAST_SQUARES:
        own_weights = np.asarray(getattr(model, "weights", 1.0), np.float64)
        return _each(own_weights, rows), _each(own_weights, rows)
    if kind not in _LIKELIHOODS:
        return None, None
    parameters = np.asarray(result.params, np.float64)
    if kind == "GLM":
        weights = np.abs(np.ravel(model.hessian_factor(parameters, observed=False)))
        slopes = model.family.link.deriv(np.asarray(result.fittedvalues, np.float64))
        return _each(weights, rows), _each(np.abs(weights * np.ravel(slopes)), rows)
    weights = np.abs(np.ravel(model.hessian_factor(parameters)))
    return _each(weights, rows), np.ones(rows)


def _each(weights: Any, rows: int) -> Figures | None:
    if weights is None or np.ndim(weights) == 0:
        return None
    figures = np.nan_to_num(np.asarray(weights, np.float64))
    return figures if figures.shape == (rows,) else None


def _population_weights(result: Any, design: RegressionDesign) -> Figures:
    """Return how much each row counts, whatever is predicted of it, (rows,): by the weights that
    were given, and by exposures."""
    rows, model = len(design.variables), result.model
    weights = np.ones(rows)
    for name in ("freq_weights", "var_weights", "exposure", "offset"):
        own_weights = _each(getattr(model, name, None), rows)
        if own_weights is None:
            continue
        if name in ("exposure", "offset"):
            # Of exposures there is the logarithm; whom it rules out has no weight in the fit.
            own_weights = (
                np.ones(rows)
                if np.ptp(own_weights) == 0 or design.weights is None
                else design.weights
            )
        weights = weights * own_weights
    if _kind(result) in _LEAST_SQUARES and design.weights is not None:
        weights = weights * design.weights
    return weights


def _is_solved(result: Any, design: RegressionDesign) -> bool:
    """Tell whether the coefficients satisfy the estimating equations of their model."""
    kind, model = _kind(result), result.model
    parameters = np.asarray(result.params, np.float64)
    if kind in _QUANTILES:
        return True
    if kind == "GLS" and np.ndim(getattr(model, "sigma", 1.0)) > 1:
        return False
    if design.outcome is None or not _is_known(result):
        return False
    if kind in _LEAST_SQUARES:
        weights = 1.0 if design.weights is None else design.weights
        rests = weights * (design.outcome - design.variables @ parameters)
    elif kind in _LIKELIHOODS:
        rests = np.ravel(model.score_factor(parameters))
    else:
        scores = model.score_obs(parameters.ravel(order="F"))
        return _adds_up(np.asarray(scores, np.float64), np.zeros(1))
    # Of a perfect fit, nothing but what rounding left is there to add up.
    sizes = np.abs(design.outcome) * (1.0 if design.response is None else design.response)
    slack = np.abs(design.variables).T @ sizes
    return _adds_up(design.variables * rests[:, None], _WHOLE * slack)


def _is_known(result: Any) -> bool:
    is_own = type(result.model).__module__.startswith("statsmodels.")
    return is_own and _kind(result) in (*_LEAST_SQUARES, *_LIKELIHOODS, *_CLASSES)


def _adds_up(terms: Figures, slack: Figures) -> bool:
    """Tell whether terms, (rows, variables), add up to nothing, or to no more than a slack."""
    sizes = NEGLIGIBLE * np.abs(terms).sum(axis=0) + slack
    return bool((np.abs(terms.sum(axis=0)) <= sizes).all())


def _is_perfect(result: Any, outcome: Figures | None) -> bool:
    """Tell whether the outcomes are what the model predicts."""
    if _has(result, "rsquared") and float(result.rsquared) > 1 - _WHOLE:
        return True
    try:
        fitted = np.ravel(np.asarray(result.predict(), np.float64))
    except Exception:  # noqa: BLE001 (models differ in what they predict)
        return False
    if outcome is None or fitted.shape != outcome.shape:
        return False
    rest, spread = ((outcome - fitted) ** 2).sum(), ((outcome - outcome.mean()) ** 2).sum()
    return bool(rest <= _WHOLE * spread)


def _quantile(result: Any, design: RegressionDesign) -> tuple[ShownStatistic, ...]:
    """Return the line of a quantile as a percentile, of all and of each group that a variable
    forms: with few beyond it, it is an extreme."""
    if _kind(result) not in _QUANTILES or design.outcome is None:
        return ()
    rests = design.outcome - design.variables @ np.asarray(result.params, np.float64)
    slack = _ON_LINE * float(np.std(design.outcome))
    sides = (rests < -slack, rests > slack)
    below, above = (min(_unit_counts(design, one)) for one in sides)
    evidence = CellEvidence(
        units=np.array([design.unit_count]), below=np.array([below]), above=np.array([above])
    )
    share = float(getattr(result, "q", 0.0))
    return (ShownStatistic(Statbarn.POSITION, evidence, tail=min(share, 1 - share)),)


def _unit_counts(design: RegressionDesign, is_counted: NDArray[np.bool_]) -> Iterator[int]:
    """Yield how many units of all, and of each group of two that a variable forms, are counted."""
    yield len(np.unique(design.units[is_counted]))
    for column in design.variables.T:
        values = np.unique(column)
        if len(values) == 2:
            for value in values:
                yield len(np.unique(design.units[is_counted & (column == value)]))


# -- parts -------------------------------------------------------------------------------------

_COLUMNS = {
    "coefficient": "params",
    "standard error": "bse",
    "statistic": "tvalues",
    "p": "pvalues",
}
_FITS = {
    "observations": "nobs",
    "residual degrees of freedom": "df_resid",
    "R squared": "rsquared",
    "pseudo R squared": "prsquared",
    "F": "fvalue",
    "p of F": "f_pvalue",
    "log-likelihood": "llf",
    "AIC": "aic",
    "BIC": "bic",
}


def _parts(result: Any) -> Iterator[tuple[str, PartTable]]:
    """Yield the tables of a result: coefficients, and figures of the fit, as far as it has them."""
    parameters = _figures(result, "params")
    if parameters is None or not parameters.size:
        return
    head, columns = ["term"], []
    for name, attribute in _COLUMNS.items():
        column = _figures(result, attribute)
        if column is not None and column.shape == parameters.shape:
            head.append(name)
            columns.append(column.ravel(order="F"))
    interval = _interval(result, parameters.size)
    if interval is not None:
        head += ["lower", "upper"]
        columns += [interval[:, 0], interval[:, 1]]
    names = _terms(result, parameters)
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    yield "coefficients", (tuple(head), tuple(rows))
    fits = ((name, _figures(result, one)) for name, one in _FITS.items())
    rows_of_fit = tuple(
        (name, float(value)) for name, value in fits if value is not None and not value.ndim
    )
    yield "fit", (("figure", "value"), rows_of_fit)


def _figures(result: Any, name: str) -> Figures | None:
    """Return figures of a result, None where it has none: some kinds cannot compute all."""
    try:
        value = getattr(result, name)
        return None if value is None else np.asarray(value, np.float64)
    except Exception:  # noqa: BLE001 (what a kind of model cannot compute, it raises of any type)
        return None


def _interval(result: Any, size: int) -> Figures | None:
    """Return the interval of each coefficient, (coefficients, 2), class by class where there are
    several."""
    try:
        interval = np.asarray(result.conf_int(), np.float64)
    except Exception:  # noqa: BLE001 (as above)
        return None
    return (
        interval.reshape(-1, 2) if interval.size == 2 * size and interval.shape[-1] == 2 else None
    )


def _terms(result: Any, parameters: Figures) -> list[str]:
    """Return the name of each coefficient, with its class where there are several."""
    names = [str(name) for name in getattr(result.model, "exog_names", None) or ()]
    if parameters.ndim > 1 and parameters.shape[0] == len(names):
        labels = getattr(result.model, "_ynames_map", {})
        classes = [str(labels.get(one + 1, one + 1)) for one in range(parameters.shape[1])]
        return [f"{one}: {name}" for one in classes for name in names]
    labels = getattr(getattr(result, "params", None), "index", names)
    plain = [str(one) for one in labels]
    is_whole = parameters.ndim == 1 and len(plain) == parameters.size
    return plain if is_whole else [str(place) for place in range(parameters.size)]


def _has(result: Any, name: str) -> bool:
    value = _figures(result, name)
    return value is not None and not value.ndim
