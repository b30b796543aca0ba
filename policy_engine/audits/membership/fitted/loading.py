"""Files to fitted models, in the process that was made for it.

What a format can do when it is opened or asked decides how it is opened. A pickle runs what it
likes. So do exported programs of PyTorch, whose loader unpickles what its safe reader refuses, and
TorchScript, whose programs read and write files. They are opened where they are trusted alone. The
others hold no code of Python, or are opened so that none
is run: skops with types that are known, Keras in its safe mode, tensors by PyTorch's reader of
weights.
"""

import importlib
import importlib.util
import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from policy_engine.audits.membership.fitted.boosters import LightgbmModel, XgboostModel
from policy_engine.audits.membership.fitted.external import check_whole
from policy_engine.audits.membership.fitted.kinds import LIBRARIES, FittedFile, Kind, digest_of_file
from policy_engine.audits.membership.fitted.model import AskableModel, softmax
from policy_engine.audits.membership.fitted.models import model_of
from policy_engine.audits.membership.fitted.networks import KerasModel, OnnxModel, TorchModel
from policy_engine.errors import AuditError, DataError, join_names

_HARMLESS = frozenset(
    {
        *("collections.OrderedDict", "collections.defaultdict"),
        *("lightgbm.basic.Booster", "lightgbm.sklearn.LGBMClassifier"),
        *("xgboost.core.Booster", "xgboost.sklearn.XGBClassifier"),
        *("sklearn.calibration._CalibratedClassifier", "sklearn.calibration._SigmoidCalibration"),
        "numpy.dtype",  # its fields come from an array, which is read without objects
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        *("sklearn.neighbors._ball_tree.BallTree", "sklearn.neighbors._kd_tree.KDTree"),
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.tree._tree.Tree",
    }
)
"""Types that skops leaves to its caller: parts of classifiers, which run no code of the file."""

_RUNS_CODE: Mapping[Kind, str] = {
    "pickle": "a pickle",
    "torch-export": "an exported program of PyTorch",
    "torchscript": "a program of TorchScript",
}
"""What runs code of its maker when it is opened, or asked."""


@dataclass(frozen=True)
class OpeningOptions:
    """How a file may be opened.

    `trust_pickle` lets it run code; `model_class` names the class of a state_dict,
    `file.py:Class` or `module:Class`, which is code of the user's own.
    """

    trust_pickle: bool = False
    model_class: str = ""


def check_opening(file: FittedFile, opening: OpeningOptions) -> None:
    """Raise what is known before anything is opened.

    AuditError (A015) for a file that runs code and is not trusted, (A014) for weights without
    their class, DataError (C011) where the library is not installed.
    """
    if file.kind in _RUNS_CODE and not opening.trust_pickle:
        raise _untrusted(file)
    if file.kind == "torch-weights" and not (opening.model_class or opening.trust_pickle):
        message = "The file was written by torch.save: it holds tensors, and not the code that "
        message += "they belong to."
        hint = 'Name the class of the module: model_class="net.py:Net". Its code is run.'
        raise AuditError.of("A014", message, hint, source=str(file.path))
    if opening.model_class and file.kind != "torch-weights":
        message = (
            "A class is for the weights of a PyTorch module, and the file is not a state_dict."
        )
        raise AuditError.of("A014", message, source=str(file.path))
    package = LIBRARIES[file.kind]
    if importlib.util.find_spec(package) is None:
        message = f"To open the file, {package} is needed, which is not installed."
        extra = "torch" if package == "torch" else "models"
        raise DataError.of("C011", message, f"pip install 'policy-engine[{extra}]'.")


def _untrusted(file: FittedFile) -> Exception:
    message = (
        f"The file is {_RUNS_CODE[file.kind]}: opening it runs any code that its author put in it."
    )
    hint = "Save the model in a format without code, such as skops or ONNX, or say that you trust "
    hint += "it: trust_pickle=True."
    return AuditError.of("A015", message, hint, source=str(file.path))


def load(file: FittedFile, opening: OpeningOptions) -> tuple[AskableModel, tuple[str, ...]]:
    """Return the model of a file, and warnings about it, such as that versions differ.

    Raises as `check_opening`, AuditError (A015) for types that skops does not trust, (A014) for a
    file that is not the one of the digest, and whatever the library makes of a damaged one.
    """
    check_opening(file, opening)
    before = _identity(file)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = _LOADERS[file.kind](file, opening)
    if _identity(file) != before:
        raise _changed(file)
    if any("version" in one.category.__name__.lower() for one in caught):
        message = (
            f"The model was saved with another version of {model.description.library} than it was "
        )
        return model, (f"{message}opened with, and may answer differently.",)
    return model, ()


def _identity(file: FittedFile) -> tuple[int, ...]:
    """Return what changes with a file. Raises AuditError (A014) where its digest is another."""
    now = file.path.stat()
    if digest_of_file(file.path) != file.digest:
        raise _changed(file)
    return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns


def _changed(file: FittedFile) -> Exception:
    message = "The file was changed while it was opened."
    hint = "Run the audit again when the file is no longer being written."
    return AuditError.of("A014", message, hint, source=str(file.path))


def unknown_types(path: Path) -> list[str]:
    """Return the types in a file of skops that are not known to be harmless; nothing is loaded."""
    import skops.io  # noqa: PLC0415 (an extra)

    return [one for one in skops.io.get_untrusted_types(file=path) if one not in _HARMLESS]


