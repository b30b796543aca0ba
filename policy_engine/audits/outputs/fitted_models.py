"""Fitted models as outputs: their parts, shown together or not at all, and whom they are about."""

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
from policy_engine.audits.outputs.regression_designs import (
    Figure,
    RegressionDesign,
    effective_count,
)
from policy_engine.audits.outputs.tabulating import CellMembers, ShownAggregate, Tabulation
from policy_engine.errors import DataError, PolicyEngineError, RequestError

PartTable = tuple[tuple[str, ...], tuple[tuple[Figure, ...], ...]]


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """A fitted model: its parts as tables of figures by name, and what is known of it.

    `made` has one row; its measures are the parts, or the leaves of a tree, which are shown
    together or not at all. `known` are figures for the checker.
    """

    parts: Mapping[str, PartTable]
    made: Tabulation
    known: Mapping[str, Figure] = field(repr=False)


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
            return getattr(smf, kind)(formula, data=_prepared(formula, frame)).fit(**options)
        names = {"ols": "OLS", "logit": "Logit", "probit": "Probit"}
        return getattr(sm, names[kind])(formula, explanatory).fit(**options)
    except Exception as error:  # noqa: BLE001 (whatever a formula makes of the data)
        raise _unfitted(kind, error) from None


def _prepared(formula: str, frame: Any) -> Any:
    """Return a frame for a formula: without the categories that no row has, as R's `lm` does, for a
    variable of nobody would make the matrix of a model singular; and with 1 and 0 for an outcome of
    yes and no, which a formula would make two columns of."""
    outcome = formula.partition("~")[0].strip()
    if outcome in frame.columns and frame[outcome].dtype.kind == "b":
        frame = frame.assign(**{outcome: frame[outcome].astype(int)})
    names = [name for name in frame.columns if hasattr(frame[name], "cat")]
    return frame.assign(**{name: frame[name].cat.remove_unused_categories() for name in names})


def _unfitted(kind: str, error: Exception) -> PolicyEngineError:
    message = f"The model {kind!r} cannot be fitted: {type(error).__name__}."
    return RequestError.of("K025", message, "Do the names of the formula match the data?")


def regression_tabulation(
    design: RegressionDesign, parts: tuple[str, ...], more: tuple[ShownStatistic, ...] = ()
) -> Tabulation:
    """Return a regression as a table of one row: what the rules must know of each of its parts, the
    coefficients and the figures of the fit; `more` is what else they show."""
    degrees = np.array([design.degrees_of_freedom], np.float64)
    evidence = CellEvidence(
        units=np.array([design.unit_count]),
        rows=np.array([len(design.variables)]),
        degrees_of_freedom=degrees,
    )
    sums = tuple(_contributed(one, degrees) for one in _worst(list(design.contributions())))
    statistics = {
        "coefficients": (
            ShownStatistic(
                Statbarn.CORRELATION_COEFFICIENTS, evidence, is_implicit_table=design.is_table
            ),
            *(*sums, *more),
        ),
        "fit": (ShownStatistic(Statbarn.STATISTICAL_HYPOTHESIS_TESTS, evidence), *sums, *more),
    }
    own_parts = {name: some for name, some in statistics.items() if name in parts}
    return one_row(own_parts, design.units, design.row_numbers)


def _worst(contributions: list[Figures]) -> list[Figures]:
    """Return what is contributed to the coefficients that rest on the fewest, and of which one unit
    or two hold most: what holds for these holds for the others."""
    if not contributions:
        return []
    ordered = [np.sort(np.append(one, [0.0, 0.0])) for one in contributions]
    totals = [max(float(one.sum()), np.finfo(float).tiny) for one in ordered]
    measures = (
        [float(-effective_count(one)) for one in contributions],
        [float(one[-1]) / total for one, total in zip(ordered, totals, strict=True)],
        [float(one[-2:].sum()) / total for one, total in zip(ordered, totals, strict=True)],
    )
    places = {int(np.argmax(one)) for one in measures}
    return [contributions[place] for place in sorted(places)]


def _contributed(sizes: Figures, degrees: Figures) -> ShownStatistic:
    """Return a coefficient as the sum of what units contribute to it: its weights differ in sign,
    so that the rules for spreads hold, by absolute value."""
    ordered = np.sort(np.append(sizes, [0.0, 0.0]))
    evidence = CellEvidence(
        units=np.array([effective_count(sizes)]),
        largest=ordered[-1:],
        second=ordered[-2:-1],
        total=np.array([sizes.sum()]),
        negatives=np.zeros(1, np.int64),
        degrees_of_freedom=degrees,
    )
    return ShownStatistic(Statbarn.SHAPE, evidence)


def one_row(
    statistics: Mapping[str, tuple[ShownStatistic, ...]], units: Counts, numbers: Counts
) -> Tabulation:
    """Return a table of one row that has a measure for each part, about the same rows of the data,
    by their units and their numbers."""
    table = ResultTable(
        keys=(),
        labels=(),
        codes=np.zeros((1, 0), np.int64),
        measures=tuple(Measure(name, some) for name, some in statistics.items()),
        values=np.full((1, len(statistics)), np.nan),
    )
    members = CellMembers(np.zeros(len(units), np.int64), units, numbers)
    names = tuple(ShownAggregate(name, "sum", f"(model {name})") for name in statistics)
    return Tabulation(
        table,
        np.zeros(1, np.int64),
        np.array([len(np.unique(units))]),
        (members,) * len(statistics),
        names,
        members,
        numbers,
    )


def for_a_person(units: int) -> ShownStatistic:
    """Return what no rule judges, so that a person has to decide."""
    return ShownStatistic(Statbarn.OTHER, CellEvidence(np.array([units])))
