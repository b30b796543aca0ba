"""What is read of a chain where it is stored, and how its file is opened."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Generic, NamedTuple, TypeVar

from policy_engine.data.chain.entries import ChainEntry

Chained = TypeVar("Chained", bound=ChainEntry)

LONGEST = 2**24
"""The maximum size of an entry, in bytes."""

_NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0)
_IRREGULAR = "it is not a regular file"
# A pipe must be refused, without waiting for it.
_ALWAYS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Row(NamedTuple):
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
class ChainTail(Generic[Chained]):
    """The end of a chain while nobody else writes to it.

    `add` returns the position of the new entry, `rows` the rows from a position on.
    """

    last: Row | None
    add: Callable[[Chained], int]
    rows: Callable[[int], Iterator[Row]]


def open_for_appending(path: Path) -> int:
    """Return the open file; a missing one is created for its owner alone. Raises OSError."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NOT_FOLLOWED | _ALWAYS
    try:
        return _check_regular(os.open(path, flags, 0o600))
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise OSError(error.errno, "it is a symbolic link") from None
        raise


def open_for_reading(path: Path) -> int:
    """Return the open file. Raises OSError."""
    return _check_regular(os.open(path, os.O_RDONLY | _ALWAYS))


def _check_regular(number: int) -> int:
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, _IRREGULAR)
    return number


def check_database(path: Path, *, follow: bool = True) -> None:
    """Raise OSError if a path is not that of a file that SQLite can open, or is a link to one.

    The file is not opened: a process that closes it loses the locks that its own connections have
    (https://www.sqlite.org/howtocorrupt.html, section 2.2).
    """
    mode = path.stat(follow_symlinks=follow).st_mode
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a symbolic link")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, _IRREGULAR)
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def make_database(path: Path) -> None:
    """Make an empty file, for its owner alone, unless there is one. Raises OSError."""
    if os.path.lexists(path):
        return
    draft = path.with_name(f".{path.name}-{token_hex(8)}")
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    give_name(draft, path)


def give_name(draft: Path, path: Path) -> None:
    """Move a complete file to a path, unless there is a file. Raises OSError."""
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        if not os.path.lexists(path):
            draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Flush the name of a new file to the disk, where folders can be opened. Raises OSError."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def reason(error: Exception) -> str:
    """Return an error of the system or of SQLite in a few words, without a full stop."""
    words = str(getattr(error, "strerror", None) or error or type(error).__name__)
    return words.splitlines()[0].rstrip(".")
