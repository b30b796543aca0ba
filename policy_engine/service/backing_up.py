"""Copies all that a service keeps into one archive, while it goes on."""

import os
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from policy_engine.errors import ServiceError

_DATABASES = ("service.db",)
_FOLDERS = ("files", "keys", "releases", "results", "attempts", "reviews")
_LEDGERS = ("budgets/ledger.sqlite", "outputs.sqlite", "decisions.sqlite")
_SQLITE = b"SQLite format 3\x00"


def back_up(folder: Path, archive: Path) -> None:
    """Write what is kept in the folder of a service to a new tar file, whole or not at all.

    The database comes first and files come next, so that what it names is there; ledgers and the
    log of decisions come last, so that nothing was released that they do not know. Uploads that
    are not complete, and what runs are at, are left out.

    Raises ServiceError (N013) where there is nothing to copy, or the archive cannot be written.
    """
    if not any((folder / one).exists() for one in ("keys", "service.db")):
        raise ServiceError.of("N013", f"{str(folder)!r} is not the folder of a service.")
    draft = archive.with_name(f".{archive.name}.part")
    try:
        place = os.open(archive, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.close(place)
        with open(draft, "wb", opener=_private) as file, TemporaryDirectory() as scratch:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
                for name, path in _parts(folder, Path(scratch)):
                    tar.add(path, name, recursive=False)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(archive)
    except (OSError, sqlite3.Error) as error:
        _discard(draft, archive, error)
        reason = getattr(error, "strerror", None) or error
        message = f"The backup {str(archive)!r} cannot be written: {reason}."
        raise ServiceError.of("N013", message, "Give the name of a new file.") from None


def _discard(draft: Path, archive: Path, error: Exception) -> None:
    draft.unlink(missing_ok=True)
    if not isinstance(error, FileExistsError):
        archive.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _parts(folder: Path, scratch: Path) -> Iterator[tuple[str, Path]]:
    """Yield what is kept by its name in the archive: databases as they were at one moment."""
    yield from _copies(folder, scratch, _DATABASES)
    for name in _FOLDERS:
        for path in sorted((folder / name).rglob("*")):
            if path.is_file() and not path.is_symlink() and not _is_hidden(path, folder):
                yield from _copy(folder, scratch, path)
    yield from _copies(folder, scratch, _LEDGERS)


def _copies(folder: Path, scratch: Path, names: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    for name in names:
        if (folder / name).is_file():
            yield from _copy(folder, scratch, folder / name)


def _copy(folder: Path, scratch: Path, path: Path) -> Iterator[tuple[str, Path]]:
    """Yield a file, or of a database a copy that nobody is writing to."""
    name = path.relative_to(folder).as_posix()
    if path.name.endswith(("-wal", "-shm", "-journal")):
        return
    with path.open("rb") as file:
        is_database = file.read(len(_SQLITE)) == _SQLITE
    if not is_database:
        yield name, path
        return
    copy = scratch / "copy"
    copy.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    yield name, copy


def _is_hidden(path: Path, folder: Path) -> bool:
    """Tell whether a file is a draft, or is about to be removed."""
    return any(part.startswith(".") for part in path.relative_to(folder).parts)
