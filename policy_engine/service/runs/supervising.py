"""The supervisor process: starts runs, and makes sure that each one ends."""

import fcntl
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from policy_engine.errors import PolicyEngineError, Problem
from policy_engine.service.runs.checking_results import ExpectedResult
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.jobs import PROBLEMS
from policy_engine.service.runs.kinds.sanitising import Sanitising
from policy_engine.service.runs.launching import RunProcess
from policy_engine.service.runs.limits import RunLimits
from policy_engine.service.runs.measuring_again import measuring_job, signed_names, told_outputs
from policy_engine.service.runs.preparing import PathOf, Preparation
from policy_engine.service.runs.processes import is_running, kill_marked, mark_of, send
from policy_engine.service.runs.queue import Holding, LostRunError, OtherHolding, RunQueue
from policy_engine.service.runs.results import checked_artefacts, reveal, sweep
from policy_engine.service.runs.run_attempt import RunAttempt
from policy_engine.service.runs.signing_results import sign_results
from policy_engine.service.runs.states import RunState
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.base import new_id
from policy_engine.service.store.database import Database
from policy_engine.trust.proofs import Signer
from policy_engine.trust.signers import read_signer

FAULTS = logging.getLogger("policy_engine.service.faults")
KINDS = "policy_engine.service.runs.kinds"
PathsIn = Callable[[ServiceSettings, Database], PathOf]
"""Returns the function that finds the files of datasets, which a service has by a database."""
_AWAY = (OperationalError, InterfaceError, PoolTimeout)
"""What is raised where the database does not answer, or not in time."""
_PAUSE = 0.25
_LEAST_PAUSE = 0.5
_SHOWN = 1.0
_STOPPED, _CANCELLED = "the service was stopped", "it was cancelled"


