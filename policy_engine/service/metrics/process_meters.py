"""The meters of all processes that answer calls, as one: whoever is asked tells of all."""

import json
import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from policy_engine.service.metrics.call_meter import (
    CallMeter,
    DurationTotals,
    EventTally,
    Labels,
)

_PAUSE = 1.0
"""Seconds between two times that a process writes down its figures."""
_NAME = "meters"


@dataclass(frozen=True)
class MeterTotals:
    """What was counted by now."""

    calls: Mapping[Labels, int] = field(default_factory=dict)
    durations: Mapping[Labels, DurationTotals] = field(default_factory=dict)
    decisions: Mapping[Labels, int] = field(default_factory=dict)
    streams: int = 0


@dataclass(frozen=True)
class ProcessMeters:
    """The meters of this process, and a folder in which each process has its figures.

    What a process counted that has ended still counts, so that no figure falls.
    """

    folder: Path
    calls: CallMeter
    decisions: EventTally
    streams: Callable[[], int]
    is_shared: bool = False
    """Whether there are other processes."""

    def totals(self) -> MeterTotals:
        """Return what all processes counted; of others, a second ago."""
        if not self.is_shared:
            return self._own()
        self.keep()  # first: whoever is asked next, elsewhere, knows at least of this
        return _sum(map(_read, [*self._folder.glob("*.json")]))

    def keep(self, streams: int | None = None) -> None:
        """Write down what was counted here."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        own = self._own()
        draft = self._folder / f"{os.getpid()}.{threading.get_ident()}"
        draft.write_text(json.dumps(_document(own, own.streams if streams is None else streams)))
        draft.replace(self._folder / f"{os.getpid()}.json")

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Write down every second what was counted, where there are other processes."""
        if not self.is_shared:
            yield
            return
        end = threading.Event()
        thread = threading.Thread(target=self._keep_until, args=(end,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
            with suppress(OSError):
                self.keep(streams=0)

    def forget(self) -> None:
        """Remove what was counted before the service was started."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _keep_until(self, end: threading.Event) -> None:
        while not end.wait(_PAUSE):
            with suppress(OSError):  # as on a full disk: the next time
                self.keep()

    def _own(self) -> MeterTotals:
        calls, durations = self.calls.calls.totals(), self.calls.durations.totals()
        return MeterTotals(calls, durations, self.decisions.totals(), self.streams())

    @property
    def _folder(self) -> Path:
        return self.folder / _NAME


def _document(totals: MeterTotals, streams: int) -> dict[str, Any]:
    durations = totals.durations.items()
    return {
        "process": os.getpid(),
        "calls": [*totals.calls.items()],
        "durations": [(labels, one.counts, one.seconds) for labels, one in durations],
        "decisions": [*totals.decisions.items()],
        "streams": streams,
    }


def _read(path: Path) -> MeterTotals:
    document = json.loads(path.read_text())
    return MeterTotals(
        {tuple(labels): count for labels, count in document["calls"]},
        {
            tuple(labels): DurationTotals(tuple(counts), seconds)
            for labels, counts, seconds in document["durations"]
        },
        {tuple(labels): count for labels, count in document["decisions"]},
        document["streams"] if _is_alive(document["process"]) else 0,
    )


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _sum(some: Iterable[MeterTotals]) -> MeterTotals:
    calls: Counter[Labels] = Counter()
    decisions: Counter[Labels] = Counter()
    durations: dict[Labels, DurationTotals] = {}
    streams = 0
    for one in some:
        calls.update(one.calls)
        decisions.update(one.decisions)
        streams += one.streams
        for labels, more in one.durations.items():
            earlier = durations.get(labels)
            durations[labels] = more if earlier is None else earlier.plus(more)
    return MeterTotals(calls, durations, decisions, streams)
