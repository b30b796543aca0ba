"""Releases: what runs made of datasets, with the certificates that let it be read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from policy_engine import terms
from policy_engine.certificate.beside import load_certificates, load_proofs
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.vouching import Given, given_proofs
from policy_engine.errors import CertificateError, PolicyEngineError, ServiceError
from policy_engine.policy import PolicyText
from policy_engine.service.calls.refusals import ProblemView, without_places
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise, authorise_on, nothing_there
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.decisions import Proofs
from policy_engine.service.resources.kept_trust import KeptTrust
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.kinds.sanitising import RECORD, RELEASE, Sanitising
from policy_engine.service.runs.kinds.settings import RELEASES
from policy_engine.service.runs.states import RunState
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.policies import PolicyVersion, StoredPolicy
from policy_engine.service.store.releases import Withdrawal
from policy_engine.service.store.runs import StoredRun

_KIND = "sanitise"
_UNMEASURABLE = "V006"


class ReleaseStanding(StrEnum):
    """Whether a release may be read: the newest of its asset, unless it was withdrawn."""

    AVAILABLE = "available"
    REPLACED = "replaced"
    WITHDRAWN = "withdrawn"


class ReleaseView(BaseModel):
    """A release: which asset it is, by which version of which policy, made in which run."""

    id: str
    output: str
    policy: str
    version: int
    run: str
    rows: int | None = None
    state: ReleaseStanding
    reason: str = ""
    """Why it was withdrawn."""
    created: datetime


class ReleasesView(BaseModel):
    """All releases, the newest first."""

    items: list[ReleaseView]


class ReleaseVerdict(BaseModel):
    """Whether a release is what its certificate says, and holds what its policy asks for.

    `measured` are the bounds that were measured again on what lies there; where they cannot be, as
    for noise that was drawn, only the digests were compared, and `note` says so.
    """

    holds: bool
    measured: list[dict[str, Any]] = []
    note: str = ""
    problems: list[ProblemView] = []


@dataclass(frozen=True)
class _Release:
    """A release and where it lies."""

    view: ReleaseView
    folder: Path
    file: str
    owner_id: str

    @property
    def path(self) -> Path:
        return self.folder / RELEASE / self.file


@dataclass(frozen=True)
class Releases:
    """The releases of all runs. Whether one may be read is decided by policies, never here."""

    database: Database
    folders: RunFolders
    trust: KeptTrust | None = None

    def all(self, actor: Actor) -> ReleasesView:
        """Return all releases, the newest first."""
        authorise(actor, Verb.READ_RELEASES)
        return ReleasesView(items=[one.view for one in self._all()])

    def read(self, actor: Actor, release_id: str) -> ReleaseView:
        """Return a release. Raises ServiceError (N003) if it is not there."""
        return self._one(actor, release_id, Verb.READ_RELEASES).view

    def file(self, actor: Actor, release_id: str) -> tuple[ReleaseView, Path]:
        """Return a release and its file, of which roles let nobody see a value."""
        release = self._one(actor, release_id, Verb.READ_RELEASES)
        return release.view, release.path

    def certificate(self, actor: Actor, release_id: str) -> Certificate:
        """Return the certificate of a release. Raises CertificateError where it does not fit."""
        release = self._one(actor, release_id, Verb.READ_RELEASES)
        [certificate] = load_certificates(release.path)
        return certificate

    def verify(self, actor: Actor, release_id: str) -> ReleaseVerdict:
        """Return whether a release holds, measured anew on what lies there."""
        from policy_engine.api.certifying import certify_output  # noqa: PLC0415 (slow to import)

        release = self._one(actor, release_id, Verb.READ_RELEASES)
        try:
            self._check_signed(load_certificates(release.path))
            measured = certify_output(release.path, self._text(release), record=_record_of(release))
        except PolicyEngineError as error:
            if error.code == _UNMEASURABLE:
                return ReleaseVerdict(holds=True, note=str(error.problems[0].message))
            named = [without_places(one, f"{release.path.parent}/") for one in error.problems]
            problems = [ProblemView.model_validate(one.as_json()) for one in named]
            return ReleaseVerdict(holds=False, problems=problems)
        bounds = [one.model_dump(mode="json") for one in measured.measurements]
        return ReleaseVerdict(holds=True, measured=bounds)

    def _check_signed(self, certificates: Sequence[Certificate]) -> None:
        """Raise CertificateError for what the trust file of the service, if any, refuses."""
        if self.trust is None:
            return
        problems = [self.trust.proof_problem(one) for one in certificates]
        refusals = [one for one in problems if one is not None]
        if refusals:
            raise CertificateError(*refusals)

    def withdraw(self, actor: Actor, release_id: str, reason: str) -> ReleaseView:
        """Return a release that nobody may read from now on.

        Raises ServiceError: N003 for another owner's, N004 for one that was withdrawn.
        """
        release = self._one(actor, release_id, Verb.WITHDRAW_RELEASES)
        with self.database.writing() as session:
            if session.get(Withdrawal, release_id) is not None:
                raise ServiceError.of("N004", "The release was withdrawn before.")
            session.add(Withdrawal(release_id=release_id, by_id=actor.id, reason=reason, at=now()))
        update = {"state": ReleaseStanding.WITHDRAWN, "reason": reason}
        return release.view.model_copy(update=update)

    def proofs(self) -> tuple[object, Callable[[], Proofs]]:
        """Return what the proofs of what may be read are known again by, and how they are read.

        A release whose files were changed proves nothing: it is left out, and read by nobody.
        """
        available = [one for one in self._all() if one.view.state is ReleaseStanding.AVAILABLE]
        return tuple(one.view.id for one in available), lambda: tuple(_proofs(available))

    def mentioned(self, sql: str) -> dict[str, Path]:
        """Return the files of the releases that a query may mean, by IRI."""
        words = sql.casefold()
        return {
            one.view.output: one.path
            for one in self._all()
            if one.view.state is ReleaseStanding.AVAILABLE
            and terms.local_name(one.view.output).casefold() in words
        }

    def _one(self, actor: Actor, release_id: str, verb: Verb) -> _Release:
        authorise(actor, verb)
        release = next((one for one in self._all() if one.view.id == release_id), None)
        if release is None:
            raise nothing_there()
        authorise_on(actor, verb, release.owner_id)
        return release

    def _text(self, release: _Release) -> PolicyText:
        chosen = select(PolicyVersion.text).where(
            PolicyVersion.policy_id == release.view.policy,
            PolicyVersion.number == release.view.version,
        )
        with self.database.reading() as session:
            text = session.scalar(chosen)
        return PolicyText((text or "").encode(), "policy")

    def _all(self) -> list[_Release]:
        """Return all releases, the newest first, each with its state."""
        rows = (
            select(StoredRun)
            .where(StoredRun.kind == _KIND, StoredRun.state == RunState.SUCCEEDED)
            .order_by(StoredRun.finished.desc(), StoredRun.id)
        )
        with self.database.reading() as session:
            withdrawn = {one.release_id: one.reason for one in session.scalars(select(Withdrawal))}
            made = [one for run in session.scalars(rows) for one in self._of(session, run)]
        return list(_with_states(made, withdrawn))

    def _of(self, session: Session, run: StoredRun) -> Iterator[_Release]:
        settings = Sanitising.model_validate(run.settings)
        policy = session.get(StoredPolicy, settings.policy)
        for number, output in enumerate(run.result.get("outputs", ())):
            view = ReleaseView(
                id=f"{run.id}-{number}",
                output=output["asset"],
                policy=settings.policy,
                version=settings.version or 0,
                run=run.id,
                rows=output.get("rows"),
                state=ReleaseStanding.AVAILABLE,
                created=run.finished or run.created,
            )
            folder = self.folders.result(RELEASES, run.id)
            yield _Release(view, folder, output["file"], policy.owner_id if policy else "")


def _with_states(made: list[_Release], withdrawn: Mapping[str, str]) -> Iterator[_Release]:
    """Yield releases, the newest first, with what became of each."""
    newest: set[str] = set()
    for one in made:
        view = one.view
        update: dict[str, Any] = {}
        if view.id in withdrawn:
            update = {"state": ReleaseStanding.WITHDRAWN, "reason": withdrawn[view.id]}
        elif view.output in newest:  # whatever became of that: what is withdrawn was no better
            update = {"state": ReleaseStanding.REPLACED}
        newest.add(view.output)
        yield _Release(view.model_copy(update=update), one.folder, one.file, one.owner_id)


def _proofs(releases: list[_Release]) -> Iterator[Given]:
    for one in releases:
        try:
            yield from given_proofs(one.path, load_proofs)
        except PolicyEngineError:
            continue


def _record_of(release: _Release) -> Path | None:
    """Return the owner's record of a release, if it has one: it opens the certificate."""
    folder = release.folder / RECORD
    named = folder / f"{release.file}.record.json"
    alone = folder / "record.json"
    return next((one for one in (named, alone) if one.is_file()), None)
