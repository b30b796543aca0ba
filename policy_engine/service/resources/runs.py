"""Runs: asked for, watched, cancelled, and asked for again."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from sqlalchemy import Select, and_, or_, select
from sqlalchemy.orm import Session

from policy_engine.errors import Problem, ServiceError, did_you_mean
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import (
    authorise,
    authorise_on,
    nothing_there,
    owners_of,
)
from policy_engine.service.identity.roles import Verb, Whose
from policy_engine.service.resources.datasets import OwnedDatasets
from policy_engine.service.resources.models import OwnedModels
from policy_engine.service.resources.policies import Policies, policy_of
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.happenings import PROGRESS, note
from policy_engine.service.runs.kinds.settings import RELEASES, RunSettings
from policy_engine.service.runs.results import artefact_path
from policy_engine.service.runs.states import RunState
from policy_engine.service.runs.views import RunView, run_view, subjects_of
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import StoredDataset
from policy_engine.service.store.models import StoredModel
from policy_engine.service.store.policies import StoredPolicy
from policy_engine.service.store.runs import RunArtefact, RunEvent, RunSubject, StoredRun

_MOST_WAITING = 1_000
"""So many runs of one person may wait at once."""


class ArtefactView(BaseModel):
    """A file that a run left for who may read runs; `digest` is its SHA-256."""

    name: str
    digest: str
    size: int
    media_type: str


@dataclass(frozen=True)
class Runs:
    """The runs of all people. What has ended stays as it is, unless it is tried again."""

    database: Database
    folders: RunFolders
    policies: Policies
    datasets: OwnedDatasets
    models: OwnedModels
    attempts: int
    kinds: Mapping[str, type[RunSettings]]

    def page(
        self, actor: Actor, cursor: Cursor, state: RunState | None = None, kind: str = ""
    ) -> PageOf[RunView]:
        """Return a page of the runs that somebody may read about, of a state and a kind."""
        rows = self._visible(actor)
        if state is not None:
            rows = rows.where(StoredRun.state == state)
        if kind:
            rows = rows.where(StoredRun.kind == kind)
        with self.database.reading() as session:
            return cursor.page(session, rows, (StoredRun.created, StoredRun.id), run_view)

    def read(self, actor: Actor, run_id: str) -> RunView:
        """Return a run. Raises ServiceError (N003) if it is not there, or not for the caller."""
        with self.database.reading() as session:
            return run_view(_run(session, actor, run_id, Verb.READ_RUNS))

    def create(self, actor: Actor, kind: str, settings: Mapping[str, Any]) -> RunView:
        """Return a new run, which waits for its turn.

        Raises ServiceError: N007 with every place of its settings that cannot be understood, N003
        for what it is about and is not there for the caller, N004 where a policy is not in force or
        a dataset has no data, N006 where too many wait.
        """
        authorise(actor, Verb.START_RUNS)
        asked_for = self._checked(actor, self._parsed(kind, settings))
        with self.database.writing() as session:
            waiting = select(StoredRun.id).where(
                StoredRun.owner_id == actor.id, StoredRun.state == RunState.QUEUED
            )
            if len(session.scalars(waiting.limit(_MOST_WAITING)).all()) >= _MOST_WAITING:
                message = f"At most {_MOST_WAITING:,} of your runs wait at once."
                raise ServiceError.of("N006", message, "Cancel some.")
            run = StoredRun(
                kind=kind,
                owner_id=actor.id,
                settings=asked_for.model_dump(mode="json"),
                state=RunState.QUEUED.value,
                attempts=self.attempts,
            )
            subjects = _subjects(session, asked_for)
            _check_subjects(actor, subjects)
            session.add(run)
            session.flush()
            session.add_all(RunSubject(run_id=run.id, person_id=one) for one in subjects)
            note(session, run.id, RunState.QUEUED.value)
            return run_view(run)

    def cancel(self, actor: Actor, run_id: str) -> RunView:
        """Return a run that is cancelled at once if it waits, and else as soon as it has ended.

        Raises ServiceError (N003; N004 where it has ended).
        """
        with self.database.writing() as session:
            run = _run(session, actor, run_id, Verb.START_RUNS)
            if run.state == RunState.QUEUED:
                run.state, run.finished = RunState.CANCELLED.value, now()
                run.token += 1
            elif run.state == RunState.RUNNING:
                run.state = RunState.CANCELLING.value
            elif run.state != RunState.CANCELLING:
                raise ServiceError.of("N004", f"The run has ended: it {_HOW[RunState(run.state)]}.")
            else:
                return run_view(run)
            return _changed(session, run)

    def retry(self, actor: Actor, run_id: str) -> RunView:
        """Return a run that failed or was cancelled, and now waits again, with as many attempts.

        What it is about is looked at anew. Raises ServiceError (N003; N004 where it did not fail,
        or its version of a policy is not the one in force), and as `create`.
        """
        with self.database.reading() as session:
            run = _run(session, actor, run_id, Verb.READ_RUNS)
            kind, settings = _tried_again(run).kind, run.settings
        self._checked(actor, self._parsed(kind, settings))
        with self.database.writing() as session:
            run = _tried_again(_run(session, actor, run_id, Verb.START_RUNS))
            _check_subjects(actor, subjects_of(session, [run.id])[run.id])
            run.state, run.token = RunState.QUEUED.value, run.token + 1
            run.attempts = run.attempt + self.attempts
            run.stage, run.done, run.total = "", 0, 0
            run.problems, run.finished = [], None
            return _changed(session, run)

    def log(self, actor: Actor, run_id: str) -> str:
        """Return what happened to a run, a line for each. No value of the data is in it."""
        with self.database.reading() as session:
            _run(session, actor, run_id, Verb.READ_RUNS)
            rows = session.scalars(
                select(RunEvent)
                .where(RunEvent.run_id == run_id, RunEvent.what != PROGRESS)
                .order_by(RunEvent.id)
            ).all()
        return "".join(f"{one.at.isoformat(timespec='seconds')} {one.what}\n" for one in rows)

    def artefacts(self, actor: Actor, run_id: str) -> list[ArtefactView]:
        """Return what a run left for who may read runs, by name."""
        with self.database.reading() as session:
            _run(session, actor, run_id, Verb.READ_RUNS)
            rows = session.scalars(
                select(RunArtefact).where(RunArtefact.run_id == run_id).order_by(RunArtefact.name)
            ).all()
        return [_artefact_view(one) for one in rows]

    def artefact(self, actor: Actor, run_id: str, name: str) -> tuple[ArtefactView, Path]:
        """Return what a run left under a name, and its file. Raises ServiceError (N003)."""
        with self.database.reading() as session:
            run = _run(session, actor, run_id, Verb.READ_RUNS)
            row = session.get(RunArtefact, (run_id, name))
        if row is None or run.state != RunState.SUCCEEDED:
            raise nothing_there()
        path = artefact_path(self.folders.result(self.kinds[run.kind].home, run.id), row.name)
        if not path.is_file():
            raise nothing_there()
        return _artefact_view(row), path

    def _visible(self, actor: Actor) -> Select[StoredRun]:
        rows = select(StoredRun)
        if authorise(actor, Verb.READ_RUNS) is Whose.OWN:
            subjects = select(RunSubject.run_id)
            own = subjects.where(RunSubject.person_id.in_(owners_of(actor, Verb.READ_RUNS)))
            is_alone = and_(StoredRun.owner_id == actor.id, StoredRun.id.not_in(subjects))
            rows = rows.where(or_(StoredRun.id.in_(own), is_alone))
        return rows

    def _parsed(self, kind: str, settings: Mapping[str, Any]) -> RunSettings:
        if kind not in self.kinds:
            message = f"There is no run of the kind {kind[:50]!r}."
            hint = did_you_mean(kind[:50], self.kinds) or f"Kinds: {', '.join(self.kinds)}."
            raise ServiceError.of("N007", message, hint)
        try:
            json.dumps(settings, ensure_ascii=False).encode()  # raises for half a character
            return self.kinds[kind].model_validate(settings)
        except ValidationError as error:
            raise ServiceError(*(_settings_problem(one) for one in error.errors())) from None

    def _checked(self, actor: Actor, settings: RunSettings) -> RunSettings:
        """Return settings that are about what is there for the caller."""
        number = self._version(actor, settings)
        self.datasets.check_names(actor, getattr(settings, "datasets", {}))
        for one in settings.dataset_ids:
            self.datasets.owned.file(actor, one, Verb.READ_DATASETS)
        for one in settings.release_ids:
            self._check_release(actor, one)
        for one in settings.description_ids:
            self.models.check(actor, one, is_description=True)
        for one in settings.fitted_ids:
            view = self.models.check(actor, one, is_description=False)
            settings = settings.with_model(one, view.settings.model_dump())
        if number is not None:
            settings = settings.with_version(number)
            self._check_output(actor, settings)
        return settings

    def _check_output(self, actor: Actor, settings: RunSettings) -> None:
        """Raise an error for an output that the policy does not ask for, as its run would."""
        asset, version = getattr(settings, "asset", ""), settings.policy_version
        if asset and settings.policy_id is not None and version is not None:
            from policy_engine.api.binding import choose_product  # noqa: PLC0415 (slow to import)

            text = self.policies.version(actor, settings.policy_id, version).text
            choose_product(policy_of(text), asset)

    def _version(self, actor: Actor, settings: RunSettings) -> int | None:
        """Return the version in force of the policy that settings are about, if they are."""
        if settings.policy_id is None:
            return None
        number = self.policies.read(actor, settings.policy_id).published_version
        if number is None or settings.policy_version not in (None, number):
            message = f"What runs is the version in force. That is {number or 'none yet'}."
            raise ServiceError.of("N004", message, "Publish the policy first.")
        return number

    def _check_release(self, actor: Actor, run_id: str) -> None:
        run = self.read(actor, run_id)
        if run.state is not RunState.SUCCEEDED or self.kinds[run.kind].home != RELEASES:
            raise ServiceError.of("N004", f"The run {run_id!r} has released nothing.")


_HOW = {
    RunState.QUEUED: "waits for its turn",
    RunState.RUNNING: "is under way",
    RunState.CANCELLING: "is being cancelled",
    RunState.SUCCEEDED: "succeeded",
    RunState.FAILED: "failed",
    RunState.CANCELLED: "was cancelled",
}


def _run(session: Session, actor: Actor, run_id: str, verb: Verb) -> StoredRun:
    reach = authorise(actor, verb)
    run = session.get(StoredRun, run_id, with_for_update=verb is not Verb.READ_RUNS)
    if run is None:
        raise nothing_there()
    subjects = subjects_of(session, [run.id])[run.id] or {run.owner_id}
    if reach is Whose.OWN and subjects.isdisjoint(owners_of(actor, verb)):
        raise nothing_there()
    return run


def _tried_again(run: StoredRun) -> StoredRun:
    """Return a run that may be tried again. Raises ServiceError (N004) for any other."""
    if run.state not in (RunState.FAILED, RunState.CANCELLED):
        message = "What failed or was cancelled is tried again."
        raise ServiceError.of("N004", f"{message} The run {_HOW[RunState(run.state)]}.")
    return run


def _subjects(session: Session, settings: RunSettings) -> set[str]:
    """Return the owners of what a run is about."""
    subjects: set[str] = set()
    for table, ids in (
        (StoredPolicy, [settings.policy_id] if settings.policy_id else []),
        (StoredDataset, settings.dataset_ids),
        (StoredModel, settings.model_ids),
    ):
        subjects |= {*session.scalars(select(table.owner_id).where(table.id.in_(ids)))}
    return subjects.union(*subjects_of(session, settings.release_ids).values())


def _check_subjects(actor: Actor, subjects: Iterable[str]) -> None:
    """Check that somebody may start a run about what belongs to owners, who may read it for
    another reason. Raises ServiceError (N003)."""
    for one in subjects:
        authorise_on(actor, Verb.START_RUNS, one)


def _changed(session: Session, run: StoredRun) -> RunView:
    run.revision += 1
    note(session, run.id, run.state)
    return run_view(run)


def _settings_problem(one: Mapping[str, Any]) -> Problem:
    """Return what is wrong with a place of settings; what was given is not repeated."""
    place = ".".join(("settings", *map(str, one.get("loc", ()))))
    return Problem("N007", f"{place}: {one.get('msg', 'cannot be understood')}.")


def _artefact_view(row: RunArtefact) -> ArtefactView:
    return ArtefactView(name=row.name, digest=row.digest, size=row.size, media_type=row.media_type)