def _skops(file: FittedFile, opening: OpeningOptions) -> AskableModel:
    import skops.io  # noqa: PLC0415 (an extra)

    types = skops.io.get_untrusted_types(file=file.path)
    unknown = unknown_types(file.path)
    if unknown and not opening.trust_pickle:
        message = (
            f"The file holds types that are not known to be harmless: {join_names(unknown[:5])}"
        )
        message += f", and {len(unknown) - 5} more." if len(unknown) > 5 else "."
        hint = "If you trust its author, set trust_pickle=True."
        raise AuditError.of("A015", message, hint, source=str(file.path))
    return model_of(skops.io.load(file.path, trusted=types))


def _pickle(file: FittedFile, _: OpeningOptions) -> AskableModel:
    import joblib  # noqa: PLC0415 (an extra)

    return model_of(joblib.load(file.path))


def _xgboost(file: FittedFile, _: OpeningOptions) -> AskableModel:
    import xgboost  # noqa: PLC0415 (an extra)

    content = bytearray(file.path.read_bytes())  # whatever the file's name ends in
    return XgboostModel(xgboost.Booster(model_file=content))


def _lightgbm(file: FittedFile, _: OpeningOptions) -> AskableModel:
    import lightgbm  # noqa: PLC0415 (an extra)

    return LightgbmModel(lightgbm.Booster(model_str=file.path.read_text(encoding="utf-8")))


def _keras(file: FittedFile, _: OpeningOptions) -> AskableModel:
    _choose_backend()
    import keras  # noqa: PLC0415 (an extra)

    model = keras.models.load_model(file.path, compile=False, safe_mode=True)
    return KerasModel(model, is_linear=_remove_last_activation(keras, model))


def _choose_backend() -> None:
    """Take the backend that is installed, where nobody chose one."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    for package in ("tensorflow", "torch", "jax"):
        if importlib.util.find_spec(package) is not None:
            os.environ.setdefault("KERAS_BACKEND", package)
            return


def _remove_last_activation(keras: Any, model: Any) -> bool:
    """Remove the last softmax or sigmoid, and return whether the rest gives its logits.

    A sigmoid in float32 says 1 of all that it is quite sure of; whoever has the file sees more.
    """
    last: Any = model.layers[-1] if getattr(model, "layers", ()) else None
    activation = getattr(last, "activation", None)
    name = getattr(activation, "__name__", "")
    width = getattr(last, "units", 0)
    if name != "softmax" and not (name == "sigmoid" and width == 1):
        return False
    shape = [one or 1 for one in getattr(model, "input_shape", ())[1:]]
    sample = np.random.default_rng(0).normal(size=(4, *shape)).astype(np.float32)
    before = np.asarray(model.predict(sample, verbose=0))
    last.activation = keras.activations.linear
    model.predict_function = None
    after = np.asarray(model.predict(sample, verbose=0))
    if before.shape == after.shape and np.allclose(_probabilities(after, name), before, atol=1e-5):
        return True
    last.activation, model.predict_function = activation, None
    return False


def _probabilities(logits: Any, name: str) -> Any:
    return softmax(logits) if name == "softmax" else 1 / (1 + np.exp(-logits))


def _torchscript(file: FittedFile, _: OpeningOptions) -> AskableModel:
    import torch  # noqa: PLC0415 (an extra)

    module = torch.jit.load(str(file.path), map_location="cpu")
    return TorchModel(module.eval(), getattr(module, "original_name", "TorchScript"))


def _torch_export(file: FittedFile, _: OpeningOptions) -> AskableModel:
    import torch  # noqa: PLC0415 (an extra)

    return TorchModel(torch.export.load(file.path).module(), "ExportedProgram")


def _torch_weights(file: FittedFile, opening: OpeningOptions) -> AskableModel:
    import torch  # noqa: PLC0415 (an extra)

    is_whole = opening.trust_pickle and not opening.model_class
    content = torch.load(file.path, map_location="cpu", weights_only=not is_whole)
    if is_whole:
        return model_of(content.eval() if isinstance(content, torch.nn.Module) else content)
    module = _class_of(opening.model_class)()
    with suppress(KeyError, TypeError):
        content = content["state_dict"]  # as training loops keep it, beside the optimizer
    module.load_state_dict(content)
    return TorchModel(module.eval())


def _class_of(name: str) -> Callable[[], Any]:
    """Return a class, or a function, by `file.py:Class` or `module:Class`."""
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        message = f"The class must be file.py:Class or module:Class. Given: {name!r}."
        raise AuditError.of("A014", message)
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        if spec is None or spec.loader is None or not Path(place).is_file():
            raise DataError.of("C002", f"There is no file {place!r}.")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    attribute_value: Callable[[], Any] | None = getattr(module, attribute, None)
    if not callable(attribute_value):
        raise AuditError.of("A014", f"{place!r} has no class {attribute!r}.")
    return attribute_value


def _onnx(file: FittedFile, _: OpeningOptions) -> AskableModel:
    import onnxruntime  # noqa: PLC0415 (an extra)

    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    content = file.path.read_bytes()
    check_whole(content, str(file.path))
    session = onnxruntime.InferenceSession(content, settings, providers=["CPUExecutionProvider"])
    return OnnxModel(session)


_LOADERS: Mapping[Kind, Callable[[FittedFile, OpeningOptions], AskableModel]] = {
    "skops": _skops,
    "pickle": _pickle,
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
    "keras": _keras,
    "torchscript": _torchscript,
    "torch-export": _torch_export,
    "torch-weights": _torch_weights,
    "onnx": _onnx,
}


def resolve_class_path(opening: OpeningOptions) -> OpeningOptions:
    """Return the same with the path of the class's file from the root."""
    place, _, attribute = opening.model_class.rpartition(":")
    if not place.endswith(".py"):
        return opening
    return replace(opening, model_class=f"{Path(place).resolve()}:{attribute}")