@dataclass
class Supervisor:
    """Has runs carried out, up to so many at once. Nothing else changes a run that it has.

    How long another supervisor has shown no sign of life is measured by the monotonic clock of
    this one: what the clocks on the walls say, and how they are set, is of no account.
    """

    queue: RunQueue
    preparation: Preparation
    at_once: int
    lease: float
    attempts: list[RunAttempt] = field(default_factory=list)
    signer: Signer | None = field(default=None, kw_only=True)
    """What signs the certificates of releases."""
    _seen: dict[tuple[str, int], tuple[int, float]] = field(default_factory=dict)
    _beat: float = 0.0
    _shown: float = 0.0

    @property
    def folders(self) -> RunFolders:
        """The folders of runs."""
        return self.preparation.folders

    @property
    def holdings(self) -> list[Holding]:
        """The runs that it has."""
        return [one.holding for one in self.attempts]

    def tick(self) -> None:
        """Do what is to be done now. Raises OperationalError where the database does not answer."""
        for attempt in self.attempts:
            has_ended = attempt.process.has_ended
            attempt.listen()
            if has_ended:
                self._clean(attempt)
        self._show_life()
        for attempt in self.attempts:
            self._note(attempt)
        self._end_what_is_not_wanted()
        for attempt in [one for one in self.attempts if one.process.has_ended]:
            self._settle(attempt)
        for other in self.queue.others(self.holdings):
            if self._is_abandoned(other):
                self._take_over(other)
        while len(self.attempts) < self.at_once:
            holding = self.queue.claim()
            if holding is None:
                break
            self._begin(holding)

    def show_work(self) -> None:
        """Show that work is done, once a second."""
        moment = time.monotonic()
        if moment - self._shown > _SHOWN:
            with suppress(OSError):  # the disk is full, or the folder cannot be written
                self.folders.beat()
            self._shown = moment

    def stop(self) -> None:
        """End all processes, and give their runs back to the queue: nothing was wrong with them."""
        while not all(one.process.has_ended for one in self.attempts):
            for attempt in self.attempts:
                attempt.process.ask_to_end()
            time.sleep(_PAUSE / 5)
        for attempt in [*self.attempts]:
            with suppress(*_AWAY):  # the next supervisor finds the run abandoned
                self._settle(attempt, stopped=True)

    def _begin(self, holding: Holding) -> None:
        """Start the process of a run; where that is not possible, the run has failed."""
        try:
            job = self.preparation.job(holding)
            mark = mark_of(holding.run_id, holding.token)
            process = RunProcess.launch(job, mark, self.folders.output(holding.run_id))
        except PolicyEngineError as error:
            self._fail(holding, [one.as_json() for one in error.problems])
            return
        except OSError as error:
            self._fail(holding, [_folder_problem(error).as_json()])
            return
        attempt = RunAttempt(holding, process, job)
        self.attempts.append(attempt)
        with self._guarding(attempt):
            self.queue.note_process(holding, process.process.pid, process.start)

    def _clean(self, attempt: RunAttempt) -> None:
        """Let nothing be left of a process that has ended, but for a result.

        This comes before anything is written: a full disk would not let the database be written.
        """
        attempt.process.finish()
        if not attempt.has_result:
            sweep(self._folder(attempt))

    def _note(self, attempt: RunAttempt) -> None:
        """Note what a process told of itself, and how far it is, at most twice a second."""
        with self._guarding(attempt):
            while attempt.remarks:
                self.queue.note_remark(attempt.holding, attempt.remarks[0])
                attempt.remarks.pop(0)
            moment = time.monotonic()
            if attempt.progress and moment - attempt.noted >= _LEAST_PAUSE:
                self.queue.note_progress(attempt.holding, *attempt.progress)
                attempt.progress, attempt.noted = None, moment

    def _show_life(self) -> None:
        """Show that this supervisor lives, three times within the lease."""
        moment = time.monotonic()
        if moment - self._beat > self.lease / 3:
            self.queue.beat(self.holdings)
            self._beat = moment

    def _end_what_is_not_wanted(self) -> None:
        """End processes whose run is cancelled, is another's by now, or has had its time."""
        states = self.queue.states(self.holdings)
        for attempt in self.attempts:
            is_late = time.monotonic() - attempt.process.began > self.preparation.limits.seconds
            if is_late:
                most = f"{self.preparation.limits.seconds:g}"
                problem = Problem("N021", f"The run takes longer than {most} seconds.")
                attempt.answer(PROBLEMS, [problem.as_json()])
            state = states.get(attempt.holding)
            attempt.is_lost = attempt.is_lost or state is None
            is_unwanted = attempt.is_lost or state is RunState.CANCELLING
            if is_unwanted or is_late or attempt.lingers:
                attempt.process.ask_to_end()

    def _settle(self, attempt: RunAttempt, *, stopped: bool = False) -> None:
        """Write down how an attempt ended, once nothing of its process is left.

        Where the database does not answer, all of it is done again.
        """
        attempt.listen()
        self._clean(attempt)
        if self._awaits_measuring(attempt):
            if not stopped and self._measure_again(attempt):
                return
            if stopped:  # nothing is published that was not measured
                attempt.outcome = None
        holding, keeps = attempt.holding, True
        with self._guarding(attempt):
            if attempt.is_lost:
                pass
            elif attempt.outcome is None:
                why = _STOPPED if stopped else attempt.process.how_it_ended
                self.queue.release(holding, why, counts=not stopped)
            elif attempt.outcome[0] == PROBLEMS:
                self._fail(holding, attempt.outcome[1])
            else:
                keeps = not self._publish(attempt, attempt.outcome[1])
        self.preparation.note_spent()
        self.attempts.remove(attempt)
        sweep(self._folder(attempt))
        if not attempt.is_lost:
            self.folders.clear(holding.run_id, keeps=keeps)

    def _awaits_measuring(self, attempt: RunAttempt) -> bool:
        """Tell whether what an attempt has left would be signed, and was not measured again yet."""
        if self.signer is None or attempt.is_measured or attempt.is_lost or not attempt.has_result:
            return False
        return isinstance(self.preparation.settings(attempt.holding), Sanitising)

    def _measure_again(self, attempt: RunAttempt) -> bool:
        """Start the process that measures again what an attempt has left; return whether it is."""
        holding = attempt.holding
        try:
            job = measuring_job(attempt.job, self.folders)
            mark = mark_of(holding.run_id, holding.token)
            process = RunProcess.launch(job, mark, self.folders.output(holding.run_id))
        except OSError as error:
            attempt.outcome = PROBLEMS, [_folder_problem(error).as_json()]
            return False
        attempt.measure(process, job)
        with self._guarding(attempt):
            self.queue.note_process(holding, process.process.pid, process.start)
        return True

    def _publish(self, attempt: RunAttempt, outcome: dict[str, Any]) -> bool:
        """Return whether the result of a run is there: moved into its place, then written down."""
        holding = attempt.holding
        try:
            summary = outcome["summary"]
            if attempt.is_measured:
                summary = told_outputs(summary)
            if attempt.artefacts is None:
                attempt.artefacts = self._reveal(attempt, outcome)
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._fail(holding, [_folder_problem(error).as_json()])
            return False
        except PolicyEngineError as error:
            self._fail(holding, [one.as_json() for one in error.problems])
            return False
        try:
            self.queue.succeed(holding, attempt.artefacts, summary)
        except LostRunError:
            self.queue.release(holding, _CANCELLED)
            self.folders.forget_result(holding.run_id)
            return False
        return True

    def _reveal(self, attempt: RunAttempt, outcome: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the artefacts of a result, once it is signed where it is, and in its place."""
        folder = self._folder(attempt) / "out"
        if attempt.is_measured:
            folder = attempt.job.out
        artefacts = checked_artefacts(folder, outcome["artefacts"])
        settings = self.preparation.settings(attempt.holding)
        if self.signer is not None and isinstance(settings, Sanitising):
            expected = ExpectedResult(attempt.job, settings, attempt.began)
            names = signed_names(outcome["summary"])
            artefacts = sign_results(
                folder, artefacts, self.signer, expected.check, names, expected.evidence
            )
        reveal(folder, self.folders.result(settings.home, attempt.holding.run_id))
        return artefacts

    def _fail(self, holding: Holding, problems: list[dict[str, Any]]) -> None:
        """End a run that failed; one that is to be cancelled meanwhile is."""
        try:
            self.queue.fail(holding, problems)
        except LostRunError:
            with suppress(LostRunError):
                self.queue.release(holding, _CANCELLED)

    def _is_abandoned(self, other: OtherHolding) -> bool:
        """Tell whether nobody looks after a run: its supervisor was one of this folder, and so is
        gone, or has shown no sign of life for the whole of the lease."""
        if place_of(other.worker) == place_of(self.queue.worker):
            return True
        key, moment = (other.run_id, other.token), time.monotonic()
        beat, since = self._seen.get(key, (-1, moment))
        if beat != other.beat:
            self._seen[key] = other.beat, moment
            return False
        return moment - since > self.lease

    def _take_over(self, other: OtherHolding) -> None:
        """Give an abandoned run back to the queue, once nothing of its process is left."""
        if place_of(other.worker) == place_of(self.queue.worker):
            mark = mark_of(other.run_id, other.token)
            if other.pid is not None and is_running(other.pid, other.pid_start):
                send(other.pid, other.pid_start, mark, signal.SIGKILL)
            kill_marked(mark)
        with suppress(LostRunError):  # it has ended meanwhile
            state = self.queue.release(other, "its supervisor was ended")
            self.folders.clear(other.run_id, keeps=state is RunState.QUEUED)
            self.folders.forget_result(other.run_id)

    def _folder(self, attempt: RunAttempt) -> Path:
        return self.folders.attempt(attempt.holding.run_id, attempt.holding.token)

    @contextmanager
    def _guarding(self, attempt: RunAttempt) -> Iterator[None]:
        """Take note of it where a run turns out to be another's."""
        try:
            yield
        except LostRunError:
            attempt.is_lost = True


def supervise(settings: ServiceSettings, paths: PathsIn, kinds: str = KINDS) -> None:
    """Have runs carried out until the standard input ends, or a signal asks to end.

    One process at a time does so for a folder; this one waits until it is the one. `paths` are
    those of datasets, and `kinds` is the module that has the kinds of runs.
    """
    ending = _Ending()
    signal.signal(signal.SIGTERM, ending.ask)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service tells when it ends
    folders = RunFolders(settings.folder)
    with _alone(folders, ending) as is_alone:
        if is_alone:
            _work(_supervisor(settings, folders, paths, kinds), ending)


def _supervisor(
    settings: ServiceSettings, folders: RunFolders, paths: PathsIn, kinds: str
) -> Supervisor:
    database = Database.open(settings.database_url)
    limits = RunLimits(
        memory=settings.run_memory, file=settings.run_file, seconds=settings.run_seconds
    )
    queue = RunQueue(database, f"{_place(folders)}.{new_id()}")
    path_of = paths(settings, database)
    preparation = Preparation(
        database, folders, path_of, limits, kinds, settings.cluster, settings.trust
    )
    signer = read_signer(settings.sign) if settings.sign else None
    return Supervisor(queue, preparation, settings.runs_at_once, settings.lease, signer=signer)


@dataclass
class _Ending:
    """Whether this process is to end: a signal asked for it, or the service has ended."""

    is_asked: bool = False

    def ask(self, _number: int, _frame: object) -> None:
        self.is_asked = True

    def comes_within(self, seconds: float) -> bool:
        readable, _, _ = select.select([sys.stdin], [], [], seconds)
        if readable and not os.read(sys.stdin.fileno(), 1):
            self.is_asked = True
        return self.is_asked


def _work(supervisor: Supervisor, ending: _Ending) -> None:
    is_away = False
    try:
        while not ending.comes_within(_PAUSE):
            try:
                supervisor.tick()
                supervisor.show_work()
                is_away = False
            except _AWAY as error:  # it may answer again; runs go on meanwhile
                if not is_away:
                    FAULTS.warning("the database does not answer: %s", type(error).__name__)
                is_away = True
    finally:
        supervisor.stop()
        supervisor.queue.database.close()


@contextmanager
def _alone(folders: RunFolders, ending: _Ending) -> Iterator[bool]:
    """Hold the lock of the one supervisor of a folder, which the system gives back if it dies.

    Yields False where this process is to end before it has it.
    """
    folders.lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folders.lock.open("a+b") as lock:
        while not ending.is_asked:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                ending.comes_within(_PAUSE)
            else:
                break
        yield not ending.is_asked


def _place(folders: RunFolders) -> str:
    """Return what the supervisors of a folder are called, and those of no other."""
    path = folders.lock.with_name("place")
    if not path.exists():
        path.write_text(new_id(), "ascii")
    return path.read_text("ascii")


def place_of(worker: str) -> str:
    """Return of which folder a supervisor is, by its name."""
    return worker.partition(".")[0]


def _folder_problem(error: Exception) -> Problem:
    why = error.strerror if isinstance(error, OSError) else "what it left is not as it told"
    message = f"The folder of the run cannot be used: {why}."
    return Problem("N021", message, "Look at the disk of the service, and retry it.")
