"""A log as a file of lines, one JSON text each."""

import errno
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from policy_engine.data.chain.rows import (
    LONGEST,
    Row,
    open_for_appending,
    open_for_reading,
    sync_folder,
)
from policy_engine.decision.log.entries import Entry
from policy_engine.decision.log.locks import lock, unlock
from policy_engine.decision.log.pending import complete_size, pending_note
from policy_engine.decision.log.places import LogTail, reading, writing

_BLOCK = 2**16
_TORN = "the file ends in the middle of it, as after a crash"
_TOO_LONG = f"it is longer than the {LONGEST:,} bytes that an entry may have"


@dataclass(frozen=True)
class LinesFile:
    """A file of lines."""

    path: Path

    @contextmanager
    def appending(self) -> Iterator[LogTail]:
        """Return the end of the file, held exclusively; a missing file is created."""
        with writing(self.path):
            # Opened for each entry: threads that share an open file would share its lock.
            number = open_for_appending(self.path)
            try:
                lock(number)
                complete = complete_size(self.path, number)
                if complete < os.fstat(number).st_size:
                    os.ftruncate(number, complete)
                add, rows = partial(_append, number, self.path), partial(_rows, number)
                yield LogTail(_last_line(number), add, rows)
            finally:
                os.close(number)

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield the lines that were there when reading began."""
        with reading(self.path):
            number = open_for_reading(self.path)
            try:
                # Under the lock nobody is writing a line; without it, lines are only added.
                lock(number, shared=True)
                size = complete_size(self.path, number)
                unlock(number)
                yield from _rows(number, start, size)
            finally:
                os.close(number)

    def last(self) -> Row | None:
        """Return the last line, None where there is none."""
        return next(iter(deque(self.rows(), maxlen=1)), None)

    def latest(
        self,
        before: int | None = None,
        texts: Sequence[bytes] = (),
        after: int | None = None,
    ) -> Iterator[Row]:
        """Yield the lines from the last one backwards, those with each of some texts.

        All of them are read first: their lines are counted from the beginning.
        """
        del before, after  # a line has no number but that of its entry
        rows = [row for row in self.rows() if all(text in row.text for text in texts)]
        yield from reversed(rows)


def _rows(number: int, start: int, size: int = -1) -> Iterator[Row]:
    """Yield the lines of an open file from a position on, up to a size or to its end."""
    remaining = (os.fstat(number).st_size if size < 0 else size) - start
    with os.fdopen(os.dup(number), "rb") as file:
        file.seek(start)
        line = 0
        while remaining > 0 and (text := file.readline(min(remaining, LONGEST + 1))):
            remaining, line = remaining - len(text), line + 1
            if not text.endswith(b"\n"):
                yield Row(line, text, _TORN if remaining <= 0 else _TOO_LONG, start=start)
                return
            yield Row(line, text[:-1], start=start)
            start += len(text)


def _last_line(number: int) -> Row | None:
    """Return the last line, looking no further back than it begins."""
    size = os.fstat(number).st_size
    length = min(size, _BLOCK)
    while length:
        os.lseek(number, size - length, os.SEEK_SET)
        end = _read(number, length)
        if not end.endswith(b"\n"):
            return Row(0, b"", _TORN)
        start = end.rfind(b"\n", 0, -1) + 1
        if start or length == size:
            return Row(0, end[start:-1])
        if length > LONGEST:
            return Row(0, b"", _TOO_LONG)
        length = min(size, 2 * length)
    return None


def _read(number: int, length: int) -> bytes:
    parts = []
    while length and (part := os.read(number, length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _append(number: int, path: Path, entry: Entry) -> int:
    """Write an entry in one piece and flush it to the disk, or leave the file as it was."""
    data, size = entry.text() + b"\n", os.fstat(number).st_size
    if len(data) > LONGEST:
        raise OSError(errno.EFBIG, f"an entry of {len(data):,} bytes is too long")
    with pending_note(path, size, data):
        try:
            _write(number, data)
        except OSError:
            with suppress(OSError):
                os.ftruncate(number, size)
            raise
    if size == 0:
        with suppress(OSError):
            sync_folder(path.parent)
    return size


def _write(number: int, data: bytes) -> None:
    if os.write(number, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(number)
