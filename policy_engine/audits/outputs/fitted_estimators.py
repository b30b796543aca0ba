"""Estimators of scikit-learn as outputs.

They do not tell what they were fitted to, nor with which weights. So the fit is repeated: what is
not what the features and the outcome give, each row with the same weight, is for a person.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.fitted_models import (
    ModelOutput,
    for_a_person,
    one_row,
    regression_tabulation,
)
from policy_engine.audits.outputs.microdata import CodedColumn, OwnedRows
from policy_engine.audits.outputs.model import CellEvidence, Counts, Figures, ShownStatistic
from policy_engine.audits.outputs.regression_designs import Figure, RegressionDesign
from policy_engine.audits.outputs.tabulating import (
    CellMembers,
    ShownAggregate,
    TableRows,
    Tabulation,
    tabulate,
)
from policy_engine.errors import RequestError

_LINEAR = ("LinearRegression", "Ridge", "Lasso", "ElasticNet", "LogisticRegression")
_TREES = ("DecisionTreeClassifier", "DecisionTreeRegressor")
_MEANS = ("squared_error", "friedman_mse", "poisson")
"""The criteria by which the leaves of a tree show means."""
_CLOSE = 1e-5
_WHOLE = 1e-9


def estimator_output(
    estimator: Any,
    features: Figures,
    outcome: CodedColumn | None,
    units: Counts,
    least: int,
    numbers: Counts | None = None,
) -> ModelOutput | None:
    """Return an estimator of scikit-learn as an output, None for one that no rule judges.

    Linear models are judged as regressions, and the leaves of a decision tree as cells of a table.
    `outcome` is None where it is not known, and `numbers`, those of the rows in the data, where
    each unit has one row.

    Raises RequestError (K025) for other features than it was fitted to.
    """
    kind, rows = type(estimator).__name__, OwnedRows(units, numbers)
    if kind in _LINEAR and hasattr(estimator, "coef_"):
        check_features(estimator, features)
        return _linear_output(estimator, features, outcome, rows, least)
    if kind in _TREES and hasattr(estimator, "tree_"):
        check_features(estimator, features)
        return _tree_output(estimator, features, outcome, rows, least)
    return None


def check_features(estimator: Any, features: Figures, names: tuple[str, ...] = ()) -> None:
    """Check that features are those that an estimator was fitted to, by their number and names.

    Raises RequestError (K025).
    """
    count = getattr(estimator, "n_features_in_", features.shape[1])
    if count != features.shape[1]:
        message = f"The model was fitted to {count} features. Given are {features.shape[1]}."
        raise RequestError.of("K025", message, "Give the features that it was fitted to.")
    own = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
    if own and names and own != names:
        message = f"The model was fitted to the features {', '.join(own)}, in this order. "
        message += f"Given are {', '.join(names)}."
        raise RequestError.of("K025", message, "Give the features that it was fitted to.")


def _labels(outcome: CodedColumn) -> Any:
    return np.asarray(outcome.labels)[outcome.codes]


def _linear_output(
    estimator: Any, features: Figures, outcome: CodedColumn | None, rows: OwnedRows, least: int
) -> ModelOutput:
    constant = np.ones((len(features), 1))
    has_constant = bool(getattr(estimator, "fit_intercept", True))
    variables = np.hstack([constant, features]) if has_constant else features
    is_classes = hasattr(estimator, "classes_")
    response = _response(outcome, is_classes=is_classes)
    is_repeated = outcome is not None and _is_repeated(estimator, features, _labels(outcome))
    design = RegressionDesign(
        variables,
        rows.units,
        float(len(features) - variables.shape[1]),
        response,
        least=least,
        is_classes=is_classes,
        is_perfect=is_repeated and not is_classes and _is_perfect(estimator, features, response),
        numbers=rows.numbers,
    )
    more = () if is_repeated else (for_a_person(design.unit_count),)
    made = regression_tabulation(design, ("coefficients",), more)
    return ModelOutput({"coefficients": _coefficients(estimator)}, made, design.evidence())


def _response(outcome: CodedColumn | None, *, is_classes: bool) -> Figures | None:
    """Return an outcome as numbers, those of classes by their order."""
    if outcome is None:
        return None
    if is_classes:
        return outcome.codes.astype(np.float64)
    try:
        return np.asarray(_labels(outcome), np.float64)
    except (TypeError, ValueError):
        return None


def _is_repeated(estimator: Any, features: Figures, outcome: Any) -> bool:
    """Tell whether the same fit to features and an outcome, without weights, gives an estimator."""
    if getattr(estimator, "class_weight", None) is not None:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = type(estimator)(**estimator.get_params(deep=False)).fit(features, outcome)
    except (TypeError, ValueError):
        return False
    own_classes, other_classes = (getattr(one, "classes_", ()) for one in (estimator, again))
    return np.array_equal(own_classes, other_classes) and all(
        _are_close(np.asarray(getattr(estimator, name)), np.asarray(getattr(again, name)))
        for name in ("coef_", "intercept_")
    )


def _is_perfect(estimator: Any, features: Figures, outcome: Figures | None) -> bool:
    if outcome is None:
        return False
    rests = outcome - np.ravel(features @ np.ravel(estimator.coef_) + estimator.intercept_)
    return bool((rests**2).sum() <= _WHOLE * ((outcome - outcome.mean()) ** 2).sum())


def _coefficients(estimator: Any) -> tuple[tuple[str, ...], tuple[tuple[Figure, ...], ...]]:
    coefficients = np.atleast_2d(np.asarray(estimator.coef_, np.float64))
    names = getattr(estimator, "feature_names_in_", range(coefficients.shape[1]))
    intercepts = np.broadcast_to(np.ravel(estimator.intercept_), (len(coefficients),))
    rows = [("intercept", *intercepts.tolist())]
    columns = coefficients.T.tolist()
    rows += [(str(name), *column) for name, column in zip(names, columns, strict=True)]
    classes = list(getattr(estimator, "classes_", ()))
    labels = classes if len(classes) == len(coefficients) else range(len(coefficients))
    return ("term", *(f"coefficient {one}" for one in labels)), tuple(rows)


# -- trees -------------------------------------------------------------------------------------


def _as_in_trees(features: Figures) -> Any:
    """Return features in the precision of trees. These do not ask for names, which were compared
    already."""
    return np.ascontiguousarray(features, np.float32)


def _tree_output(
    estimator: Any, features: Figures, outcome: CodedColumn | None, rows: OwnedRows, least: int
) -> ModelOutput:
    """Return a tree: each leaf is a cell, of a count of each class or of a mean."""
    leaves, ends = np.unique(
        np.asarray(estimator.tree_.apply(_as_in_trees(features))), return_inverse=True
    )
    ends = ends.ravel()
    table = None if outcome is None else _leaf_table(estimator, ends, leaves, outcome, rows.units)
    members = [_leaf_members(ends == place, rows) for place in range(len(leaves))]
    sizes = [len(np.unique(one.units)) for one in members]
    statistics: dict[str, tuple[ShownStatistic, ...]] = {}
    for place, leaf in enumerate(leaves.tolist()):
        cells = () if table is None else _cells(table, place)
        statistics[f"leaf {leaf}"] = cells or (for_a_person(sizes[place]),)
    if not _are_common_thresholds(estimator, features, rows, least):
        statistics = {name: (*some, for_a_person(sizes[0])) for name, some in statistics.items()}
    made = one_row(statistics, rows.units, rows.row_numbers)
    facts: dict[str, Figure] = {
        "leaves": len(leaves),
        "units in the smallest leaf": min(sizes, default=0),
        "units": len(np.unique(rows.units)),
    }
    return ModelOutput(
        {"tree": _nodes(estimator.tree_)},
        replace(made, members=tuple(members)),
        facts,
    )


def _are_common_thresholds(estimator: Any, features: Figures, rows: OwnedRows, least: int) -> bool:
    """Return whether enough units have each of the two values that a threshold lies halfway
    between: otherwise it tells them, as a median would."""
    tree, paths = estimator.tree_, estimator.tree_.decision_path(_as_in_trees(features))
    for node in np.flatnonzero(tree.children_left >= 0).tolist():
        is_in = np.asarray(paths[:, [node]].todense(), np.bool_).ravel()
        values, units = features[is_in, tree.feature[node]], rows.units[is_in]
        is_low = values <= tree.threshold[node]
        if is_low.all() or not is_low.any():
            return False
        for value in (values[is_low].max(), values[~is_low].min()):
            if len(np.unique(units[values == value])) < least:
                return False
    return True


def _leaf_members(is_in: NDArray[np.bool_], rows: OwnedRows) -> CellMembers:
    places = np.zeros(int(is_in.sum()), np.int64)
    return CellMembers(places, rows.units[is_in], rows.row_numbers[is_in])


def _leaf_table(
    estimator: Any, ends: Counts, leaves: Counts, outcome: CodedColumn, units: Counts
) -> Tabulation | None:
    """Return what a tree shows as a table by its leaves, None if it was not fitted to the rows."""
    tree = estimator.tree_
    rows = np.bincount(ends, minlength=len(leaves))
    if len(leaves) != int((tree.children_left < 0).sum()) or not all(
        np.array_equal(sizes[leaves], rows)
        for sizes in (tree.n_node_samples, tree.weighted_n_node_samples)
    ):
        return None
    key = CodedColumn("leaf", ends, tuple(range(len(leaves))))
    is_classes = hasattr(estimator, "classes_")
    if is_classes and list(estimator.classes_) != list(outcome.labels):
        return None
    if not is_classes and estimator.criterion not in _MEANS:
        return None
    made = (_class_table if is_classes else _mean_table)(key, outcome, units)
    if made is None:
        return None
    figures = made.table.values.reshape(len(leaves), -1)
    figures = figures / rows[:, None] if is_classes else figures
    return made if _are_close(np.asarray(tree.value)[leaves, 0, :], figures) else None


def _are_close(own: Figures, other: Figures) -> bool:
    slack = _CLOSE * float(np.abs(other).max(initial=0))
    return own.shape == other.shape and bool(np.allclose(own, other, rtol=_CLOSE, atol=slack))


def _class_table(key: CodedColumn, outcome: CodedColumn, units: Counts) -> Tabulation:
    rows = TableRows((key, outcome), units, {}, ((0, 1),), fills=True)
    return tabulate(rows, (ShownAggregate("size", "size"),))


def _mean_table(key: CodedColumn, outcome: CodedColumn, units: Counts) -> Tabulation | None:
    values = _response(outcome, is_classes=False)
    if values is None:
        return None
    rows = TableRows((key,), units, {"outcome": values}, ((0,),))
    return tabulate(rows, (ShownAggregate("mean", "mean", "outcome"),))


def _cells(table: Tabulation, leaf: int) -> tuple[ShownStatistic, ...]:
    """Return the statistics of the cells of one leaf, each of one row."""
    chosen = np.flatnonzero(table.table.codes[:, 0] == leaf).tolist()
    return tuple(
        ShownStatistic(one.statbarn, _row(one.evidence, row), one.columns)
        for row in chosen
        for one in table.table.measures[0].statistics
    )


def _row(evidence: CellEvidence, row: int) -> CellEvidence:
    arrays = {name: values for name, values in vars(evidence).items() if values is not None}
    return CellEvidence(**{name: values[row : row + 1] for name, values in arrays.items()})


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
