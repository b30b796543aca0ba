"""The collector of cyclic garbage rests while a policy is read: nearly all that is made is kept."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class _Rest:
    """Keeps the collector off as long as anybody, in any thread, wants it off."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._wanted = 0
        self._was_on = False

    def begin(self) -> None:
        with self._lock:
            if not self._wanted:
                self._was_on = gc.isenabled()
                gc.disable()
            self._wanted += 1

    def end(self) -> None:
        with self._lock:
            self._wanted -= 1
            if not self._wanted and self._was_on:
                gc.enable()


_REST = _Rest()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector until the last of those who paused it is done."""
    _REST.begin()
    try:
        yield
    finally:
        _REST.end()
