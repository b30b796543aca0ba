"""The process of a run: it limits and isolates itself, does what it is told, and answers."""

import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from policy_engine.errors import PolicyEngineError, Problem
from policy_engine.service.runs.jobs import (
    PROBLEMS,
    PROGRESS,
    REMARK,
    RESULT,
    Job,
    Report,
    RunInputs,
    Tell,
    written,
)
from policy_engine.service.runs.limits import isolate, limit_process
from policy_engine.service.runs.namespaces import die_with_parent
from policy_engine.service.runs.results import seal

_LEAST_PAUSE = 0.5
"""Seconds between two reports of progress within a stage."""


def main() -> None:
    """Carry out the job that comes by the standard input, and tell how by the standard output.

    All else that is printed goes where errors go: nothing but answers is among the answers.
    """
    job = Job.model_validate_json(sys.stdin.buffer.read())
    die_with_parent(signal.SIGKILL, job.parent)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that grows too large is an error

    def tell(name: str, what: Any) -> None:
        answers.write(written(name, what))

    limit_process(job.limits)
    writable = [job.out, job.scratch, job.kept, job.attempts, job.code]
    readable = [job.given, *job.files.values(), *job.releases.values()]
    if job.ledger and job.ledger_key:
        writable.append(job.ledger.parent)
        readable.append(job.ledger_key)
    notes = [job.note] if job.note else []
    for remark in (*notes, *isolate(readable, writable, job.cluster)):
        tell(REMARK, remark)
    tell(*answer(job, tell))


def answer(job: Job, tell: Tell) -> tuple[str, Any]:
    """Return what comes of a job: its result, sealed, or the problems that there are with it."""
    kinds: Mapping[str, Any] = import_module(job.kinds).KINDS
    try:
        run = kinds[job.kind].model_validate(job.settings)
        result = run.carry_out(_inputs(job, tell))
        return RESULT, {"summary": result, "artefacts": seal(job.out)}
    except PolicyEngineError as error:
        problems = [_without_folder(one, job).as_json() for one in error.problems]
    except MemoryError:
        problems = [_limit_problem("memory", f"{job.limits.memory:,} bytes").as_json()]
    except OSError as error:
        problems = [_file_problem(error).as_json()]
    return PROBLEMS, problems


def throttled(tell: Tell) -> Report:
    """Return a report of progress that tells each stage, and within one twice a second."""
    last: list[Any] = ["", 0.0]

    def progress(stage: str, done: int, total: int) -> None:
        moment = time.monotonic()
        if stage != last[0] or moment - last[1] >= _LEAST_PAUSE:
            last[:] = stage, moment
            tell(PROGRESS, [stage, int(done), int(total)])

    return progress


def _inputs(job: Job, tell: Tell) -> RunInputs:
    return RunInputs(
        files=job.files,
        releases=job.releases,
        policy=job.policy,
        others=job.others,
        owners=job.owners,
        trust=job.trust,
        out=job.out,
        kept=job.kept,
        scratch=job.scratch,
        attempts=job.attempts,
        ledger=job.ledger,
        ledger_key=job.ledger_key,
        engine=job.cluster.engine(job.scratch) if job.cluster else "local",
        progress=throttled(tell),
    )


def _limit_problem(what: str, most: str) -> Problem:
    return Problem("N021", f"The run needs more {what} than it may have: {most}.")


def _without_folder(problem: Problem, job: Job) -> Problem:
    """Return a problem that names files alone: their folders are no business of callers."""
    folders = sorted({f"{one.parent}/" for one in (job.given / "file", *job.releases.values())})
    message, hint = problem.message, problem.hint
    for one in (*folders, f"{job.folder}/"):
        message, hint = message.replace(one, ""), hint.replace(one, "")
    return replace(problem, message=message, hint=hint)


def _file_problem(error: OSError) -> Problem:
    """Return the problem of a file: by its name alone, for its folder is no business of callers."""
    name = Path(str(error.filename)).name if error.filename else "a file"
    return Problem("N021", f"The run cannot read or write {name!r}: {error.strerror}.")


if __name__ == "__main__":
    main()
