"""A process that answers queries, as it is seen by who asks it."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from threading import Lock
from typing import Self

from policy_engine.decision.query.query_limits import (
    QueryStop,
    memory_error,
    stop_error,
    time_error,
)
from policy_engine.errors import PolicyEngineError, QueryError, ServiceError
from policy_engine.service.asking.asked import Asked, Told
from policy_engine.service.runs.keeping import own_environment

PROGRAM = (sys.executable, "-P", "-m", "policy_engine.service.asking")
GRACE = 2.0
"""Seconds in which what is to end may end by itself."""
MOST_TOLD = 64 * 2**20
"""Bytes of an answer."""
_ENDED_BY_OTHERS = (0, *(-one for one in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
"""How a process ends that others end, or that nobody asks any more; libraries end it otherwise."""
_BEAT = 0.25
_START = 120.0
_CHUNK = 2**20


@dataclass
class QueryProcess:
    """A process that answers one question at a time, and is ended where it does not in time."""

    process: "subprocess.Popen[bytes]"
    place: Path | None = None
    """Where it writes what does not fit into its memory; removed when it ends."""
    _lock: Lock = field(default_factory=Lock)
    _number: int = 0
    _stopped: float | None = None
    _is_ready: bool = False

    @classmethod
    def launch(
        cls, settings: str, memory: int, place: Path, program: Sequence[str] = PROGRAM
    ) -> Self:
        """Return a process with settings, whose answers may need so many bytes, and which writes
        temporary files to a place of its own."""
        more = {"ARROW_DEFAULT_MEMORY_POOL": "system", "TMPDIR": str(place)}
        environment = {**own_environment(), **more}
        process = subprocess.Popen(  # noqa: S603 (a program of ours)
            [*program, str(memory), str(place)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        one = cls(process, place)
        one._send(settings.encode())
        return one

    @property
    def is_there(self) -> bool:
        """Whether the process can be asked."""
        return self.process.poll() is None

    def ask(self, question: Asked, seconds: float, stop: QueryStop, *, is_patient: bool) -> Told:
        """Return what is told within so many seconds; `stop` ends it before, unless it is patient.

        Raises QueryError: Q012 where it was ended, Q011 where it took more time or memory, and
        ServiceError (N013) where others ended the process. It has then ended as well.
        """
        self._await_start()
        self._number, self._stopped = question.number, None
        with stop.watched(self):
            self._send(question.model_dump_json().encode())
            line = self._told(time.monotonic() + seconds, is_patient)
        answer = Told.model_validate_json(line)
        if answer.is_last:
            self.end()
        return answer

    def _await_start(self) -> None:
        """Wait until the process can answer, which is no time of who asks it first."""
        if not self._is_ready:
            try:
                self._told(time.monotonic() + _START, is_patient=True)
            except QueryError:
                raise unanswered_error() from None
            self._is_ready = True

    def interrupt(self) -> None:
        """Ask the process to end what it works out."""
        self._stopped = time.monotonic()
        self._send(Asked(number=self._number, kind="stop").model_dump_json().encode())

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for one in (self.process.stdin, self.process.stdout):
            if one is not None:
                one.close()
        if self.place is not None:
            rmtree(self.place, ignore_errors=True)

    def _send(self, line: bytes) -> None:
        stream = self.process.stdin
        assert stream is not None  # noqa: S101 (it is a pipe)
        try:
            with self._lock:
                stream.write(line + b"\n")
                stream.flush()
        except (OSError, ValueError):  # it has ended, which is found out by who waits
            pass

    def _told(self, deadline: float, is_patient: bool) -> bytes:
        stream = self.process.stdout
        assert stream is not None  # noqa: S101 (it is a pipe)
        poll, line = select.poll(), bytearray()
        poll.register(stream, select.POLLIN | select.POLLHUP)
        while not line.endswith(b"\n"):
            if poll.poll(_BEAT * 1000):
                chunk = os.read(stream.fileno(), _CHUNK)
                line += chunk
                if not chunk or len(line) > MOST_TOLD:
                    raise self._ended(is_too_large=bool(chunk))
            else:
                self._check_time(deadline, is_patient)
        return bytes(line)

    def _ended(self, *, is_too_large: bool) -> PolicyEngineError:
        """Return the error of a process that tells nothing more, once it has ended."""
        status = None
        if not is_too_large:
            with suppress(subprocess.TimeoutExpired):
                status = self.process.wait(GRACE)
        self.end()
        if self._stopped is not None:
            return stop_error()
        return unanswered_error() if status in _ENDED_BY_OTHERS else memory_error()

    def _check_time(self, deadline: float, is_patient: bool) -> None:
        moment = time.monotonic() - GRACE
        is_stopped = self._stopped is not None and moment > self._stopped and not is_patient
        if is_stopped or moment > deadline:
            self.end()
            raise stop_error() if is_stopped else time_error()


def unanswered_error() -> PolicyEngineError:
    """Return the error of a question that is not at fault that it was not answered."""
    message = "It was not carried out: the process that answers queries was ended."
    return ServiceError.of("N013", message, "Ask again in a moment.")
