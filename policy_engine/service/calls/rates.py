"""How many calls of one caller are answered in a minute."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from policy_engine.errors import ServiceError

_MINUTE = 60.0
_MOST_CALLERS = 10_000


@dataclass
class RateLimit:
    """A bucket of calls for each caller, that fills again within a minute.

    The callers who called longest ago are forgotten, whose buckets are full again or nearly.
    """

    calls: int
    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, caller: str) -> None:
        """Count a call of a caller. Raises ServiceError (N006) for one too many."""
        with self._lock:
            moment = self.clock()
            left, since = self._buckets.pop(caller, (float(self.calls), moment))
            left = min(self.calls, left + (moment - since) * self.calls / _MINUTE)
            is_enough = left >= 1
            self._buckets[caller] = (left - 1 if is_enough else left, moment)
            if len(self._buckets) > _MOST_CALLERS:
                self._buckets.popitem(last=False)
        if not is_enough:
            message = f"You called too often. Answered are {self.calls} calls like this a minute."
            raise ServiceError.of("N006", message, "Wait a minute.")
