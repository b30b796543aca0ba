"""How many calls of one caller are answered in a minute."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from policy_engine.errors import ServiceError

_MINUTE = 60.0
_MOST_CALLERS = 10_000


class Buckets(Protocol):
    """Buckets of callers that several processes share."""

    def take(self, caller: str, most: int, a_second: float, moment: float) -> bool:
        """Return whether a caller has one left, of `most` that come back so many `a_second`."""


@dataclass
class RateLimit:
    """A bucket of calls for each caller, that fills again within a minute.

    The callers who called longest ago are forgotten, whose buckets are full again or nearly.
    """

    calls: int
    clock: Callable[[], float] = time.monotonic
    shared: Buckets | None = None
    """The buckets of all processes, where there are several; `name` is that of the limit there."""
    name: str = ""
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, caller: str) -> None:
        """Count a call of a caller. Raises ServiceError (N006) for one too many."""
        if not self._take(caller):
            message = f"You called too often. Answered are {self.calls} calls like this a minute."
            raise ServiceError.of("N006", message, "Wait a minute.")

    def _take(self, caller: str) -> bool:
        if self.shared is not None:
            a_second = self.calls / _MINUTE
            return self.shared.take(f"{self.name} {caller}", self.calls, a_second, self.clock())
        with self._lock:
            moment = self.clock()
            left, since = self._buckets.pop(caller, (float(self.calls), moment))
            left = min(self.calls, left + (moment - since) * self.calls / _MINUTE)
            is_enough = left >= 1
            self._buckets[caller] = (left - 1 if is_enough else left, moment)
            if len(self._buckets) > _MOST_CALLERS:
                self._buckets.popitem(last=False)
        return is_enough
