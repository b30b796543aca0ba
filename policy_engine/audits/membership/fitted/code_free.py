"""Models in files of others, taken only where nothing of them is code: by what is in them.

Nothing is opened by the library that it is for. Files of Keras name the classes that they are made
of, by modules of Python; what is not a layer of Keras itself is refused, and so are those of its
layers that hold code, or that read other files.
"""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from policy_engine.audits.membership.fitted.external import check_whole
from policy_engine.audits.membership.fitted.kinds import Kind, fitted_file
from policy_engine.audits.membership.fitted.loading import (
    OpeningOptions,
    check_opening,
    unknown_types,
)
from policy_engine.errors import AuditError, PolicyEngineError, join_names
from policy_engine.methods.audits.classifier import read_architecture

ModelKind = Kind | Literal["description"]
"""A kind of fitted model, or the description of one that is to be trained."""

_LONGEST = 1 << 20
"""Bytes of a description."""
_KERAS = frozenset(
    {
        *("keras", "builtins", "keras.src.models.functional", "keras.src.models.sequential"),
        *("keras.activations", "keras.constraints", "keras.dtype_policies", "keras.initializers"),
        *("keras.layers", "keras.losses", "keras.metrics", "keras.models", "keras.optimizers"),
        *("keras.optimizers.schedules", "keras.regularizers"),
    }
)
"""The modules that a file of Keras may name."""
_REACHING = frozenset(
    {
        *("Lambda", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"),
        *("StringLookup", "IntegerLookup", "TextVectorization", "IndexLookup"),
    }
)
"""Layers that hold code, or take what they know from other files."""
_HINT = "Save it as skops, ONNX, Keras of its own layers, XGBoost or LightGBM, or describe it."


def code_free_kind(path: Path) -> ModelKind:
    """Return which kind of model a file is, by its content, whatever it is called.

    Raises AuditError: A015 for one that holds or names code, or cannot be opened without some, A014
    for what is not a model or is damaged, A009 for a description that cannot be read; DataError
    (C011) where the library is not installed that opens it.
    """
    with path.open("rb") as file:
        head = file.read(64).lstrip()
    if head.startswith(b"{") and b"learner" not in head:
        return _description(path)
    model = fitted_file(path)
    if model.kind == "torch-weights":
        message = "The file has tensors of PyTorch, which belong to a class: code, which is not "
        raise _code_error(f"{message}taken.")
    check_opening(model, OpeningOptions())
    if model.kind == "keras":
        _check_keras(path)
    elif model.kind == "skops":
        _check_types(path)
    elif model.kind == "onnx":
        check_whole(path.read_bytes(), "")
    return model.kind


def _description(path: Path) -> Literal["description"]:
    if path.stat().st_size > _LONGEST:
        raise AuditError.of("A009", f"A description has at most {_LONGEST:,} bytes.")
    read_architecture(path.read_bytes())
    return "description"


def _check_types(path: Path) -> None:
    unknown = unknown_types(path)
    if unknown:
        message = f"The file names code that is not known to be harmless: {join_names(unknown[:5])}"
        raise _code_error(f"{message}.")


def _check_keras(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read("config.json"))
        parts = [*_parts(document)]
    except (KeyError, ValueError, RecursionError, OSError, zipfile.BadZipFile):
        raise AuditError.of("A014", "The file of Keras is damaged.") from None
    for part in parts:
        if not _is_of_keras(part):
            module, name = part.get("module"), part.get("class_name")
            message = f"The file of Keras names code: {name!r:.60} of {module!r:.60}."
            raise _code_error(message)


def _is_of_keras(part: dict[str, Any]) -> bool:
    """Tell whether a part of a configuration is made by a class of Keras that reads nothing."""
    module, name = part.get("module"), part.get("class_name")
    registered = part.get("registered_name")
    if name is None and module is None:
        return True
    if not isinstance(name, str) or name.rpartition(">")[2] in _REACHING:
        return False
    is_own = registered in (None, "", name) or str(registered).startswith("keras")
    if name == "function":  # found by its name, among those of the module
        config = part.get("config")
        return module in ("builtins", "keras.activations") and str(config).isidentifier()
    return module in _KERAS and module != "builtins" and is_own


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects in a value of JSON."""
    if isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _parts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _parts(one)


def _code_error(message: str) -> PolicyEngineError:
    return AuditError.of("A015", message, _HINT)
