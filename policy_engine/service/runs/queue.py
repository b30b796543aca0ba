"""The queue of runs: each is of one supervisor at a time, and only who has it writes to it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from policy_engine.errors import Problem
from policy_engine.service.runs.happenings import PROGRESS, note
from policy_engine.service.runs.states import OWNED, RunState
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.runs import RunArtefact, RunEvent, StoredRun


class LostRunError(Exception):
    """A supervisor writes to a run that another one has, or that has ended."""


@dataclass(frozen=True, eq=False)
class Holding:
    """A run, as the supervisor has it whose `token` it is."""

    run_id: str
    token: int
    kind: str
    settings: dict[str, Any]
    attempt: int


@dataclass(frozen=True)
class OtherHolding:
    """A run of another supervisor: as long as its beat grows, that one lives."""

    run_id: str
    token: int
    beat: int
    worker: str
    pid: int | None
    pid_start: int | None


@dataclass(frozen=True)
class RunQueue:
    """The queue, as the supervisor sees it that is called `worker`.

    Every method that writes to a run raises LostRunError, and changes nothing, where the token is
    no longer that of the run.
    """

    database: Database
    worker: str

    def claim(self) -> Holding | None:
        """Return the run that has waited longest, now this supervisor's; None if none waits."""
        with self.database.writing() as session:
            waiting = select(StoredRun.id).where(
                StoredRun.state == RunState.QUEUED, StoredRun.attempt < StoredRun.attempts
            )
            waiting = waiting.order_by(StoredRun.created, StoredRun.id).limit(1)
            first = waiting.with_for_update(skip_locked=True).scalar_subquery()
            row = session.execute(
                update(StoredRun)
                .where(StoredRun.id == first, StoredRun.state == RunState.QUEUED)
                .values(**self._taken())
                .returning(
                    StoredRun.id,
                    StoredRun.token,
                    StoredRun.kind,
                    StoredRun.settings,
                    StoredRun.attempt,
                )
            ).first()
            if row is None:
                return None
            note(session, row.id, f"attempt {row.attempt} began")
            return Holding(row.id, row.token, row.kind, row.settings, row.attempt)

    def _taken(self) -> dict[str, Any]:
        return {
            "state": RunState.RUNNING.value,
            "worker": self.worker,
            "token": StoredRun.token + 1,
            "attempt": StoredRun.attempt + 1,
            "beat": 0,
            "pid": None,
            "pid_start": None,
            "stage": "",
            "done": 0,
            "total": 0,
            "problems": [],
            "started": now(),
            "finished": None,
            "revision": StoredRun.revision + 1,
        }

    def beat(self, holdings: Collection[Holding]) -> None:
        """Show that the supervisor lives."""
        if holdings:
            with self.database.writing() as session:
                ids = [one.run_id for one in holdings]
                mine = StoredRun.id.in_(ids), StoredRun.worker == self.worker
                session.execute(update(StoredRun).where(*mine).values(beat=StoredRun.beat + 1))

    def note_process(self, holding: Holding, pid: int, start: int | None) -> None:
        """Note by which process a run is carried out."""
        with self.database.writing() as session:
            _guarded(session, holding, OWNED, {"pid": pid, "pid_start": start})

    def note_progress(self, holding: Holding, stage: str, done: int, total: int) -> None:
        """Note how far a run is."""
        with self.database.writing() as session:
            old = session.scalar(select(StoredRun.stage).where(StoredRun.id == holding.run_id))
            _guarded(session, holding, OWNED, {"stage": stage, "done": done, "total": total})
            note(session, holding.run_id, PROGRESS if stage == old else stage)

    def note_remark(self, holding: Holding, what: str) -> None:
        """Note something about how a run is carried out."""
        with self.database.writing() as session:
            _guarded(session, holding, OWNED, {})
            note(session, holding.run_id, what)

    def states(self, holdings: Collection[Holding]) -> dict[Holding, RunState]:
        """Return the states of those runs that are still this supervisor's."""
        with self.database.reading() as session:
            rows = session.execute(
                select(StoredRun.id, StoredRun.token, StoredRun.state).where(
                    StoredRun.id.in_([one.run_id for one in holdings]), StoredRun.state.in_(OWNED)
                )
            ).all()
        states = {(one.id, one.token): RunState(one.state) for one in rows}
        pairs = ((one, states.get((one.run_id, one.token))) for one in holdings)
        return {one: state for one, state in pairs if state is not None}

    def others(self, holdings: Collection[Holding]) -> list[OtherHolding]:
        """Return the runs that some supervisor has, and this one does not know of."""
        own = {(one.run_id, one.token) for one in holdings}
        with self.database.reading() as session:
            rows = session.scalars(select(StoredRun).where(StoredRun.state.in_(OWNED))).all()
        return [
            OtherHolding(one.id, one.token, one.beat, one.worker or "", one.pid, one.pid_start)
            for one in rows
            if (one.id, one.token) not in own
        ]

    def succeed(
        self, holding: Holding, artefacts: Sequence[dict[str, Any]], result: dict[str, Any]
    ) -> None:
        """End a run that succeeded, with what it left, unless it was cancelled meanwhile."""
        with self.database.writing() as session:
            _end(session, holding, RunState.SUCCEEDED, result=result)
            session.add_all(RunArtefact(run_id=holding.run_id, **one) for one in artefacts)

    def fail(self, holding: Holding, problems: Sequence[dict[str, Any]]) -> None:
        """End a run that cannot succeed, however often it is tried."""
        with self.database.writing() as session:
            _end(session, holding, RunState.FAILED, problems)

    def release(
        self, holding: Holding | OtherHolding, why: str, *, counts: bool = True
    ) -> RunState:
        """Return what becomes of a run whose process ended without a result.

        It is queued again, or has failed where there are no more attempts; one that was to be
        cancelled is. An attempt that does not count, because nothing was wrong with the run, is
        not one of those allowed.
        """
        with self.database.writing() as session:
            run = session.get(StoredRun, holding.run_id, with_for_update=True)
            if run is None or run.token != holding.token or run.state not in OWNED:
                raise LostRunError
            note(session, run.id, why)
            if run.state == RunState.CANCELLING:
                _end(session, holding, RunState.CANCELLED, states=OWNED)
                return RunState.CANCELLED
            if counts and run.attempt >= run.attempts:
                _end(session, holding, RunState.FAILED, [_unfinished(run.attempt, why).as_json()])
                return RunState.FAILED
            _queue_again(session, run, counts=counts)
            return RunState.QUEUED


