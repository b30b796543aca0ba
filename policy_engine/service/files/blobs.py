"""Where complete files are kept, by the digest of their content: in a folder, or in a storage that
Arrow's file systems reach."""

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.files.storage_urls import check_storage
from policy_engine.service.files.verifying import VerifiedFiles

_CHUNK = 1 << 20


class Blobs(Protocol):
    """Files that never change, by names made of the SHA-256 of their content and an ending."""

    def put(self, path: Path, name: str) -> None:
        """Take a file of this machine in one step; it stays where it was, too, until the caller
        removes it there."""
        ...

    def names(self) -> set[str]:
        """Return the names of all files. Raises ServiceError (N013)."""
        ...

    def path(self, name: str) -> Path:
        """Return where a file is on this machine, compared with its digest. Raises ServiceError
        (N013) if it cannot come, or is another one."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file that nothing uses any more, or is not there. Raises ServiceError (N013)
        where that cannot be told, since what has the files is not there."""
        ...

    def check(self) -> None:
        """Raise ServiceError (N013) where what has the files does not answer."""
        ...

    def copied(self) -> set[str]:
        """Return the names of files of which there are copies on this machine."""
        ...

    def forget_copy(self, name: str) -> None:
        """Remove the copy of a file on this machine. Raises ServiceError (N013)."""
        ...


