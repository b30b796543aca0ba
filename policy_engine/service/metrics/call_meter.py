"""Counts and durations that grow as long as the service runs."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

Labels = tuple[str, ...]
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds that durations are counted up to."""


@dataclass(frozen=True)
class EventTally:
    """How often something happened, by its labels."""

    counts: Counter[Labels] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, *labels: str) -> None:
        """Count one more."""
        with self.lock:
            self.counts[labels] += 1

    def totals(self) -> Mapping[Labels, int]:
        """Return the counts by now."""
        with self.lock:
            return dict(self.counts)


@dataclass(frozen=True)
class DurationTotals:
    """How many durations were up to each of the bounds or longer than all, and their sum."""

    counts: tuple[int, ...]
    seconds: float

    def plus(self, other: "DurationTotals") -> "DurationTotals":
        """Return both together."""
        counts = zip(self.counts, other.counts, strict=True)
        return DurationTotals(tuple(map(sum, counts)), self.seconds + other.seconds)


@dataclass(frozen=True)
class Durations:
    """How long something took, by its labels."""

    counts: dict[Labels, list[int]] = field(default_factory=dict)
    seconds: Counter[Labels] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, seconds: float, *labels: str) -> None:
        """Count a duration in seconds."""
        with self.lock:
            counts = self.counts.setdefault(labels, [0] * (len(BOUNDS) + 1))
            counts[bisect_left(BOUNDS, seconds)] += 1
            self.seconds[labels] += seconds  # type: ignore[assignment]  # as Counter is declared

    def totals(self) -> Mapping[Labels, DurationTotals]:
        """Return the durations by now."""
        with self.lock:
            return {
                labels: DurationTotals(tuple(counts), self.seconds[labels])
                for labels, counts in self.counts.items()
            }


@dataclass(frozen=True)
class CallMeter:
    """Calls by method, route and status, and the seconds until their answers began."""

    calls: EventTally = field(default_factory=EventTally)
    durations: Durations = field(default_factory=Durations)

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a call. Methods that nobody uses are counted as one, for callers make them up."""
        named = method if method in _METHODS else "other"
        self.calls.add(named, route, str(status))
        self.durations.add(seconds, named, route)


_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
