"""Classifiers with scikit-learn's interface, and functions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block, as_frame, as_matrix, is_number
from policy_engine.audits.membership.fitted.categories import (
    Categories,
    codes_of,
    lightgbm_categories,
    xgboost_categories,
)
from policy_engine.audits.membership.fitted.model import (
    Answer,
    ModelDescription,
    softmax,
    to_answer,
    versions_of,
)
from policy_engine.errors import AuditError


@dataclass(frozen=True, eq=False)
class FunctionModel:
    """A function from features to probabilities, logits or labels."""

    function: Callable[[Any], Any]

    @property
    def description(self) -> ModelDescription:
        """Its name: a function says no more of itself."""
        return ModelDescription(
            "Python", getattr(self.function, "__name__", type(self.function).__name__)
        )

    def answer(self, block: Block) -> Answer:
        """Return the function's result for an array, or for a frame where columns are texts."""
        return to_answer(
            self.function(block if isinstance(block, np.ndarray) else _array_or_frame(block))
        )


def _array_or_frame(block: pa.Table) -> Any:
    """Return a table of numbers as an array, any other as a frame."""
    try:
        return as_matrix(block, np.float64)
    except AuditError:
        return as_frame(block)


@dataclass(frozen=True, eq=False)
class EstimatorModel:
    """A classifier with scikit-learn's interface: pipelines, XGBoost's and LightGBM's, too.

    Where it knows its features by name it is given a frame of them. Its decision function is given
    beside its probabilities, where these follow from it: it does not saturate.
    """

    model: Any

    @property
    def description(self) -> ModelDescription:
        """What its attributes say of it."""
        kind = type(self.model)
        package = kind.__module__.partition(".")[0]
        package = {"sklearn": "scikit-learn"}.get(package, package)
        return ModelDescription(
            package,
            kind.__name__,
            versions_of(*dict.fromkeys((package, "scikit-learn"))),
            _texts(_attribute(self.model, "classes_")),
            _names(_attribute(self.model, "feature_names_in_")),
            int(_attribute(self.model, "n_features_in_") or 0),
        )

    def answer(self, block: Block) -> Answer:
        """Return probabilities, what it decides by, or the labels alone."""
        inputs = self.prepare(block)
        if hasattr(self.model, "predict_proba"):
            probabilities = np.asarray(self.model.predict_proba(inputs))
            return {"probabilities": probabilities, **_logits(self.model, inputs, probabilities)}
        classes = len(_texts(_attribute(self.model, "classes_")))
        decisions = _decisions(self.model, inputs, classes)
        if decisions is not None:
            return {"logits": decisions}
        return {"labels": np.asarray(self.model.predict(inputs)).ravel().astype(str)}

    def prepare(self, block: Block) -> Any:
        """Return records as the classifier takes them: a frame where it goes by names or texts."""
        if isinstance(block, np.ndarray):
            return block.reshape(len(block), -1) if self.description.width else block
        categories = _categories(self.model, block)
        if categories:
            return _categorical(block, categories)
        names = self.description.features
        is_text = any(not is_number(one.type) for one in block.schema)
        if is_text or (names and set(names) <= set(block.column_names)):
            return as_frame(block)
        return as_matrix(block, np.float64)


def _categories(model: Any, block: pa.Table) -> Categories:
    """Return the categories that a classifier of XGBoost or LightGBM was fitted on."""
    package = type(model).__module__.partition(".")[0]
    try:
        if package == "lightgbm":
            return lightgbm_categories(model.booster_)
        return xgboost_categories(model.get_booster(), block) if package == "xgboost" else {}
    except (AttributeError, ValueError):  # it is not fitted
        return {}


def _categorical(block: pa.Table, categories: Categories) -> Any:
    """Return a table as a frame with columns of the categories."""
    import pandas as pd  # noqa: PLC0415 (slow to import, an extra; such a classifier needs it)

    frame = as_frame(block)
    for place, labels in categories.items():
        frame.isetitem(place, pd.Categorical.from_codes(codes_of(block, place, labels), labels))
    return frame


def _attribute(model: Any, name: str) -> Any:
    try:
        return getattr(model, name, None)
    except (AttributeError, ValueError, TypeError):
        return None


def _names(values: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in values) if values is not None else ()


def _decisions(model: Any, inputs: Any, classes: int) -> NDArray[Any] | None:
    """Return a classifier's decision function, (n, C), where it has one."""
    if not hasattr(model, "decision_function"):
        return None
    decisions = np.asarray(model.decision_function(inputs), dtype=np.float64)
    if decisions.ndim == 1:
        decisions = np.stack([np.zeros(len(decisions)), decisions], axis=1)
    return decisions if decisions.ndim == 2 and decisions.shape[1] == classes else None


def _margins(model: Any, inputs: Any, classes: int) -> NDArray[Any] | None:
    """Return the raw scores of XGBoost's and LightGBM's classifiers, (n, C)."""
    package = type(model).__module__.partition(".")[0]
    option = {"xgboost": {"output_margin": True}, "lightgbm": {"raw_score": True}}.get(package)
    if option is None:
        return _decisions(model, inputs, classes)
    raw = np.asarray(model.predict(inputs, **option), dtype=np.float64)
    return np.stack([np.zeros(len(raw)), raw], axis=1) if raw.ndim == 1 else raw


def _logits(model: Any, inputs: Any, probabilities: NDArray[Any]) -> Answer:
    """Return a model's raw scores where the probabilities are their softmax."""
    if probabilities.ndim != 2:
        return {}
    margins = _margins(model, inputs, probabilities.shape[1])
    if margins is None or margins.shape != probabilities.shape:
        return {}
    return {"logits": margins} if np.allclose(softmax(margins), probabilities, atol=1e-5) else {}


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(str, np.asarray(values).tolist())) if values is not None else ()
