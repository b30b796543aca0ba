"""An attempt at a run: its process, and what that has told."""

import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from policy_engine.service.runs.jobs import PROBLEMS, PROGRESS, REMARK, RESULT, Job
from policy_engine.service.runs.launching import GRACE, RunProcess
from policy_engine.service.runs.queue import Holding

_LONGEST_STAGE = 100


@dataclass
class RunAttempt:
    """An attempt that is under way, and what its process has told."""

    holding: Holding
    process: RunProcess
    job: Job
    outcome: tuple[str, Any] | None = None
    answered: float | None = None
    remarks: list[str] = field(default_factory=list)
    progress: tuple[str, int, int] | None = None
    noted: float = 0.0
    artefacts: list[dict[str, Any]] | None = None
    """What is in its result, once that is in its place."""
    is_lost: bool = False
    is_measured: bool = False
    """Whether its process is the one that measures again what another one has left."""
    _began: datetime | None = None

    @property
    def began(self) -> datetime:
        """When the attempt began, by the clock on the wall."""
        return self._began or self.process.started

    def measure(self, process: RunProcess, job: Job) -> None:
        """Go on with the process that measures again what the one before has left."""
        self._began, self.is_measured = self.began, True
        self.process, self.job, self.outcome, self.answered = process, job, None, None
        self.remarks.append("what it made is measured again, before it is signed")

    def listen(self) -> None:
        """Take note of what the process has told since this was last asked."""
        for name, what in self.process.answers():
            if name == PROGRESS:
                stage, done, total = what
                self.progress = str(stage)[:_LONGEST_STAGE], int(done), int(total)
            elif name == REMARK:
                self.remarks.append(str(what)[:_LONGEST_STAGE])
            elif name in (RESULT, PROBLEMS):
                self.answer(name, what)

    def answer(self, name: str, what: Any) -> None:
        """Take note of what comes of the attempt, which is said once."""
        if self.outcome is None:
            self.outcome, self.answered = (name, what), time.monotonic()

    @property
    def has_result(self) -> bool:
        """Whether there is a result, to be published."""
        return self.outcome is not None and self.outcome[0] == RESULT

    @property
    def lingers(self) -> bool:
        """Whether the process stays though it has answered."""
        return self.answered is not None and time.monotonic() - self.answered > GRACE
