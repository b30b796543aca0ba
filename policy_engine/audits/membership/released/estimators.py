"""Classifiers of scikit-learn stripped to what inference needs, their figures rounded."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.released.rounding import (
    round_leaf_shares,
    round_priors,
    round_shares,
    round_to_steps,
    steps_of,
)
from policy_engine.errors import AuditError

_UNSET = ("random_state", "n_jobs", "verbose")
_LEAF_STEP = 0.01
"""The step of what a leaf of a boosted tree adds, before the learning rate."""


def strip_estimator(
    model: Any, features: NDArray[Any], labels: NDArray[np.int64], fewest: int
) -> Any:
    """Return a fitted classifier with what inference needs and no more.

    Neither counts nor impurities, scores, seeds or generators are in it; and what it knows of the
    records that it learnt from (features (n, d), labels (n,)) is rounded so that `fewest` of them
    do not show: shares of classes, means and deviations, what leaves say. Raises AuditError (A017)
    for a kind of which is not known what it needs.
    """
    kind = type(model).__name__
    if kind not in _STRIPPERS:
        message = f"It is not known what a {kind} needs to predict, so it cannot be released."
        raise AuditError.of("A017", message, f"Allowed are {', '.join(sorted(_STRIPPERS))}.")
    return _STRIPPERS[kind](model, _TrainingFacts(features, labels, fewest))


class _TrainingFacts:
    """What a model learnt from, and how many records of it are not to show."""

    def __init__(self, features: NDArray[Any], labels: NDArray[np.int64], fewest: int) -> None:
        self.records, self.fewest = len(features), fewest
        self.spans = np.ptp(features, axis=0).astype(np.float64)
        # A count follows from the mean of bits. Of levels it does not, and few are far out.
        wide = features.std(axis=0, dtype=np.float64)
        self.deviations = np.where(self.spans > 1, wide, self.spans)
        self.sizes = np.bincount(labels)[np.unique(labels)]


def _rebuild(model: Any, fitted: Mapping[str, Any], *kept: str) -> Any:
    """Return a new estimator with the parameters of another, and some of what was fitted."""
    parameters = model.get_params(deep=False)
    estimator = type(model)(**parameters)
    for name in _UNSET:
        if name in parameters:
            setattr(estimator, name, type(model)().get_params()[name])
    attributes = vars(model)
    for name in ("classes_", "n_features_in_", *kept):
        if name in attributes:
            setattr(estimator, name, attributes[name])
    for name, value in fitted.items():
        setattr(estimator, name, value)
    return estimator


def _linear(model: Any, facts: _TrainingFacts) -> Any:
    shift = facts.fewest / facts.records
    spans = np.where(facts.spans > 0, facts.spans, 1.0)
    return _rebuild(
        model,
        {
            "coef_": round_to_steps(model.coef_, steps_of(shift / spans)),
            "intercept_": round_to_steps(model.intercept_, steps_of(shift)),
        },
    )


def _gaussian(model: Any, facts: _TrainingFacts) -> Any:
    shift = facts.fewest / facts.sizes[:, None] * facts.deviations[None, :]
    spread = steps_of(shift * facts.deviations[None, :])
    least = np.where(spread > 0, spread / 2, model.var_)
    return _rebuild(
        model,
        {
            "theta_": round_to_steps(model.theta_, steps_of(shift)),
            "var_": np.maximum(round_to_steps(model.var_, spread), least),
            "class_prior_": round_priors(model.class_prior_, facts.records, facts.fewest),
        },
    )


def _bernoulli(model: Any, facts: _TrainingFacts) -> Any:
    probabilities = np.exp(model.feature_log_prob_)
    prior = round_priors(np.exp(model.class_log_prior_), facts.records, facts.fewest)
    return _rebuild(
        model,
        {
            "feature_log_prob_": np.log(
                round_shares(probabilities, facts.sizes[:, None], facts.fewest)
            ),
            "class_log_prior_": np.log(prior),
        },
    )


def _perceptron(model: Any, _: _TrainingFacts) -> Any:
    kept = ("coefs_", "intercepts_", "n_layers_", "n_outputs_", "out_activation_")
    return _rebuild(model, {"_label_binarizer": model._label_binarizer}, *kept)  # noqa: SLF001


def _tree(model: Any, _: _TrainingFacts) -> Any:
    kept = ("n_classes_", "n_outputs_")
    return _rebuild(model, {"tree_": _strip_tree(model.tree_, round_leaf_shares)}, *kept)


def _forest(model: Any, facts: _TrainingFacts) -> Any:
    trees = [_tree(one, facts) for one in model.estimators_]
    forest = _rebuild(model, {"estimators_": trees}, "n_classes_", "n_outputs_")
    forest.warm_start = forest.oob_score = False
    return forest


def _boosted(model: Any, facts: _TrainingFacts) -> Any:
    trees = np.empty(model.estimators_.shape, dtype=object)
    for place, one in np.ndenumerate(model.estimators_):
        inner = _strip_tree(one.tree_, lambda values: round_to_steps(values, _LEAF_STEP))
        trees[place] = _rebuild(one, {"tree_": inner}, "n_outputs_")
    kept = ("n_classes_", "n_estimators_", "n_trees_per_iteration_", "_loss")
    fitted = {"estimators_": trees, "init_": _initial_model(model.init_, facts)}
    return _rebuild(model, fitted, *kept)


def _initial_model(init: Any, facts: _TrainingFacts) -> Any:
    """Return what a boosted model begins with: the shares of the classes, or nothing."""
    if not hasattr(init, "class_prior_"):
        if init == "zero":
            return init
        message = "A boosted model that begins with another model cannot be released."
        raise AuditError.of("A017", message, "Leave out the parameter 'init'.")
    prior = round_priors(np.asarray(init.class_prior_), facts.records, facts.fewest)
    return _rebuild(init, {"class_prior_": prior}, "n_classes_", "n_outputs_", "_strategy")


def _strip_tree(tree: Any, rounded: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Any:
    """Return a tree with its splits and what its leaves say, and nothing of its records."""
    state = tree.__getstate__()
    nodes, values = _copy_nodes(state["nodes"]), state["values"]
    is_leaf = nodes["left_child"] < 0
    for name in ("impurity", "n_node_samples", "weighted_n_node_samples"):
        nodes[name] = 0
    nodes["feature"][is_leaf] = 0
    nodes["threshold"][is_leaf] = 0
    leaf_values = np.zeros_like(values)
    leaf_values[is_leaf] = rounded(values[is_leaf])
    bare = type(tree)(tree.n_features, np.atleast_1d(tree.n_classes), tree.n_outputs)
    bare.__setstate__({**state, "nodes": nodes, "values": leaf_values})
    return bare


def _copy_nodes(nodes: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of nodes with zeros between their fields, where there is anything else."""
    copies = np.zeros(len(nodes), nodes.dtype)
    for name in nodes.dtype.names or ():
        copies[name] = nodes[name]
    return copies


