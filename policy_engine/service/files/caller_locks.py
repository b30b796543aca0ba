"""Locks of callers between the processes that answer calls on one machine."""

import fcntl
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

_PLACES = 2**62


@dataclass
class CallerLocks:
    """A lock for each caller that one process at a time has.

    Each is a byte of a file that is never written: the system gives it back when a process ends.
    Within a process it keeps nobody out.
    """

    path: Path
    _number: int | None = field(default=None, init=False, repr=False)

    def take(self, caller: str) -> bool:
        """Return whether this process has the lock of a caller now. Raises OSError."""
        if self._number is None:
            self._number = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(self._number, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(caller))
        except BlockingIOError:
            return False
        return True

    def give_back(self, caller: str) -> None:
        """Let another process have the lock of a caller."""
        if self._number is not None:
            fcntl.lockf(self._number, fcntl.LOCK_UN, 1, _place(caller))

    def close(self) -> None:
        """Give all locks back."""
        if self._number is not None:
            os.close(self._number)
            self._number = None


def _place(caller: str) -> int:
    return int.from_bytes(hashlib.sha256(caller.encode()).digest()[:8], "big") % _PLACES
