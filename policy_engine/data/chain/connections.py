"""The connection that a writer leaves for the next one."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from weakref import finalize

if TYPE_CHECKING:
    import sqlite3

FileIdentity: TypeAlias = tuple[int, int] | None
_WATCHING = getattr(os, "O_PATH", 0) and os.O_PATH | os.O_CLOEXEC


class OpenFile(NamedTuple):
    """A connection that may write, and which file it has open, by which path."""

    connection: "sqlite3.Connection"
    path: Path
    identity: FileIdentity

    def is_in_place(self) -> bool:
        """Return whether the file is still the one at its path."""
        return identity_of(self.path) == self.identity


@dataclass
class KeptConnection:
    """At most one connection, which a writer takes, and gives back once its transaction is done.

    Whoever writes meanwhile opens one of their own. It keeps its rollback journal as well, with a
    header of zeros while nobody writes: to make and remove a file makes others' changes to the
    folder part of every commit.
    """

    _idle: OpenFile | None = None
    _is_closed: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def take(self) -> OpenFile | None:
        """Return the connection, which is nobody else's now; None if there is none."""
        with self._lock:
            taken, self._idle = self._idle, None
            return taken

    def give_back(self, file: OpenFile) -> None:
        """Keep a connection that has no transaction, unless there is another one by now."""
        with self._lock:
            if self._idle is None and not self._is_closed:
                self._idle = file
                return
        part_from(file)

    def close(self) -> None:
        """Close the connection, and keep none from now on."""
        self._is_closed = True
        if (file := self.take()) is not None:
            part_from(file)


def prepare(connection: "sqlite3.Connection") -> None:
    """Make a connection one that can be kept."""
    connection.execute("PRAGMA journal_mode = PERSIST").close()


def part_from(file: OpenFile) -> None:
    """Close a connection, and remove its journal, which has nothing.

    The journal of a file that was moved away may be that of another file by now.
    """
    import sqlite3  # noqa: PLC0415

    with suppress(sqlite3.Error):
        if file.is_in_place():
            file.connection.execute("PRAGMA journal_mode = DELETE").close()
    file.connection.close()


class WatchedFile:
    """A file that is known again, and that tells whether it was deleted.

    It is not opened to be read: a process that closes such a file loses the locks that its own
    connections have (https://www.sqlite.org/howtocorrupt.html, section 2.2). Where systems cannot
    do that, nothing is known to have been deleted.
    """

    def __init__(self, path: Path) -> None:
        """Watch the file that is at a path now, if there is one."""
        self.identity = identity_of(path)
        self._number: int | None = None
        if _WATCHING:
            with suppress(OSError):
                self._number = os.open(path, _WATCHING)
                finalize(self, os.close, self._number)
                status = os.fstat(self._number)
                self.identity = status.st_dev, status.st_ino

    def is_at(self, path: Path) -> bool:
        """Return whether the file at a path is this one; a rename moves it."""
        return identity_of(path) == self.identity

    def is_deleted(self) -> bool:
        """Return whether the file has no name any more; one that was renamed has."""
        return self._number is not None and os.fstat(self._number).st_nlink == 0


def identity_of(path: Path) -> FileIdentity:
    """Return the device and inode of a file, which a rename keeps; None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
