"""How long a computation may take: where its time is up, nothing is concluded.

Time is that of the processor in one thread: what is decided in it does not depend on what else the
machine does.
"""

import math
import time
from dataclasses import dataclass


class TimeUpError(Exception):
    """Raised where work does not end in its time: what it was to show is not known then."""


@dataclass(frozen=True)
class WorkTime:
    """The time until an `end`, by the clock of this thread; without one it is never up."""

    end: float = math.inf

    @classmethod
    def of_seconds(cls, seconds: float) -> "WorkTime":
        """Return the time of some seconds from now on."""
        return cls(time.thread_time() + seconds)

    @property
    def left(self) -> float:
        """How many seconds are left, less than 0 where it is up."""
        return self.end - time.thread_time()

    def check(self) -> None:
        """Raise TimeUpError where it is up."""
        if self.left < 0:
            raise TimeUpError

    def share(self, parts: int) -> float:
        """Return how many seconds one of so many parts of what is left is, 0 where it is never
        up."""
        return self.left / parts if math.isfinite(self.end) else 0.0


UNLIMITED = WorkTime()
"""Time that is never up."""
