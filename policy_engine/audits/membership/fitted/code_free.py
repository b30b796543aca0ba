"""Models in files of others, taken only where nothing of them is code: by what is in them.

Nothing is opened by the library that it is for. Files of Keras name the classes that they are made
of, by modules of Python; of Keras itself, those are taken that are known to hold no code and to
read no other files.
"""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from policy_engine.audits.membership.fitted.external import check_whole
from policy_engine.audits.membership.fitted.keras_classes import (
    CLASSES,
    FUNCTION_MODULES,
    FUNCTIONS,
    VALUES,
)
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
_NAMING = {"class_name", "module", "registered_name", "spec_name"}
"""What a part of a configuration has that names a class or a function."""
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
    """Tell whether a part of a configuration is made by what is known to hold and read nothing.

    Keras finds classes by names with dots and in modules that it imports, so that only whole names
    that are known are taken, and no name that somebody registered.
    """
    if not _NAMING & part.keys():
        return True
    module, name, registered = (
        part.get(one) for one in ("module", "class_name", "registered_name")
    )
    if not (isinstance(name, str) and isinstance(module, str | None)):
        return False
    if name == "function":  # found by its name, among those of the module
        function = part.get("config")
        is_known = isinstance(function, str) and function in FUNCTIONS
        return is_known and module in FUNCTION_MODULES and registered in (None, "", name, function)
    if registered not in (None, "", name):
        return False
    return name in (VALUES if module in (None, "builtins") else CLASSES.get(module, ()))


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