@dataclass(frozen=True)
class LocalBlobs:
    """Files in a folder of this machine."""

    folder: Path
    verified: VerifiedFiles = field(default_factory=VerifiedFiles, compare=False)

    def put(self, path: Path, name: str) -> None:
        """Link a file of the same disk into the folder."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o400)
        draft = self.folder / f".{secrets.token_hex(16)}"
        try:
            os.link(path, draft)
            draft.replace(self.place(name))
        finally:
            draft.unlink(missing_ok=True)  # where both are the same file, it stays

    def names(self) -> set[str]:
        """Return the names of what is in the folder."""
        with _storage_errors():
            return {one.name for one in self.folder.iterdir()} if self.folder.is_dir() else set()

    def path(self, name: str) -> Path:
        """Return the path of a file in the folder, compared with its digest."""
        with _storage_errors():
            if not self.verified.has(self.place(name)):
                message = "A file in the folder of the service is not what was uploaded."
                raise ServiceError.of("N013", message, "Restore it from a backup.")
        return self.place(name)

    def place(self, name: str) -> Path:
        """Return where a file is in the folder, if it is there."""
        return self.folder / name

    def remove(self, name: str) -> None:
        """Remove a file from the folder."""
        with _storage_errors():
            self.check()
            self.place(name).unlink(missing_ok=True)

    def check(self) -> None:
        """Raise ServiceError (N013) where the folder is not there."""
        if not self.folder.is_dir():
            raise _no_place()

    def copied(self) -> set[str]:
        """Return an empty set: a local folder holds the originals, not copies."""
        return set()

    def forget_copy(self, name: str) -> None:
        """Do nothing, since a local folder keeps no copies."""


@dataclass(frozen=True)
class ArrowBlobs:
    """Files in a file system of Arrow, of which copies are kept in a folder of this machine.

    What is sent gets its name once all of it is there, so that nobody reads a part; what is fetched
    is compared with the digest that it is named by, so that nobody reads anything else.
    """

    system: Any
    root: str
    copies: LocalBlobs

    @classmethod
    def at(cls, url: str, copies: Path) -> "ArrowBlobs":
        """Return the files at a URL. Raises ServiceError: N012 for one that is none, N013 for a
        storage that cannot be reached."""
        from pyarrow.fs import FileSystem  # noqa: PLC0415 (slow to import)

        check_storage(url)
        try:
            system, root = FileSystem.from_uri(url)
        except (OSError, ValueError, NotImplementedError, ImportError) as error:
            message = "The storage is not one that Arrow reaches, such as s3://BUCKET/FOLDER: "
            raise ServiceError.of("N012", f"{message}{type(error).__name__}.") from None
        return cls(system, root.rstrip("/"), LocalBlobs(copies))

    def put(self, path: Path, name: str) -> None:
        """Send a file, unless it is there. Raises ServiceError (N013)."""
        with _storage_errors():
            if not self._has_whole(name, path.stat().st_size):
                self._send(path, name)
        self.copies.put(path, name)

    def path(self, name: str) -> Path:
        """Return the copy of a file on this machine, which is fetched if there is none, or another
        file has its name."""
        copy = self.copies.place(name)
        with _storage_errors():
            if not (copy.exists() and self.copies.verified.has(copy)):
                self._fetch(name)
        return copy

    def remove(self, name: str) -> None:
        """Remove a file, and its copy."""
        self.forget_copy(name)
        with _storage_errors():
            if self._has(name):
                self.system.delete_file(self._place(name))
            else:
                self.check()

    def check(self) -> None:
        """Raise ServiceError (N013) where the storage, or the folder of files in it, is not there:
        a disk that is not mounted has none of its files."""
        from pyarrow.fs import FileType  # noqa: PLC0415 (slow to import)

        with _storage_errors():
            [info] = self.system.get_file_info([f"{self.root}/files"])
        if info.type is not FileType.Directory:
            raise _no_place()

    def copied(self) -> set[str]:
        """Return the names of what is in the folder of copies."""
        return self.copies.names()

    def names(self) -> set[str]:
        """Return the names of what is in the storage."""
        from pyarrow.fs import FileSelector  # noqa: PLC0415 (slow to import)

        with _storage_errors():
            selector = FileSelector(f"{self.root}/files", allow_not_found=True)
            return {one.base_name for one in self.system.get_file_info(selector) if one.is_file}

    def forget_copy(self, name: str) -> None:
        """Remove a file from the folder of copies."""
        with _storage_errors():
            self.copies.place(name).unlink(missing_ok=True)

    def _has(self, name: str) -> bool:
        [info] = self.system.get_file_info([self._place(name)])
        return bool(info.is_file)

    def _has_whole(self, name: str, size: int) -> bool:
        """Tell whether a file of a size is there that has the digest that it is named by."""
        [info] = self.system.get_file_info([self._place(name)])
        if not (info.is_file and info.size == size):
            return False
        digest = hashlib.sha256()
        with self.system.open_input_stream(self._place(name)) as stream:
            for chunk in _chunks(stream):
                digest.update(chunk)
        return digest.hexdigest() == name.partition(".")[0]

    def _send(self, path: Path, name: str) -> None:
        self.system.create_dir(f"{self.root}/files", recursive=True)
        self.system.create_dir(f"{self.root}/arriving", recursive=True)
        place = f"{self.root}/arriving/{secrets.token_hex(16)}"
        with path.open("rb") as file, self.system.open_output_stream(place) as stream:
            for chunk in _chunks(file):
                stream.write(chunk)
        if self.system.get_file_info([place])[0].size != path.stat().st_size:
            raise ServiceError.of("N013", "The storage did not take all of a file.")
        self.system.move(place, self._place(name))

    def _fetch(self, name: str) -> None:
        self.copies.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.copies.folder / f".{secrets.token_hex(16)}"
        digest = hashlib.sha256()
        try:
            stream = self.system.open_input_stream(self._place(name))
            with stream, open(draft, "xb", opener=_private) as file:
                for chunk in _chunks(stream):
                    digest.update(chunk)
                    file.write(chunk)
            if digest.hexdigest() != name.partition(".")[0]:
                raise ServiceError.of("N013", "The storage has something else under a file's name.")
            self.copies.put(draft, name)
        finally:
            draft.unlink(missing_ok=True)

    def _place(self, name: str) -> str:
        return f"{self.root}/files/{name}"


def _no_place() -> PolicyEngineError:
    message = "The folder that files are kept in is not there."
    return ServiceError.of("N013", message, "Look whether its disk or its storage is there.")


@contextmanager
def _storage_errors() -> Iterator[None]:
    """Turn errors of a storage into ServiceError (N013), without their words: keys may be there."""
    try:
        yield
    except PolicyEngineError:
        raise
    except OSError as error:
        raise ServiceError.of("N013", f"The storage failed: {type(error).__name__}.") from error


def _chunks(file: "BinaryIO | Any") -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
