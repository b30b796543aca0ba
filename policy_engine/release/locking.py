"""One run at a time in a folder: a locked file, or claim files where files cannot be locked."""

import errno
import importlib
import json
import os
import random
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from policy_engine.data import storage
from policy_engine.data.storage import Location
from policy_engine.errors import OutputError, PolicyEngineError
from policy_engine.release.staging import CLAIM, LOCK

_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
_PAUSE = 0.3


class Hold(Protocol):
    """The exclusive right to write into a folder."""

    def is_kept(self) -> bool:
        """Return whether nobody removed it by hand."""

    def release(self) -> None:
        """Give it back, leaving no files."""


def hold(folder: Location, waiting: Callable[[], None] | None = None) -> Hold:
    """Return the exclusive right to write into a folder, once nobody else has it.

    A run keeps this right as long as it is alive, and a lock ends with its process, so files that
    other runs left in the folder are known to be abandoned. Where files cannot be locked (object
    stores, HDFS, some network file systems, Windows), claim files are used; the claim of a killed
    run must be removed by a person, since nothing proves that the run is dead. With `waiting`,
    which is called once, another run is waited for; otherwise OutputError (O001) is raised. Raises
    OSError, FileNotFoundError if there is no such folder.
    """
    is_told = False
    while True:
        right = _attempt(folder)
        if right:
            return right
        if waiting is None:
            raise _busy_error(folder)
        if not is_told:
            waiting()
            is_told = True
        time.sleep(_PAUSE * (1 + random.random()))  # noqa: S311 (no secret)


def _attempt(folder: Location) -> Hold | None:
    """Return the right to a folder; None while another run has it.

    Holders of locks and of claims see each other: each creates its own file first, and then looks.
    """
    try:
        lock = _take_lock(folder)
    except _NoLocksError:
        claim = _Claim(folder)
        return _keep_if_alone(claim, lambda: _other_claims(folder, claim.name))
    return _keep_if_alone(lock, lambda: _claims(folder)) if lock else None


def _keep_if_alone(right: Hold, other_holders: Callable[[], list[str]]) -> Hold | None:
    """Return the right to a folder; None, after giving it back, if others have one as well."""
    is_alone = False
    try:
        is_alone = not other_holders()
    finally:
        if not is_alone:
            right.release()
    return right if is_alone else None


def _busy_error(folder: Location) -> PolicyEngineError:
    message = f"Another run is making a release in {str(folder)!r}."
    claims = _claims(folder)
    if not claims:
        return OutputError.of("O001", message, "Give another path, or wait=True.")
    claim = storage.join(folder, claims[0])
    hint = f"If that run has ended, remove {str(claim)!r}; otherwise use wait=True."
    return OutputError.of("O001", f"{message} It is {_claimant(claim)}.", hint)


# -- locks ----------------------------------------------------------------------------------------


class _NoLocksError(Exception):
    """Files cannot be locked in that place."""


class _Lock:
    """A file locked by this process."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path, self._handle = path, handle

    def is_kept(self) -> bool:
        return _is_at(self._handle, self._path)

    def release(self) -> None:
        # Whoever has it open will notice that it is no longer the file at its path.
        if self.is_kept():
            with suppress(OSError):
                self._path.unlink()
        os.close(self._handle)


def _take_lock(folder: Location) -> _Lock | None:
    """Return the lock of a folder, None if another run has it."""
    if storage.is_remote(folder) or find_spec("fcntl") is None:
        raise _NoLocksError
    path = storage.local_path(folder) / LOCK
    while True:
        handle, is_new = _open_lock(path)
        try:
            is_locked = _lock(handle)
            if not is_locked or _is_at(handle, path):
                break
        except BaseException as error:
            os.close(handle)
            if isinstance(error, _NoLocksError) and is_new:
                path.unlink(missing_ok=True)
            raise
        os.close(handle)
    if is_locked:
        return _Lock(path, handle)
    os.close(handle)
    return None


def _open_lock(path: Path) -> tuple[int, bool]:
    """Return the open lock file, and whether it is new.

    Whoever may write into the folder may lock it; whoever may only read it must not block anybody.
    """
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    while True:
        with suppress(FileExistsError):
            handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                writers = path.parent.stat().st_mode & 0o022
                if writers:
                    os.fchmod(handle, 0o600 | writers | writers << 1)
            except BaseException:
                os.close(handle)
                raise
            return handle, True
        with suppress(FileNotFoundError):
            return os.open(path, flags), False


def _lock(handle: int) -> bool:
    """Lock a file unless another process has locked it."""
    fcntl = importlib.import_module("fcntl")  # only on systems that have it
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            raise _NoLocksError from None
        if error.errno in {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES}:
            return False
        raise
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Return whether an open file is the one at a path."""
    try:
        opened, on_disk = os.fstat(handle), path.lstat()
    except OSError:
        return False
    return (opened.st_dev, opened.st_ino) == (on_disk.st_dev, on_disk.st_ino)


# -- claims ---------------------------------------------------------------------------------------


class _Claim:
    """A file created by a run that serves as its lock."""

    def __init__(self, folder: Location) -> None:
        self.name = f"{CLAIM}{secrets.token_hex(16)}"
        self._path = storage.join(folder, self.name)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        run = {"process": os.getpid(), "machine": socket.gethostname(), "since": now}
        try:
            storage.write_bytes(self._path, json.dumps(run).encode())
        except BaseException:
            self.release()
            raise

    def is_kept(self) -> bool:
        return storage.exists(self._path)

    def release(self) -> None:
        with suppress(OSError):
            storage.remove(self._path)


def _claims(folder: Location) -> list[str]:
    return [name for name in storage.names(folder) if name.startswith(CLAIM)]


def _other_claims(folder: Location, own: str) -> list[str]:
    """Return the claims of others in a folder, and its lock."""
    names = storage.names(folder)
    return [name for name in names if name == LOCK or (name.startswith(CLAIM) and name != own)]


def _claimant(claim: Location) -> str:
    try:
        run = json.loads(storage.read_bytes(claim))
        return f"process {run['process']} of {run['machine']!r}, since {run['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown which"