def _queue_again(session: Session, run: StoredRun, *, counts: bool) -> None:
    run.state, run.token, run.worker = RunState.QUEUED.value, run.token + 1, None
    run.pid = run.pid_start = None
    run.attempt -= 0 if counts else 1
    run.stage, run.done, run.total = "", 0, 0
    run.revision += 1
    note(session, run.id, run.state)


def _end(
    session: Session,
    holding: Holding | OtherHolding,
    state: RunState,
    problems: Sequence[dict[str, Any]] = (),
    result: dict[str, Any] | None = None,
    states: Sequence[RunState] = (RunState.RUNNING,),
) -> None:
    """End a run that is in one of some states; nobody writes to it by its token any more."""
    run_id, token = holding.run_id, holding.token
    values: dict[str, Any] = {"state": state.value, "finished": now(), "token": token + 1}
    values |= {"worker": None, "pid": None, "pid_start": None}
    values |= {"problems": list(problems), "result": result or {}}
    _guarded(session, holding, states, values)
    progress = RunEvent.run_id == run_id, RunEvent.what == PROGRESS
    session.execute(delete(RunEvent).where(*progress))
    note(session, run_id, state.value)


def _guarded(
    session: Session,
    holding: Holding | OtherHolding,
    states: Sequence[RunState],
    values: dict[str, Any],
) -> None:
    """Write to a run as long as the token is the run's. Raises LostRunError otherwise."""
    run_id, token = holding.run_id, holding.token
    changed = session.execute(
        update(StoredRun)
        .where(StoredRun.id == run_id, StoredRun.token == token, StoredRun.state.in_(states))
        .values(**values, revision=StoredRun.revision + 1)
    )
    assert isinstance(changed, CursorResult)  # noqa: S101 (as of every change)
    if changed.rowcount != 1:
        raise LostRunError


def _unfinished(attempts: int, why: str) -> Problem:
    message = f"The run ended without a result, as often as it was tried. Attempts: {attempts}. "
    return Problem("N020", f"{message}The last one: {why}.", "Look for why, and retry it.")
