"""A note of what is about to be written to a log, so that a killed writer leaves it intact.

A kill may stop a write between two pages of the file. The file then ends with the beginning of an
entry whose answer was never given; the note beside the log tells it from a damaged one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from policy_engine.data.chain.rows import open_for_reading

ENDING = ".pending"
_PAGE = 4_096
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def pending_note(path: Path, size: int, data: bytes) -> Iterator[None]:
    """Note what is being appended to a log of a given size, in case a kill interrupts it."""
    if size // _PAGE == (size + len(data) - 1) // _PAGE:
        yield
        return
    place = _note_path(path)
    with suppress(OSError), os.fdopen(os.open(place, _NEW, 0o600), "wb") as file:
        file.write(b"%d\n%b" % (size, data))
    yield
    with suppress(OSError):
        place.unlink()


def complete_size(path: Path, number: int) -> int:
    """Return the size of an open log without an entry whose writer was killed while writing it.

    Call it while holding the log's lock: otherwise somebody may be writing that entry.
    """
    size = os.fstat(number).st_size
    if not size or _read(number, size - 1, 1) == b"\n":
        return size
    with suppress(OSError, ValueError):
        with os.fdopen(open_for_reading(_note_path(path)), "rb") as file:
            start, data = int(file.readline()), file.read()
        torn = _read(number, start, len(data)) if 0 <= start < size else b""
        if torn and len(torn) == size - start and data.startswith(torn):
            return start
    return size


def _read(number: int, start: int, length: int) -> bytes:
    os.lseek(number, start, os.SEEK_SET)
    return os.read(number, length)


def _note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}{ENDING}")
