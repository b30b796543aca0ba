"""A lock between processes, which they have in turn."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_NEXT, _NOW = 0, 1
"""The bytes that are locked: by who is next, and by whose turn it is."""


@dataclass(frozen=True)
class TurnLock:
    """A lock that nobody takes twice while another process waits for it.

    Who has it cannot be next before who waits has become it. SQLite's own lock is had by whoever
    happens to ask when it is free, and who waits asks only now and then. It is for one thread of a
    process at a time; the system gives it back when a process ends.
    """

    path: Path

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock. Raises OSError where its file cannot be opened."""
        number = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(number, fcntl.LOCK_EX, 1, _NEXT)
            fcntl.lockf(number, fcntl.LOCK_EX, 1, _NOW)
            fcntl.lockf(number, fcntl.LOCK_UN, 1, _NEXT)
            yield
        finally:
            os.close(number)
