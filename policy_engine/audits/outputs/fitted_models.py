"""Fitted models as outputs: what their coefficients and their leaves tell of single persons.

Coefficients of a regression on categories alone are a table of means in disguise, whatever they are
called; so are those of a saturated model, of a variable or an outcome that few units have another
value of, and of a unit with a leverage near 1, which its fitted values repeat: classes 9 and 10 of
D. Bond, M. Brandt, P.-P. de Wolf, Guidelines for the checking of output based on microdata
research, Data without Boundaries, deliverable 11.8, 2015.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from policy_engine.audits.outputs.model import (
    CellEvidence,
    Counts,
    Figures,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.tabulating import CellMembers, ShownAggregate, Tabulation
from policy_engine.errors import DataError, PolicyEngineError, RequestError

_WHOLE = 1e-9
MOST_LEVERAGE = 0.9
"""The most that one unit may make up of its own fitted values: with more, they tell its outcome."""
_CATEGORIES = 2
"""A variable with so many values or fewer says who is in a group."""

Figure = int | float | str | bool | None


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """A fitted model: its parts as tables of figures by name, and what is known of it.

    `made` has one row; its measures are the parts, or the leaves of a tree, which are shown
    together or not at all. `known` are figures for the checker.
    """

    parts: Mapping[str, tuple[tuple[str, ...], tuple[tuple[Figure, ...], ...]]]
    made: Tabulation
    known: Mapping[str, Figure] = field(repr=False)


@dataclass(frozen=True, eq=False)
class RegressionDesign:
    """What a regression was fitted to: explanatory variables (rows, variables), the number of each
    row's unit, (rows,), the degrees of freedom of the residuals, and the outcome (rows,), None
    where it is not known."""

    variables: Figures
    units: Counts
    residual_degrees: float
    outcome: Figures | None = None

    @property
    def rank(self) -> int:
        """The rank of the variables."""
        return int(np.linalg.matrix_rank(self.variables)) if self.variables.size else 0

    @property
    def unit_count(self) -> int:
        """How many units there are."""
        return len(np.unique(self.units))

    @property
    def greatest_leverage(self) -> float:
        """How much of its own fitted values one unit makes up, at most: 1 is all.

        Of a unit with several rows it is the greatest eigenvalue of its part of the hat matrix.
        """
        basis, sizes, _ = np.linalg.svd(self.variables, full_matrices=False)
        basis = basis[:, sizes > sizes.max(initial=0) * _WHOLE]
        order = np.argsort(self.units, kind="stable")
        counts = np.unique(self.units, return_counts=True)[1]
        starts = np.cumsum(counts) - counts
        basis = basis[order]
        sums = np.add.reduceat((basis**2).sum(axis=1), starts) if len(starts) else np.zeros(0)
        greatest = float(sums[counts == 1].max(initial=0))
        # Of several rows, the sum of the leverages is a bound: most need not be looked at.
        for unit in np.argsort(-sums).tolist():
            if sums[unit] <= greatest:
                break
            rows = basis[starts[unit] : starts[unit] + counts[unit]]
            greatest = max(greatest, float(np.linalg.norm(rows, 2)) ** 2)
        return greatest

    @property
    def is_of_categories(self) -> bool:
        """Whether all variables have one or two values, or as many patterns as coefficients."""
        few = [len(np.unique(column)) <= _CATEGORIES for column in self.variables.T]
        patterns = len(np.unique(self.variables, axis=0))
        return all(few) or patterns <= self.rank

    @property
    def smallest_group(self) -> int:
        """The fewest units that share a value of a variable, or of the outcome, with two of them:
        what a model predicts of an outcome adds up to how many have it."""
        sizes = [self.unit_count]
        outcomes = [] if self.outcome is None else [self.outcome]
        for column in [*self.variables.T, *outcomes]:
            values = np.unique(column)
            if len(values) == _CATEGORIES:
                sizes += [len(np.unique(self.units[column == value])) for value in values]
        return min(sizes)

    def evidence(self) -> dict[str, Figure]:
        """Return what a checker looks at."""
        return {
            "observations": len(self.variables),
            "units": self.unit_count,
            "variables": self.variables.shape[1],
            "rank": self.rank,
            "residual degrees of freedom": self.residual_degrees,
            "greatest leverage": round(self.greatest_leverage, 6),
            "only categories": self.is_of_categories,
            "units in the smallest group": self.smallest_group,
        }


def is_statsmodels(result: Any) -> bool:
    """Tell whether something is a result of statsmodels with its design."""
    return type(result).__module__.startswith("statsmodels") and hasattr(result, "model")


def is_estimator(result: Any) -> bool:
    """Tell whether something is an estimator of scikit-learn."""
    return type(result).__module__.startswith("sklearn") and hasattr(result, "get_params")


def fit(kind: str, formula: Any, explanatory: Any, frame: Any) -> Any:
    """Return a result of statsmodels: `ols`, `logit` or `probit` of a formula or of arrays.

    Raises DataError (C011) without statsmodels, RequestError (K025) where it cannot be fitted.
    """
    try:
        import statsmodels.api as sm  # noqa: PLC0415 (slow to import)
        import statsmodels.formula.api as smf  # noqa: PLC0415
    except ImportError:
        hint = "pip install 'policy-engine[outputs]'."
        raise DataError.of("C011", "statsmodels is not installed.", hint) from None
    options = {} if kind == "ols" else {"disp": False}
    try:
        if isinstance(formula, str):
            return getattr(smf, kind)(formula, data=frame).fit(**options)
        names = {"ols": "OLS", "logit": "Logit", "probit": "Probit"}
        return getattr(sm, names[kind])(formula, explanatory).fit(**options)
    except Exception as error:  # noqa: BLE001 (whatever a formula makes of the data)
        raise _unfitted(kind, error) from None


def _unfitted(kind: str, error: Exception) -> PolicyEngineError:
    message = f"The model {kind!r} cannot be fitted: {type(error).__name__}."
    return RequestError.of("K025", message, "Do the names of the formula match the data?")


def regression_output(result: Any, units: Counts | None, least: int) -> ModelOutput:
    """Return a result of statsmodels as an output: coefficients, and figures of the fit.

    `units` are the numbers of the units of the rows that it was fitted to, None if that is not
    known; `least` is the threshold for the groups that a variable forms.
    """
    variables = np.atleast_2d(np.asarray(result.model.exog, np.float64))
    design = RegressionDesign(
        variables,
        np.arange(len(variables)) if units is None else units,
        float(getattr(result, "df_resid", np.nan)),
        _outcome(result, len(variables)),
    )
    interval = np.asarray(result.conf_int(), np.float64)
    columns = (
        result.params,
        result.bse,
        result.tvalues,
        result.pvalues,
        interval[:, 0],
        interval[:, 1],
    )
    names = [str(name) for name in result.model.exog_names]
    figures = np.column_stack([np.ravel(np.asarray(one, np.float64)) for one in columns])
    if len(figures) != len(names):
        names = [str(place) for place in range(len(figures))]
    head = ("term", "coefficient", "standard error", "statistic", "p", "lower", "upper")
    terms = tuple((name, *row) for name, row in zip(names, figures.tolist(), strict=True))
    fits = tuple(
        (name, float(getattr(result, one))) for name, one in _FITS.items() if _has(result, one)
    )
    is_perfect = _has(result, "rsquared") and float(result.rsquared) > 1 - _WHOLE
    made = _tabulation(design, least, is_known=units is not None, is_perfect=is_perfect)
    parts = {"coefficients": (head, terms), "fit": (("figure", "value"), fits)}
    return ModelOutput(parts, made, design.evidence())


def _outcome(result: Any, rows: int) -> Figures | None:
    """Return the outcome that a model was fitted to, None for one of several columns or of none."""
    outcome = np.asarray(getattr(result.model, "endog", ()), np.float64)
    return outcome.ravel() if outcome.size == rows else None


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


def _has(result: Any, name: str) -> bool:
    value = getattr(result, name, None)
    return value is not None and np.ndim(value) == 0


def _tabulation(
    design: RegressionDesign, least: int, *, is_known: bool, is_perfect: bool = False
) -> Tabulation:
    degrees = min(design.residual_degrees, design.unit_count - design.rank)
    evidence = CellEvidence(
        units=np.array([design.unit_count]),
        rows=np.array([len(design.variables)]),
        degrees_of_freedom=np.array([degrees], np.float64),
    )
    is_table = (
        design.is_of_categories
        or design.greatest_leverage > MOST_LEVERAGE
        or design.smallest_group < least
        or is_perfect
    )
    statistics = {
        "coefficients": (
            ShownStatistic(Statbarn.CORRELATION_COEFFICIENTS, evidence, is_implicit_table=is_table),
        ),
        "fit": (ShownStatistic(Statbarn.STATISTICAL_HYPOTHESIS_TESTS, evidence),),
    }
    return one_row(statistics, np.unique(design.units), is_known=is_known)


def one_row(
    statistics: Mapping[str, tuple[ShownStatistic, ...]], units: Counts, *, is_known: bool
) -> Tabulation:
    """Return a table of one row that has a measure for each part, about the same units.

    Where it is not known whose rows they are, a person has to decide.
    """
    unknown = ShownStatistic(Statbarn.CLUSTERS, CellEvidence(np.array([len(units)])))
    more = () if is_known else (unknown,)
    table = ResultTable(
        keys=(),
        labels=(),
        codes=np.zeros((1, 0), np.int64),
        measures=tuple(Measure(name, (*some, *more)) for name, some in statistics.items()),
        values=np.full((1, len(statistics)), np.nan),
    )
    members = CellMembers(np.zeros(len(units), np.int64), units)
    names = tuple(ShownAggregate(name, "sum", f"(model {name})") for name in statistics)
    return Tabulation(
        table, np.zeros(1, np.int64), np.array([len(units)]), (members,) * len(statistics), names
    )


# -- scikit-learn ------------------------------------------------------------------------------


def estimator_output(
    estimator: Any, features: Figures, units: Counts, least: int
) -> ModelOutput | None:
    """Return an estimator of scikit-learn as an output, None for one that no rule judges.

    Linear models are judged as regressions, and the leaves of a decision tree as cells.
    """
    if hasattr(estimator, "tree_"):
        return _tree_output(estimator, features, units)
    if hasattr(estimator, "coef_") and hasattr(estimator, "intercept_"):
        return _linear_output(estimator, features, units, least)
    return None


def _linear_output(estimator: Any, features: Figures, units: Counts, least: int) -> ModelOutput:
    names = [str(one) for one in getattr(estimator, "feature_names_in_", range(features.shape[1]))]
    coefficients = np.atleast_2d(np.asarray(estimator.coef_, np.float64))
    intercepts = np.broadcast_to(np.ravel(estimator.intercept_), (len(coefficients),))
    constant = np.ones((len(features), 1))
    variables = (
        np.hstack([constant, features]) if getattr(estimator, "fit_intercept", True) else features
    )
    design = RegressionDesign(variables, units, float(len(features) - variables.shape[1]))
    rows = [("intercept", *intercepts.tolist())]
    rows += [(name, *column) for name, column in zip(names, coefficients.T.tolist(), strict=True)]
    head = ("term", *(f"coefficient {one}" for one in range(len(coefficients))))
    made = _tabulation(design, least, is_known=True)
    return ModelOutput({"coefficients": (head, tuple(rows))}, _first(made), design.evidence())


def _first(made: Tabulation) -> Tabulation:
    table = made.table
    first = ResultTable((), (), table.codes, table.measures[:1], table.values[:, :1])
    return Tabulation(first, made.sets, made.units, made.members[:1], made.aggregates[:1])


def _tree_output(estimator: Any, features: Figures, units: Counts) -> ModelOutput:
    """Return a tree: each leaf is a cell of the units that end in it, of a purity."""
    tree = estimator.tree_
    ends = np.asarray(estimator.apply(features))
    leaves = np.flatnonzero(tree.children_left < 0)
    sizes = np.array([len(np.unique(units[ends == leaf])) for leaf in leaves.tolist()])
    statistics, members = {}, []
    for leaf, size in zip(leaves.tolist(), sizes.tolist(), strict=True):
        evidence = CellEvidence(
            units=np.array([size]),
            rows=np.array([int((ends == leaf).sum())]),
            group_share=_purity(estimator, leaf),
            is_constant=np.array([bool(tree.impurity[leaf] <= 0)]),
        )
        statistics[f"leaf {leaf}"] = (ShownStatistic(Statbarn.FREQUENCIES, evidence),)
        members.append(np.unique(units[ends == leaf]))
    made = one_row(statistics, np.unique(units), is_known=True)
    own = tuple(CellMembers(np.zeros(len(one), np.int64), one) for one in members)
    facts: dict[str, Figure] = {
        "leaves": len(leaves),
        "units in the smallest leaf": int(sizes.min(initial=0)),
        "units": len(np.unique(units)),
    }
    return ModelOutput(
        {"tree": _nodes(tree)},
        Tabulation(made.table, made.sets, made.units, own, made.aggregates),
        facts,
    )


def _purity(estimator: Any, leaf: int) -> Figures | None:
    """Return which share of a leaf has its most common class; None for a regression."""
    if not hasattr(estimator, "classes_"):
        return None
    shares = np.ravel(estimator.tree_.value[leaf])
    return np.array([float(shares.max() / max(shares.sum(), _WHOLE))])


def _nodes(tree: Any) -> tuple[tuple[str, ...], tuple[tuple[Figure, ...], ...]]:
    head = ("node", "left", "right", "feature", "threshold", "value")
    rows = [
        (
            node,
            int(tree.children_left[node]),
            int(tree.children_right[node]),
            int(tree.feature[node]),
            float(tree.threshold[node]),
            " ".join(f"{one:.6g}" for one in np.ravel(tree.value[node]).tolist()),
        )
        for node in range(int(tree.node_count))
    ]
    return head, tuple(rows)
