"""Training a fitted model's like anew, from the recipe that it carries itself."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block, as_matrix
from policy_engine.audits.membership.fitted.boosters import LightgbmModel
from policy_engine.audits.membership.fitted.estimators import EstimatorModel
from policy_engine.audits.membership.fitted.model import Fitted
from policy_engine.errors import AuditError

_STATES = 1 << 32
"""How many seeds scikit-learn takes."""
_LEFT_OUT = ("num_iterations", "num_threads", "seed", "objective_seed", "input_model")


def refitted(model: Fitted, block: Block, labels: NDArray[np.int64], seed: int) -> Fitted:
    """Return a model of the same settings, trained on other records; labels are 0 to C-1.

    Raises AuditError (A014) where a model does not tell its settings, and whatever its library
    makes of the records.
    """
    if isinstance(model, EstimatorModel) and callable(getattr(model.model, "fit", None)):
        return _estimator(model, block, labels, seed)
    if isinstance(model, LightgbmModel):
        return _lightgbm(model, block, labels, seed)
    message = f"A {model.about.name} of {model.about.library} does not tell how it was trained."
    hint = "Give its recipe: model=RECIPE. Or other models of its kind: references=(FILE, ...)."
    raise AuditError.of("A014", message, hint)


def _estimator(
    model: EstimatorModel, block: Block, labels: NDArray[np.int64], seed: int
) -> EstimatorModel:
    """Return a clone, fitted in one thread with a seed of its own."""
    from sklearn.base import clone  # noqa: PLC0415 (slow to import, an extra)

    fresh = clone(model.model)
    settings = fresh.get_params()
    own: dict[str, Any] = {
        name: seed % _STATES for name in settings if name.split("__")[-1] == "random_state"
    }
    own |= {name: 1 for name, now in settings.items() if name.endswith("n_jobs") and now}
    fresh.set_params(**own)
    return EstimatorModel(fresh.fit(model.given(block), labels))


def _lightgbm(
    model: LightgbmModel, block: Block, labels: NDArray[np.int64], seed: int
) -> LightgbmModel:
    import lightgbm  # noqa: PLC0415 (slow to import, an extra)

    told = model.booster.params
    settings = {name: value for name, value in told.items() if name not in _LEFT_OUT}
    settings |= {"seed": seed, "num_threads": 1, "verbosity": -1}
    given = lightgbm.Dataset(as_matrix(block, np.float64), labels)
    rounds = int(told.get("num_iterations", model.booster.current_iteration()))
    return LightgbmModel(lightgbm.train(settings, given, rounds))
