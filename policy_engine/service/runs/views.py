"""A run as the API tells it."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from policy_engine.service.calls.refusals import ProblemView
from policy_engine.service.runs.states import RunState
from policy_engine.service.store.runs import RunSubject, StoredRun


class RunView(BaseModel):
    """A run, and how far it is: `done` of `total` in its `stage`, where the total is known."""

    id: str
    kind: str
    owner: str
    state: RunState
    attempt: int
    attempts: int
    stage: str
    done: int
    total: int
    problems: list[ProblemView]
    result: dict[str, Any]
    settings: dict[str, Any]
    created: datetime
    started: datetime | None = None
    finished: datetime | None = None
    revision: int


def subjects_of(session: Session, run_ids: Collection[str]) -> dict[str, set[str]]:
    """Return the owners whom runs are about, by run; none where it is about nobody's things."""
    subjects: dict[str, set[str]] = {one: set() for one in run_ids}
    rows = select(RunSubject.run_id, RunSubject.person_id).where(RunSubject.run_id.in_(run_ids))
    for run, person in session.execute(rows):
        subjects[run].add(person)
    return subjects


def run_view(row: StoredRun) -> RunView:
    """Return a run as the API tells it."""
    return RunView(
        id=row.id,
        kind=row.kind,
        owner=row.owner_id,
        state=RunState(row.state),
        attempt=row.attempt,
        attempts=row.attempts,
        stage=row.stage,
        done=row.done,
        total=row.total,
        problems=[ProblemView.model_validate(one) for one in row.problems],
        result=row.result,
        settings=row.settings,
        created=row.created,
        started=row.started,
        finished=row.finished,
        revision=row.revision,
    )
