"""Answers queries in a process that has no more memory than was said."""

import gc
import logging
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from policy_engine.decision.query.query_limits import QueryStop, memory_error
from policy_engine.errors import InternalError, PolicyEngineError
from policy_engine.service.asking.asked import Asked, Told
from policy_engine.service.resources.queries import SqlQuestion

if TYPE_CHECKING:
    from policy_engine.service.services import Services

FAULTS = logging.getLogger("policy_engine.service.faults")
_KEPT = 0.25
"""So much of its memory may a process keep from one answer to the next."""
_NO_ROOM = ("overflow", "cannot contain more than", "can't start new thread")
"""How libraries put it that data do not fit into memory, besides MemoryError."""


@dataclass(frozen=True)
class MemoryLimit:
    """The bytes that this process has written to when it has nothing to do, and may need then."""

    idle: int
    more: int

    @property
    def is_kept(self) -> bool:
        """Whether the process has given back nearly all that it needed."""
        return written_bytes() <= self.idle + self.more * _KEPT


def limit_memory(more: int) -> MemoryLimit:
    """Limit this process to what it needs to have nothing to do, and so many bytes more.

    What libraries reserve and do not use is not counted. Where it cannot be known, on other systems
    than Linux, nothing is limited.
    """
    _prepare()
    limit = MemoryLimit(written_bytes(), more)
    if limit.idle:
        import resource  # noqa: PLC0415 (there is none on Windows)

        most = limit.idle + more
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return limit


def written_bytes() -> int:
    """Return the bytes that this process can write to, 0 where that cannot be known."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return 0
    sizes = [line.split()[1] for line in lines if line.startswith("VmData:")]
    return int(sizes[0]) * 1024 if sizes else 0


def _prepare() -> None:
    """Import what queries need, and start its threads: their stacks are no memory of a query."""
    from policy_engine.api import asking, reviewing_answers  # noqa: F401, PLC0415 (slow to import)
    from policy_engine.decision.query import answering, running  # noqa: F401, PLC0415

    running.run({"": "SELECT 1"}, {})
    gc.freeze()  # what was imported stays: nobody needs to look through it


@dataclass
class QueryAnswers:
    """Answers questions, one after the other; each can be ended while it is answered."""

    services: "Services"
    limit: MemoryLimit
    forget: Callable[[], None] = lambda: None
    """Removes what was read and written for a while, before the process ends whatever it is at."""
    _waiting: SimpleQueue[Asked] = field(default_factory=SimpleQueue)
    _lock: Lock = field(default_factory=Lock)
    _number: int = 0
    _stop: QueryStop = field(default_factory=QueryStop)

    def answer_all(self, questions: BinaryIO, answers: BinaryIO) -> None:
        """Answer the questions that come, until an answer was the last; the process ends once no
        more can come. The first line says that it has started."""
        Thread(target=self._hear, args=(questions,), daemon=True).start()
        is_last = False
        self._tell(Told(), answers)
        while not is_last:
            answer = self.told(self._waiting.get())
            is_last = answer.is_last
            self._tell(answer, answers)

    def _tell(self, line: Told, answers: BinaryIO) -> None:
        answers.write(line.model_dump_json().encode() + b"\n")
        answers.flush()

    def told(self, line: Asked) -> Told:
        """Return the answer to a question, or the error there is in its place."""
        with self._lock:
            self._number, self._stop = line.number, QueryStop()
        tally = self.services.decisions.tally
        earlier = tally.totals()
        answer = self._told(line)
        for labels, count in tally.totals().items():
            answer.effects += [[*labels]] * (count - earlier.get(labels, 0))
        answer.is_last = not self._gives_back()
        return answer

    def _gives_back(self) -> bool:
        """Return whether the process needs little memory now; if not, once garbage is collected."""
        if not self.limit.is_kept:
            gc.collect()
        return self.limit.is_kept

    def _told(self, line: Asked) -> Told:
        try:
            return Told(answer=self._answer(line))
        except PolicyEngineError as error:
            return Told.refusal(error)
        except Exception as error:  # noqa: BLE001 (whoever asks waits for an answer)
            if isinstance(error, MemoryError) or any(one in str(error) for one in _NO_ROOM):
                return Told.refusal(memory_error())
            place = "".join(traceback.format_tb(error.__traceback__))
            FAULTS.error("a query failed: %s\n%s", type(error).__name__, place)
            return Told.refusal(InternalError.of("X001", "The query could not be answered."))

    def _answer(self, line: Asked) -> Any:
        assert line.actor is not None  # noqa: S101 (somebody asks)
        actor, services, stop = line.actor, self.services, self._stop
        answers: dict[str, Callable[..., Any]] = {
            "query": lambda **words: services.queries.answer(
                actor, SqlQuestion(**words), stop
            ).model_dump(mode="json"),
            "accept": lambda review, reason: services.reviews.accept_claimed(
                review, reason, actor, stop
            ),
            "check": lambda review: services.reviews.check_policies(review, actor, stop),
        }
        return answers[line.kind](**line.question)

    def _hear(self, questions: BinaryIO) -> None:
        for line in questions:
            question = Asked.model_validate_json(line)
            if question.kind == "stop":
                self._end(question.number)
            else:
                self._waiting.put(question)
        self.forget()
        sys.stderr.flush()
        os._exit(0)

    def _end(self, number: int) -> None:
        """End what is worked out for a question, unless it was answered before."""
        with self._lock:
            if number == self._number:
                self._stop.stop()
