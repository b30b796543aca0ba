"""Retraining a fitted model's kind, by the settings that it carries itself."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block, as_matrix
from policy_engine.audits.membership.fitted.boosters import LightgbmModel
from policy_engine.audits.membership.fitted.estimators import EstimatorModel
from policy_engine.audits.membership.fitted.model import AskableModel
from policy_engine.errors import AuditError

_STATES = 1 << 32
"""How many seeds scikit-learn takes."""
_LEFT_OUT = (
    *("num_iterations", "num_threads", "seed", "objective_seed", "input_model"),
    *("num_machines", "local_listen_port", "time_out", "gpu_platform_id", "gpu_device_id"),
)
_TEXTS = ("boosting", "objective", "metric", "data_sample_strategy", "monotone_constraints_method")
"""The settings of LightGBM that are texts and name neither a file nor another machine."""


def refit(model: AskableModel, block: Block, labels: NDArray[np.int64], seed: int) -> AskableModel:
    """Return a model of the same settings, trained on other records; labels are 0 to C-1.

    Raises AuditError (A014) where a model does not reveal its settings, and whatever its library
    raises.
    """
    if isinstance(model, EstimatorModel) and callable(getattr(model.model, "fit", None)):
        return _refit_estimator(model, block, labels, seed)
    if isinstance(model, LightgbmModel):
        return _refit_lightgbm(model, block, labels, seed)
    message = f"A {model.description.name} of {model.description.library} does not tell how it was "
    message += "trained."
    hint = "Give its recipe: model=RECIPE. Or other models of its kind: references=(FILE, ...)."
    raise AuditError.of("A014", message, hint)


def _refit_estimator(
    model: EstimatorModel, block: Block, labels: NDArray[np.int64], seed: int
) -> EstimatorModel:
    """Return a clone, fitted in one thread with a seed of its own."""
    from sklearn.base import clone  # noqa: PLC0415 (slow to import, an extra)

    estimator = clone(model.model)
    settings = estimator.get_params()
    changes: dict[str, Any] = {
        name: seed % _STATES for name in settings if name.split("__")[-1] == "random_state"
    }
    changes |= {name: 1 for name, value in settings.items() if name.endswith("n_jobs") and value}
    # What is in such a folder is unpickled, and the model's maker said which folder.
    changes |= {name: None for name in settings if name.split("__")[-1] == _MEMORY}
    estimator.set_params(**changes)
    _check_places(estimator)
    return EstimatorModel(estimator.fit(model.prepare(block), labels))


_MEMORY = "memory"
_PLACES = (
    *("input_model", "model_input", "model_in", "parser_config_file"),
    *("machines", "workers", "nodes", "machine_list_filename", "machine_list_file"),
    *("machine_list", "mlist", "forcedsplits_filename", "fs", "forced_splits_filename"),
    *("forced_splits_file", "forced_splits", "forcedbins_filename"),
)
"""The settings of LightGBM that name files or other machines."""


def _check_places(estimator: Any) -> None:
    """Raise AuditError (A014) where a model's training would go by files or other machines."""
    settings = estimator.get_params()
    for name, value in settings.items():
        if any(one.split("__")[-1] == _MEMORY for one in _keys_in(value)):
            raise _place_error(f"setting {name!r} would try folders to unpickle from")
    for one in (estimator, *settings.values()):
        if type(one).__module__.partition(".")[0] == "lightgbm" and hasattr(one, "get_params"):
            names = [name for name in _PLACES if one.get_params().get(name)]
            if names:
                raise _place_error(f"setting {names[0]!r} names files or machines")


def _place_error(fault: str) -> Exception:
    hint = "Give its recipe without that: model=RECIPE."
    return AuditError.of("A014", f"The model's {fault}.", hint)


def _keys_in(value: Any) -> Iterator[str]:
    """Yield the keys of all dictionaries within a value, and what its estimators are set to."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        yield from (name for name, now in value.get_params().items() if now is not None)
    elif isinstance(value, Mapping):
        yield from map(str, value)
        for one in value.values():
            yield from _keys_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _keys_in(one)


def _refit_lightgbm(
    model: LightgbmModel, block: Block, labels: NDArray[np.int64], seed: int
) -> LightgbmModel:
    import lightgbm  # noqa: PLC0415 (slow to import, an extra)

    parameters = model.booster.params
    settings = {
        name: value
        for name, value in parameters.items()
        if name not in _LEFT_OUT and (name in _TEXTS or not isinstance(value, str))
    }
    settings |= {"seed": seed, "num_threads": 1, "verbosity": -1}
    categorical = [
        settings.pop(name, None) for name in ("categorical_feature", "categorical_column")
    ]
    matrix = as_matrix(model.prepare(block), np.float64)
    places: Any = next(filter(None, categorical), "auto")
    dataset = lightgbm.Dataset(matrix, labels, categorical_feature=places)
    rounds = int(parameters.get("num_iterations", model.booster.current_iteration()))
    return LightgbmModel(lightgbm.train(settings, dataset, rounds), model.known_categories)
