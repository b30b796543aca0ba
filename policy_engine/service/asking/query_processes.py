"""The processes that answer queries: a few at once, which share the memory that all may use."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock, Timer
from typing import Any, Self

from policy_engine.decision.query.query_limits import QueryStop, stop_error
from policy_engine.errors import ServiceError
from policy_engine.service.asking.asked import Asked, AskedKind
from policy_engine.service.asking.query_process import QueryProcess
from policy_engine.service.files.folder import FileFolder
from policy_engine.service.identity.actors import Actor
from policy_engine.service.metrics.call_meter import EventTally
from policy_engine.service.settings import ServiceSettings

_MOST = 4
"""So many queries at most are answered at once."""
_SHARE = 2**30
"""A query has so many bytes, where all may use that many."""
_LEAST = 128 * 2**20
_PATIENCE = 10
"""Statistics that are charged may take so many times as long: who ends them pays for nothing."""
_BEAT = 0.25
_KEPT = 15 * 60
"""Seconds for which a process is kept that nobody asks anything: its libraries take much memory."""


@dataclass
class QueryProcesses:
    """Processes that answer queries. Each is started when needed, and then kept for a while."""

    settings: ServiceSettings
    most: int
    memory: int
    """Bytes that the answers of each may need."""
    kept_seconds: float = _KEPT
    _idle: list[tuple[float, QueryProcess]] = field(default_factory=list)
    """What has nothing to do, and since when, the latest last."""
    _timer: Timer | None = None
    _lock: Lock = field(default_factory=Lock)
    _turns: BoundedSemaphore = field(init=False)
    _number: int = 0

    def __post_init__(self) -> None:
        """Count the turns."""
        self._turns = BoundedSemaphore(self.most)

    @classmethod
    def of(cls, settings: ServiceSettings) -> Self:
        """Return the processes of one that answers calls: its part of what all of them may use."""
        from policy_engine.data.available_memory import available_memory  # noqa: PLC0415

        total = (settings.query_memory or available_memory() // 2) // settings.workers
        at_once = min(_MOST, os.cpu_count() or 1) // settings.workers
        most = max(1, min(at_once, total // _SHARE))
        return cls(settings, most, max(total // most, _LEAST))

    def ask(
        self,
        kind: AskedKind,
        actor: Actor,
        question: Mapping[str, Any],
        stop: QueryStop,
        tally: EventTally,
        *,
        is_charged: bool = False,
    ) -> Any:
        """Return the answer to a question; the decisions that were logged are counted in a `tally`.

        Raises what answering it does; QueryError: Q011 for too much time or memory, Q012 where it
        was ended; ServiceError (N013) where it only waited, or others ended the process.
        """
        seconds = self.settings.query_seconds * (_PATIENCE if is_charged else 1)
        with self._turn(stop, seconds), self._taken() as process:
            number, words = self._numbered(), dict(question)
            line = Asked(number=number, kind=kind, actor=actor, question=words)
            answer = process.ask(line, seconds, stop, is_patient=is_charged)
        for labels in answer.effects:
            tally.add(*labels)
        return answer.checked()

    def prepare(self) -> None:
        """Start a process before the first question, since that takes longer than most answers."""
        self._keep(self._launch())

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            idle, self._idle = self._idle, []
            if self._timer is not None:
                self._timer.cancel()
        for _, one in idle:
            one.end()

    def _keep(self, process: QueryProcess) -> None:
        """Keep a process that has nothing to do, until it had nothing to do for long."""
        with self._lock:
            self._idle.append((time.monotonic(), process))
            if self._timer is None:
                self._start_timer(self.kept_seconds)

    def _start_timer(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._end_idle)
        self._timer.daemon = True
        self._timer.start()

    def _end_idle(self) -> None:
        """End what had nothing to do for long, and come back for the others."""
        latest = time.monotonic() - self.kept_seconds
        with self._lock:
            ended = [one for since, one in self._idle if since <= latest]
            self._idle = [(since, one) for since, one in self._idle if since > latest]
            self._timer = None
            if self._idle:
                self._start_timer(self._idle[0][0] - latest)
        for one in ended:
            self._forget(one)

    def _numbered(self) -> int:
        with self._lock:
            self._number += 1
            return self._number

    @contextmanager
    def _turn(self, stop: QueryStop, seconds: float) -> Iterator[None]:
        deadline = time.monotonic() + seconds
        while not self._turns.acquire(timeout=_BEAT):
            if stop.is_set:
                raise stop_error()
            if time.monotonic() > deadline:
                message = "It was not carried out: others were answered all the time it may wait."
                raise ServiceError.of("N013", message, "Ask again in a moment.")
        try:
            if stop.is_set:
                raise stop_error()
            yield
        finally:
            self._turns.release()

    @contextmanager
    def _taken(self) -> Iterator[QueryProcess]:
        """Return a process that has nothing to do, which is kept if it can be asked again."""
        with self._lock:
            process = self._idle.pop()[1] if self._idle else None
        if process is not None and not process.is_there:
            self._forget(process)
            process = None
        process = process or self._launch()
        is_done = False
        try:
            yield process
            is_done = True
        finally:
            if is_done and process.is_there:
                self._keep(process)
            else:
                self._forget(process)

    def _forget(self, process: QueryProcess) -> None:
        """End a process, and remove what it was reading."""
        process.end()
        self._files.forget_readings(process.process.pid)

    @property
    def _files(self) -> FileFolder:
        return FileFolder(self.settings.folder)

    def _launch(self) -> QueryProcess:
        own = {"workers": 1, "query_memory": self.memory // 2}  # the other half is for what is read
        settings = self.settings.model_copy(update=own)
        return QueryProcess.launch(settings.model_dump_json(), self.memory, self._files.new_spill())