def _histograms(model: Any, facts: _TrainingFacts) -> Any:
    kept = (
        *("_n_features", "n_trees_per_iteration_", "_loss", "is_categorical_"),
        *("_is_categorical_remapped", "_preprocessor"),
    )
    fitted = {
        "_predictors": [[_strip_predictor(one, model) for one in row] for row in model._predictors],  # noqa: SLF001
        "_baseline_prediction": _baseline(model._baseline_prediction, facts),  # noqa: SLF001
        "_bin_mapper": _strip_bins(model._bin_mapper),  # noqa: SLF001
    }
    return _rebuild(model, fitted, *kept)


def _strip_predictor(predictor: Any, model: Any) -> Any:
    nodes = _copy_nodes(predictor.nodes)
    is_leaf = nodes["is_leaf"].astype(bool)
    for name in ("count", "gain", "depth", "bin_threshold"):
        nodes[name] = 0
    nodes["value"][~is_leaf] = 0
    step = _LEAF_STEP * model.learning_rate
    nodes["value"][is_leaf] = np.round(nodes["value"][is_leaf] / step) * step
    nodes["num_threshold"][is_leaf] = 0
    return type(predictor)(nodes, predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets)


def _baseline(prediction: NDArray[np.float64], facts: _TrainingFacts) -> NDArray[np.float64]:
    """Return the logits of the shares of classes, rounded, in the shape that they had."""
    raw = prediction.ravel()
    logits = np.array([0.0, raw[0]]) if len(raw) == 1 else raw
    share = np.exp(logits - logits.max())
    rounded = np.log(round_priors(share / share.sum(), facts.records, facts.fewest))
    shifted = rounded[1:] - rounded[0] if len(raw) == 1 else rounded - rounded.mean()
    return np.asarray(shifted.reshape(prediction.shape).astype(prediction.dtype))


def _strip_bins(mapper: Any) -> Any:
    """Return what tells categories apart, and no edge of a histogram."""
    bare = type(mapper)(
        is_categorical=mapper.is_categorical, known_categories=mapper.known_categories
    )
    bare.is_categorical_ = mapper.is_categorical_
    bare.missing_values_bin_idx_ = mapper.missing_values_bin_idx_
    bare.bin_thresholds_ = [np.array([]) for _ in mapper.bin_thresholds_]
    bare.n_bins_non_missing_ = np.zeros_like(mapper.n_bins_non_missing_)
    return bare


_STRIPPERS: Mapping[str, Callable[[Any, _TrainingFacts], Any]] = {
    "RandomForestClassifier": _forest,
    "ExtraTreesClassifier": _forest,
    "GradientBoostingClassifier": _boosted,
    "HistGradientBoostingClassifier": _histograms,
    "DecisionTreeClassifier": _tree,
    "LogisticRegression": _linear,
    "GaussianNB": _gaussian,
    "BernoulliNB": _bernoulli,
    "MLPClassifier": _perceptron,
    "LinearSVC": _linear,
}
