"""Where files are: by the digest of their content, and parts of those that are still coming."""

import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.files.blobs import ArrowBlobs, Blobs, LocalBlobs
from policy_engine.service.files.verifying import digest_of_file
from policy_engine.service.identity.authorising import nothing_there

SPARE = 64 * 2**20
"""Bytes of the disk that are left free, for the database and the logs."""
_MOST_TRIES = 10


@dataclass(frozen=True)
class FileFolder:
    """The files of a service: those that are coming in a folder, complete ones there too, or in a
    `storage`. Their names are made here: no name that somebody gave is a path."""

    root: Path
    storage: str = ""

    @cached_property
    def blobs(self) -> Blobs:
        """The complete files. Raises ServiceError (N012, N013) for a storage that is none."""
        kept = self.root / "files"
        return ArrowBlobs.at(self.storage, kept) if self.storage else LocalBlobs(kept)

    def path(self, name: str) -> Path:
        """Return the path of a file by its name: a digest, and an ending that is known. Raises
        ServiceError (N013) where it cannot be fetched."""
        return self.blobs.path(name)

    @contextmanager
    def reading(self, find: Callable[[], Mapping[str, str]]) -> Iterator[dict[str, Path]]:
        """Return files that are there until the end, even if they are replaced meanwhile.

        `find` says the names of the files, each by what it is for; it is asked again where one was
        removed since. Raises ServiceError (N013) for what cannot be fetched.
        """
        folder = self._readings / f"{os.getpid()}-{secrets.token_hex(8)}"
        try:
            yield self._held(find, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def forget_readings(self, process: int | None = None) -> None:
        """Remove what a process, or any, was reading when it ended before its time."""
        for one in self._readings.glob("*" if process is None else f"{process}-*"):
            shutil.rmtree(one, ignore_errors=True)

    def forget_ended(self) -> None:
        """Remove what processes were reading, or had spilled, that have ended before their time."""
        for one in (*self._readings.glob("*-*"), *self._spills.glob("*-*")):
            if not is_there(one.name.partition("-")[0]):
                shutil.rmtree(one, ignore_errors=True)

    def new_spill(self) -> Path:
        """Return a new folder for what a process that this one starts cannot keep in memory."""
        place = self._spills / f"{os.getpid()}-{secrets.token_hex(8)}"
        place.mkdir(mode=0o700, parents=True)
        return place

    def forget_spills(self) -> None:
        """Remove what any process could not keep in memory, before there is one of this service."""
        shutil.rmtree(self._spills, ignore_errors=True)

    def _held(self, find: Callable[[], Mapping[str, str]], folder: Path) -> dict[str, Path]:
        names = find()
        for number in range(_MOST_TRIES):
            try:
                return self._link_all(names, folder / str(number))
            except (PolicyEngineError, OSError):
                earlier, names = names, find()
                if names == earlier:  # it was not removed: it is lost
                    raise
        raise ServiceError.of("N013", "The data are being replaced.", "Ask again in a moment.")

    def _link_all(self, names: Mapping[str, str], folder: Path) -> dict[str, Path]:
        """Return files under names that say nothing of their content."""
        held = {}
        if names:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number, (one, name) in enumerate(names.items()):
            ending = name.partition(".")[2]
            held[one] = linked(self.path(name), folder / f"{number}.{ending}")
        return held

    def part(self, upload_id: str) -> Path:
        """Return the path of what has come of an upload, by its identifier."""
        if not (upload_id.isascii() and upload_id.isalnum()):
            raise nothing_there()
        return self._parts / upload_id

    def received(self, upload_id: str) -> int:
        """Return how many bytes of an upload have come."""
        part = self.part(upload_id)
        return part.stat().st_size if part.exists() else 0

    @contextmanager
    def appending(self, upload_id: str, offset: int) -> Iterator[BinaryIO]:
        """Return the file of an upload to append to, from where it ends; one at a time does so.

        What was written is on the disk at the end. Raises ServiceError (N004) where it ends
        elsewhere, or another call is writing.
        """
        self._parts.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.part(upload_id).open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                message = "Another call is writing this upload."
                raise ServiceError.of("N004", message, "Wait until it has ended.") from None
            if file.tell() != offset:
                message = f"The upload goes on at byte {file.tell()}. Given: {offset}."
                raise ServiceError.of("N004", message)
            try:
                yield file
            finally:
                file.flush()
                os.fsync(file.fileno())

    def check_space(self, size: int) -> None:
        """Raise ServiceError (N008) for a file that the disk has no room for."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shutil.disk_usage(self.root).free < size + SPARE:
            raise ServiceError.of("N008", f"There is no room for a file of {size:,} bytes.")

    def name(self, upload_id: str, ending: str) -> str:
        """Return the name under which an upload is to be kept."""
        return f"{digest_of_file(self.part(upload_id))}.{ending}"

    def keep(self, upload_id: str, name: str) -> None:
        """Keep an upload under a name from now on, in one step; what has come of it stays, too.
        Raises ServiceError (N013) where a storage does not take it."""
        self.blobs.put(self.part(upload_id), name)

    def forget_part(self, upload_id: str) -> None:
        """Remove what has come of an upload."""
        self.part(upload_id).unlink(missing_ok=True)

    def parts(self) -> set[str]:
        """Return the identifiers of uploads of which something has come."""
        return {one.name for one in self._parts.iterdir()} if self._parts.is_dir() else set()

    def forget(self, name: str) -> None:
        """Remove a file that nothing uses any more."""
        self.blobs.remove(name)

    @property
    def _parts(self) -> Path:
        return self.root / "uploads"

    @property
    def _readings(self) -> Path:
        return self.root / "reading"

    @property
    def _spills(self) -> Path:
        return self.root / "spilled"


def is_there(process: str) -> bool:
    """Tell whether a process with this number is running; anything else than a number is not."""
    try:
        os.kill(int(process), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def linked(path: Path, place: Path) -> Path:
    """Return another place at which a file is, even once it is removed. Raises OSError."""
    try:
        os.link(path, place)
    except FileNotFoundError:
        raise
    except OSError:  # another disk
        shutil.copyfile(path, place)
    return place
