"""How long it may take to find out what an answer tells with all earlier ones."""

import math
import time
from dataclasses import dataclass, field

SECONDS = 60.0
"""Processor seconds that an answer may take to be judged."""

_ROUND = 0.75
"""The share of what is left that may be spent before anything is withheld for lack of time."""


class OutOfTimeError(Exception):
    """What is looked for was not found in time."""


@dataclass(eq=False)
class TimeLimit:
    """Processor seconds of this thread, spent in rounds: in each, whether the cells that are left
    may be given is looked at anew. A round that takes too long leaves some time for fewer cells."""

    seconds: float = SECONDS
    start: float = field(default_factory=time.thread_time)
    end: float = 0.0

    def __post_init__(self) -> None:
        self.begin_round()

    @property
    def used(self) -> float:
        """Which share of the time is used, 1 or more where it is over."""
        spent = time.thread_time() - self.start
        return spent / self.seconds if self.seconds else math.inf

    @property
    def left(self) -> float:
        """How many seconds are left of the round; a little, where none are."""
        return max(self.end - time.thread_time(), 0.01)

    def begin_round(self) -> None:
        """Give a round its time."""
        now = time.thread_time()
        self.end = now + _ROUND * max(self.start + self.seconds - now, 0.0)

    def check_found(self, *, is_found: bool) -> None:
        """Raise OutOfTimeError where something was not found, and the time of the round is over."""
        if not is_found:
            self.check()

    def check(self) -> None:
        """Raise OutOfTimeError where the time of the round is over."""
        if self.is_over():
            raise OutOfTimeError

    def is_over(self) -> bool:
        """Return whether the time of the round is over."""
        return time.thread_time() >= self.end
