"""What a query may use, memory and time, and how another thread ends it."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from policy_engine.errors import PolicyEngineError, QueryError

SECONDS = 600.0
"""How long a query takes at most where nothing else is said."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(K|M|G|T)(I?)B", re.IGNORECASE)
_LEAST = 64 * 2**20


class Interruptible(Protocol):
    """A connection of which another thread can end what it does."""

    def interrupt(self) -> None:
        """End what the connection does."""


class QueryStop:
    """Ends the queries that it is given to, from another thread: those that run, and later ones."""

    def __init__(self) -> None:
        self._lock, self._connections, self._is_set = Lock(), list[Interruptible](), False

    @property
    def is_set(self) -> bool:
        """Whether the queries were ended."""
        return self._is_set

    def stop(self) -> None:
        """End the queries. They raise QueryError (Q012)."""
        with self._lock:
            self._is_set = True
            for one in self._connections:
                one.interrupt()

    @contextmanager
    def watched(self, connection: Interruptible) -> Iterator[None]:
        """End what a connection does when the queries are ended. Raises QueryError (Q012) if they
        were before."""
        with self._lock:
            if self._is_set:
                raise stop_error()
            self._connections.append(connection)
        try:
            yield
        finally:
            with self._lock:
                self._connections.remove(connection)


@dataclass(frozen=True)
class QueryLimits:
    """What the queries of an answer may use.

    `memory` is in bytes, for all queries of the process at once, 0 for half of what the machine or
    the container has; `deadline` is a moment of the monotonic clock, of each query by itself where
    there is none.
    """

    memory: int = 0
    deadline: float | None = None
    stop: QueryStop = field(default_factory=QueryStop)

    def seconds(self) -> float:
        """Return how long a query may take from now on. Raises QueryError (Q011) if not at all."""
        if self.deadline is None:
            return SECONDS
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise time_error()
        return left


_LIMITS: ContextVar[QueryLimits] = ContextVar("limits")


def current_limits() -> QueryLimits:
    """Return the limits of the queries of this thread."""
    return _LIMITS.get(QueryLimits())


def check_limits() -> None:
    """Raise QueryError where the queries of this thread have no time left (Q011) or were ended
    (Q012)."""
    limits = current_limits()
    if limits.stop.is_set:
        raise stop_error()
    limits.seconds()


@contextmanager
def query_limits(
    memory: str | int = "", seconds: float | None = None, stop: QueryStop | None = None
) -> Iterator[None]:
    """Limit the queries of this thread, all together, in memory and seconds; `stop` ends them.

    Raises QueryError (Q011) for a size or a time that is not one.
    """
    if seconds is not None and not 0 < seconds < float("inf"):
        raise QueryError.of("Q011", f"A time is a number of seconds above 0. Given: {seconds!r}.")
    deadline = None if seconds is None else time.monotonic() + seconds
    limits = QueryLimits(memory_size(memory), deadline, stop or QueryStop())
    token = _LIMITS.set(limits)
    try:
        yield
    finally:
        _LIMITS.reset(token)


def memory_size(text: str | int) -> int:
    """Return a size such as "2GB" or "512MiB" in bytes; 0 for none. Raises QueryError (Q011)."""
    if text in ("", 0):
        return 0
    match = _SIZE.fullmatch(str(text).strip())
    size = text if isinstance(text, int) else 0
    if match:
        base = 1024 if match[3] else 1000
        size = int(float(match[1]) * base ** (1 + "KMGT".index(match[2].upper())))
    if size < _LEAST:
        message = f"A limit of memory is at least 64MiB, such as 2GB or 512MiB. Given: {text!r}."
        raise QueryError.of("Q011", message)
    return size


def time_error() -> PolicyEngineError:
    """Return the error of a query that takes longer than it may."""
    return QueryError.of("Q011", "The query takes more time than it may.", _FEWER)


def memory_error() -> PolicyEngineError:
    """Return the error of a query that needs more memory than it may have."""
    return QueryError.of("Q011", "The query needs more memory than it may have.", _FEWER)


def disk_error() -> PolicyEngineError:
    """Return the error of a query for which neither memory nor the disk has room."""
    message = "The query needs more memory than it may have, and the disk has no room for the rest."
    return QueryError.of("Q011", message, _FEWER)


def stop_error() -> PolicyEngineError:
    """Return the error of a query that was ended."""
    return QueryError.of("Q012", "The query was ended before it was answered.")


_FEWER = "Read fewer rows, join them on equal values, or group by fewer values."
LIMIT_CODES = ("Q011", "Q012")
"""The codes of what ends a query whatever the values are that it reads."""
