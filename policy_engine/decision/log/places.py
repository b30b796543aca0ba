"""Where a log lies: what a writer and a reader see of it, and how its file is opened."""

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
"""How many bytes an entry has at most."""

_NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0)
# A pipe is to be refused, not to be waited for.
_ALWAYS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True)
class Row:
    """What lies in one line of a file or row of a table, and what is wrong with how it lies.

    `columns` are the number and the hash as a table has them beside the entry. `start` is where
    the row stands: of a line its first byte, of a row of a table its number.
    """

    line: int
    text: bytes
    fault: str = ""
    columns: tuple[int, str] | None = None
    start: int = 0


@dataclass(frozen=True)
class Tail:
    """The end of a log that nobody else writes to now.

    `add` returns where the entry stands, `rows` what stands from somewhere on.
    """

    last: Row | None
    add: Callable[[Entry], int]
    rows: Callable[[int], Iterator[Row]]


class Store(Protocol):
    """A file of lines, or a table."""

    @property
    def path(self) -> Path:
        """Where it lies."""

    def appending(self) -> AbstractContextManager[Tail]:
        """Return the log's end, alone with it; a log that is not there is begun.

        Raises OutputError (O002) where it cannot be written.
        """

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield the rows in order, from the one that stands there on.

        Raises LogError (G001) where they cannot be read.
        """


def open_for_appending(path: Path) -> int:
    """Return the log, open; where it is not there, made for its owner alone. Raises OSError."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NOT_FOLLOWED | _ALWAYS
    try:
        return _check_regular(os.open(path, flags, 0o600))
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise OSError(error.errno, "it is a symbolic link") from None
        raise


def open_for_reading(path: Path) -> int:
    """Return the log, open. Raises OSError."""
    return _check_regular(os.open(path, os.O_RDONLY | _ALWAYS))


def _check_regular(number: int) -> int:
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return number


@contextmanager
def writing(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn what fails inside into OutputError (O002) in one line."""
    kinds: tuple[type[Exception], ...] = (OSError, ValueError, *more)
    try:
        yield
    except kinds as error:
        message = f"The decision log cannot be written: {_reason(error)}."
        raise OutputError.of("O002", message, source=str(path)) from None


@contextmanager
def reading(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn what fails inside into LogError (G001) in one line."""
    kinds: tuple[type[Exception], ...] = (OSError, ValueError, *more)
    try:
        yield
    except kinds as error:
        message = f"The decision log cannot be read: {_reason(error)}."
        raise LogError.of("G001", message, source=str(path)) from None


def _reason(error: Exception) -> str:
    words = str(getattr(error, "strerror", None) or error or type(error).__name__)
    return words.splitlines()[0].rstrip(".")
