"""Which kind of model a file holds, by its content; nothing of it is loaded."""

import hashlib
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from policy_engine.errors import AuditError, DataError

Kind = Literal[
    "skops",
    "pickle",
    "xgboost",
    "lightgbm",
    "keras",
    "torchscript",
    "torch-export",
    "torch-weights",
    "onnx",
]

LIBRARIES: dict[Kind, str] = {
    "skops": "skops",
    "pickle": "joblib",
    "xgboost": "xgboost",
    "lightgbm": "lightgbm",
    "keras": "keras",
    "torchscript": "torch",
    "torch-export": "torch",
    "torch-weights": "torch",
    "onnx": "onnxruntime",
}
"""The package that opens each kind of file."""

_READABLE = (
    "Readable are skops, XGBoost (json, ubj), LightGBM (txt), Keras 3 (.keras), a "
    "state_dict of PyTorch with its class, ONNX, and, where they are trusted, joblib, pickle, "
    "TorchScript and exported programs of PyTorch (.pt2)."
)
_HEAD = 512
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x04\x22\x4d\x18", b"ZF")


@dataclass(frozen=True)
class FittedFile:
    """A file with a fitted model: which kind, and the sha-256 of its bytes in hexadecimal."""

    path: Path
    kind: Kind
    digest: str


def fitted_file(path: Path) -> FittedFile:
    """Return what a file holds.

    Raises DataError where it is not there (C002) or cannot be read (C003), AuditError (A014)
    where it is not a model that is known.
    """
    if not path.is_file():
        hint = "A fitted model is one file." if path.is_dir() else ""
        raise DataError.of("C002", f"There is no file {str(path)!r}.", hint)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        digest, kind = digest_of_file(path), _kind(path, head)
    except OSError as error:
        message = f"The file cannot be read: {error.strerror or error}."
        raise DataError.of("C003", message, source=str(path)) from None
    return FittedFile(path.resolve(), kind, digest)


def digest_of_file(path: Path) -> str:
    """Return the sha-256 of a file's bytes in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _kind(path: Path, head: bytes) -> Kind:
    suffix = path.suffix.lower()
    if zipfile.is_zipfile(path):
        return _archive_kind(path)
    if head.startswith(b"{") and b"learner" in head[:64]:
        return "xgboost"
    if re.match(rb"(?:tree|average_output)\s*\n", head):
        return "lightgbm"
    if head.startswith(b"\x80") or (head.startswith((*_PACKED, b"\x78")) and suffix != ".onnx"):
        return "pickle"
    if head.startswith(b"\x08") and suffix in (".onnx", ""):
        return "onnx"
    raise _unknown(path, head)


def _archive_kind(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.partition("/")[2] or name for name in archive.namelist()]
            paths = set(archive.namelist())
    except zipfile.BadZipFile:
        raise AuditError.of("A014", "The archive is damaged.", source=str(path)) from None
    if {"config.json", "model.weights.h5"} <= paths:
        return "keras"
    if "schema.json" in paths:
        return "skops"
    if any(name.startswith("models/") and name.endswith(".json") for name in names) or (
        "serialized_exported_program.json" in paths
    ):
        return "torch-export"
    if any(name.startswith("code/") for name in names) and "constants.pkl" in names:
        return "torchscript"
    if "data.pkl" in names:
        return "torch-weights"
    raise _unknown(path, b"PK")


def _unknown(path: Path, head: bytes) -> Exception:
    if head.startswith(b"\x89HDF"):
        message = "The file is HDF5, the format of Keras before version 3."
        hint = "Save it as .keras where you trust its author: "
        hint += 'keras.models.load_model("model.h5").save("model.keras").'
        return AuditError.of("A014", message, hint, source=str(path))
    return AuditError.of("A014", "The file is not a fitted model.", _READABLE, source=str(path))
