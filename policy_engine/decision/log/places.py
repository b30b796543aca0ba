"""Where a log is stored: what a writer and a reader use, and how its file is opened."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from policy_engine.decision.log.entries import Entry
from policy_engine.errors import LogError, OutputError

LONGEST = 2**24
"""The maximum size of an entry, in bytes."""

_NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0)
# A pipe must be refused, without waiting for it.
_ALWAYS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True)
class Row:
    """One line of a file or row of a table, and what is wrong with it.

    `columns` are the number and the hash that a table stores beside the entry. `start` is the
    position of the row: the first byte of a line, or the number of a table row.
    """

    line: int
    text: bytes
    fault: str = ""
    columns: tuple[int, str] | None = None
    start: int = 0


@dataclass(frozen=True)
class LogTail:
    """The end of a log while nobody else writes to it.

    `add` returns the position of the new entry, `rows` the rows from a position on.
    """

    last: Row | None
    add: Callable[[Entry], int]
    rows: Callable[[int], Iterator[Row]]


class Store(Protocol):
    """A file of lines, or a table."""

    @property
    def path(self) -> Path:
        """Where it is stored."""

    def appending(self) -> AbstractContextManager[LogTail]:
        """Return the log's end, held exclusively; a missing log is created.

        Raises OutputError (O002) if it cannot be written.
        """

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield the rows in order, starting at a position.

        Raises LogError (G001) if they cannot be read.
        """


def open_for_appending(path: Path) -> int:
    """Return the open log; a missing one is created for its owner alone. Raises OSError."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NOT_FOLLOWED | _ALWAYS
    try:
        return _check_regular(os.open(path, flags, 0o600))
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise OSError(error.errno, "it is a symbolic link") from None
        raise


def open_for_reading(path: Path) -> int:
    """Return the open log. Raises OSError."""
    return _check_regular(os.open(path, os.O_RDONLY | _ALWAYS))


def _check_regular(number: int) -> int:
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return number


@contextmanager
def writing(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn errors inside into OutputError (O002) on one line."""
    kinds: tuple[type[Exception], ...] = (OSError, ValueError, *more)
    try:
        yield
    except kinds as error:
        message = f"The decision log cannot be written: {_reason(error)}."
        raise OutputError.of("O002", message, source=str(path)) from None


@contextmanager
def reading(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn errors inside into LogError (G001) on one line."""
    kinds: tuple[type[Exception], ...] = (OSError, ValueError, *more)
    try:
        yield
    except kinds as error:
        message = f"The decision log cannot be read: {_reason(error)}."
        raise LogError.of("G001", message, source=str(path)) from None


def _reason(error: Exception) -> str:
    words = str(getattr(error, "strerror", None) or error or type(error).__name__)
    return words.splitlines()[0].rstrip(".")
