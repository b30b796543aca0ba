"""Looks at a model that somebody uploaded, in a process of its own that may use little.

Which kind it is follows from its content, and nothing of it is opened by the library it is for:
runs do that, which reach no network and no other files.
"""

import stat
import sys
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from policy_engine.errors import AuditError, ServiceError
from policy_engine.service.files.inspecting import read_apart, tell

if TYPE_CHECKING:
    from policy_engine.audits.membership.fitted.code_free import ModelKind

ENDINGS: "dict[ModelKind, str]" = {
    "description": "json",
    "skops": "skops",
    "xgboost": "xgboost",
    "lightgbm": "txt",
    "keras": "keras",
    "onnx": "onnx",
}
"""The endings of files that are kept, by what they are."""
_MOST_ENTRIES = 100_000
_MOST_INFLATED = 100
"""So many times as large as it is may an archive become, beyond what is always let be."""
_ALWAYS = 64 * 2**20
_CHUNK = 2**20


def inspect_model(path: Path) -> "ModelKind":
    """Return which kind of model a file is, looked at in a process of its own.

    Raises AuditError as the library does for what is not a model, or holds code; ServiceError
    (N008) for one that takes too long, too much memory, or is far larger than its file.
    """
    kind: ModelKind = read_apart(__name__, str(path))["kind"]
    return kind


def model_kind(path: Path) -> "ModelKind":
    """Return which kind of model a file is, looked at here. Raises as `inspect_model`."""
    from policy_engine.audits.membership.fitted.code_free import code_free_kind  # noqa: PLC0415 (slow to import)

    if zipfile.is_zipfile(path):
        _check_archive(path)
    return code_free_kind(path)


def _check_archive(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError):
        raise AuditError.of("A014", "The archive is damaged.") from None
    limit = max(path.stat().st_size * _MOST_INFLATED, _ALWAYS)
    if len(entries) > _MOST_ENTRIES or sum(one.file_size for one in entries) > limit:
        message = f"The archive is more than {_MOST_INFLATED} times as large as it was sent."
        raise ServiceError.of("N008", message)
    names = [one.filename for one in entries]
    if len({*names}) < len(names) or not all(map(_is_plain, entries)):
        message = "The archive has a name twice, or one that leads elsewhere."
        raise AuditError.of("A014", message)
    if not _is_as_declared(path):
        raise AuditError.of("A014", "A part of the archive is damaged, or not as large as it says.")


def _is_as_declared(path: Path) -> bool:
    """Tell whether each entry becomes as large as it says, with the checksum that it says; of none
    is more unpacked than that."""
    try:
        with zipfile.ZipFile(path) as archive:
            return all(_size(archive, one) == one.file_size for one in archive.infolist())
    except (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError, RuntimeError):
        return False


def _size(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int:
    """Return how large an entry becomes; more than it says is not unpacked."""
    with archive.open(entry) as file:
        return sum(map(len, iter(lambda: file.read(_CHUNK), b"")))


def _is_plain(entry: zipfile.ZipInfo) -> bool:
    """Tell whether an entry is a file within its archive, which is not encrypted."""
    name = PurePosixPath(entry.filename.replace("\\", "/"))
    is_link = stat.S_ISLNK(entry.external_attr >> 16)
    is_within = not name.is_absolute() and ".." not in name.parts and ":" not in name.as_posix()
    return is_within and not is_link and not entry.flag_bits & 1


if __name__ == "__main__":
    tell(lambda: {"kind": model_kind(Path(sys.argv[1]))})
