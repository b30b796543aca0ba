"""Who may read a release: only its maker until it is published, then whoever the umask allows."""

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from policy_engine.data import storage
from policy_engine.data.storage import Location

_ALL = 0o777


def hide(location: Location) -> None:
    """Let only the owner read a file, or a folder and everything in it. Raises OSError.

    In remote storage, that storage's own rules apply.
    """
    if not storage.is_remote(location):
        for path in _walk(storage.local_path(location)):
            _set_mode(path, 0o700 if path.is_dir() else 0o600)


def show(location: Location, staging_folder: Location) -> None:
    """Give a file, or a folder and everything in it, the modes of new files, and flush them.

    The modes are taken from a file and a folder created in the staging folder: the user's umask and
    the file system's defaults. Raises OSError.
    """
    if storage.is_remote(location):
        return
    file_mode, folder_mode = _new_file_modes(storage.local_path(staging_folder))
    for path in _walk(storage.local_path(location)):
        _set_mode(path, folder_mode if path.is_dir() else file_mode)
        storage.sync(path)


def _walk(path: Path) -> Iterator[Path]:
    """Yield everything in a folder, without links, then the folder; for a file, the file."""
    if path.is_dir():
        for root, _, files in os.walk(path, topdown=False):
            yield from (Path(root) / name for name in files if not (Path(root) / name).is_symlink())
            yield Path(root)
    else:
        yield path


def _new_file_modes(staging_folder: Path) -> tuple[int, int]:
    probe = staging_folder / secrets.token_hex(8)
    os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    file_mode = probe.stat().st_mode & _ALL
    probe.unlink()
    probe.mkdir(_ALL)
    folder_mode = probe.stat().st_mode & _ALL
    probe.rmdir()
    return file_mode, folder_mode


def _set_mode(path: Path, mode: int) -> None:
    # A file written by another user for this run, like a cluster's executor, keeps its modes.
    with suppress(PermissionError):
        path.chmod(path.stat().st_mode & ~_ALL & 0o7777 | mode)
