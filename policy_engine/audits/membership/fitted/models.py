"""Objects of any library as models that can be asked."""

from collections.abc import Callable, Mapping
from typing import Any

from policy_engine.audits.membership.fitted.boosters import LightgbmModel, XgboostModel
from policy_engine.audits.membership.fitted.estimators import EstimatorModel, FunctionModel
from policy_engine.audits.membership.fitted.model import AskableModel
from policy_engine.audits.membership.fitted.networks import KerasModel, OnnxModel, TorchModel
from policy_engine.errors import AuditError


def model_of(thing: Any) -> AskableModel:
    """Return a model of any library, or a function from features to answers, as one to be asked.

    Raises AuditError (A014) for what cannot be asked, and for what does not classify.
    """
    for base in type(thing).__mro__:
        wrap = _LIBRARIES.get((base.__module__.partition(".")[0], base.__name__))
        if wrap is not None:
            return wrap(thing)
    if hasattr(thing, "predict_proba") or hasattr(thing, "predict"):
        return EstimatorModel(thing)
    if callable(thing):
        return FunctionModel(thing)
    message = f"A {type(thing).__name__} is not a fitted model."
    hint = "Give one with predict_proba or predict, or a function from features to probabilities."
    raise AuditError.of("A014", message, hint)


_LIBRARIES: Mapping[tuple[str, str], Callable[[Any], AskableModel]] = {
    ("xgboost", "Booster"): XgboostModel,
    ("lightgbm", "Booster"): LightgbmModel,
    ("keras", "Model"): KerasModel,
    ("torch", "Module"): TorchModel,
    ("onnxruntime", "InferenceSession"): OnnxModel,
}
"""What asks an object of each library, by the package and the name of its class."""
