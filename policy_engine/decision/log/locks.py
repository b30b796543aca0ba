"""A lock on an open file, held until it is closed or unlocked: one writer at a time."""

import errno
import os
import sys
import time

PATIENCE = 30.0
"""How many seconds to wait for another holder of the lock."""

_BEYOND = 2**31 - 2
"""Where Windows locks a byte: far behind the text, since a locked byte cannot be read there."""


def lock(number: int, *, shared: bool = False) -> None:
    """Lock an open file. Raises OSError if that is impossible or takes too long."""
    until, pause = time.monotonic() + PATIENCE, 0.0005
    while not _locked(number, shared=shared):
        if time.monotonic() > until:
            raise OSError(errno.EAGAIN, "another process holds its lock")
        time.sleep(pause)
        pause = min(2 * pause, 0.01)


if sys.platform == "win32":
    import msvcrt

    def _locked(number: int, *, shared: bool) -> bool:  # noqa: ARG001 (Windows has no shared ones)
        os.lseek(number, _BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(number, 0, os.SEEK_SET)
        return True

    def unlock(number: int) -> None:
        """Let go of a lock."""
        os.lseek(number, _BEYOND, os.SEEK_SET)
        msvcrt.locking(number, msvcrt.LK_UNLCK, 1)
        os.lseek(number, 0, os.SEEK_SET)

else:
    import fcntl

    def _locked(number: int, *, shared: bool) -> bool:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(number, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(number: int) -> None:
        """Let go of a lock."""
        fcntl.flock(number, fcntl.LOCK_UN)
