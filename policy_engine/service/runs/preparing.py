"""What the process of a run needs, read from the database once a supervisor has the run."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select

from policy_engine.data.table_files import unreadable_file
from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.resources.log_heads import budget_head
from policy_engine.service.resources.ownership import owners_by_iri, party_of
from policy_engine.service.runs.clusters import Cluster
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.jobs import Job, KeptText
from policy_engine.service.runs.kinds.settings import RELEASES, RunSettings
from policy_engine.service.runs.limits import RunLimits
from policy_engine.service.runs.queue import Holding
from policy_engine.service.runs.states import RunState
from policy_engine.service.store.database import Database
from policy_engine.service.store.policies import PolicyVersion, StoredPolicy
from policy_engine.service.store.runs import StoredRun
from policy_engine.trust.trust_file import read_trust

NOT_ON_SPARK = "carried out on this machine alone: it is not a run for Spark"
_MOST_TRIES = 10
PathOf = Callable[[str], Path]
"""Returns the file of a dataset or a model. Raises a PolicyEngineError where it has none."""


@dataclass(frozen=True)
class Preparation:
    """What makes jobs of runs. `kinds` is the module that has the kinds of runs."""

    database: Database
    folders: RunFolders
    path_of: PathOf
    limits: RunLimits
    kinds: str
    cluster: Cluster | None = None
    """Where runs are carried out that can be, if not here."""
    trust: Path | None = None
    """The trust file by which policies are carried out, if there is one."""

    def settings(self, holding: Holding) -> RunSettings:
        """Return the settings of a run. Raises ServiceError (N007) for those of an older version
        of the service that are no longer understood."""
        kinds: Mapping[str, type[RunSettings]] = import_module(self.kinds).KINDS
        try:
            return kinds[holding.kind].model_validate(holding.settings)
        except (KeyError, ValidationError):
            message = (
                f"The settings of this run are no longer understood. Its kind: {holding.kind}."
            )
            raise ServiceError.of("N007", message, "Start another one.") from None

    def job(self, holding: Holding) -> Job:
        """Return the job of a run, whose inputs are put into its folder.

        Raises a PolicyEngineError where something is not there any more, OSError where the folder
        cannot be written.
        """
        settings = self.settings(holding)
        job = Job(
            kinds=self.kinds,
            kind=holding.kind,
            settings=holding.settings,
            folder=self.folders.attempt(holding.run_id, holding.token),
            kept=self.folders.kept(holding.run_id),
            attempts=self.folders.attempts,
            code=self.folders.code,
            policy=self._policy(settings),
            others=self._others(settings),
            owners=self._owners(settings),
            trust=self._trust(settings),
            releases={one: self._release(one) for one in settings.release_ids},
            **self._ledger(settings),
            limits=self.limits,
            **self._place(settings),
            parent=os.getpid(),
        )
        self.folders.make(job)
        return job.model_copy(update={"files": self._given(job.folder, settings)})

    def _given(self, folder: Path, settings: RunSettings) -> dict[str, Path]:
        """Return where the files of an attempt are; one that is replaced meanwhile is looked for
        again."""
        ids, tries = (*settings.dataset_ids, *settings.model_ids), 0
        while True:
            try:
                return self.folders.give(folder, {one: self.path_of(one) for one in ids})
            except (OSError, ServiceError) as error:
                tries += 1
                if tries == _MOST_TRIES or not _was_removed(error):
                    raise

    def _place(self, settings: RunSettings) -> dict[str, Any]:
        """Return where a run is carried out, and what is said of it."""
        if self.cluster is None:
            return {}
        return {"cluster": self.cluster} if settings.is_distributed else {"note": NOT_ON_SPARK}

    def _ledger(self, settings: RunSettings) -> dict[str, Path]:
        if not settings.spends:
            return {}
        self.folders.ledger.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        head = budget_head(self.folders)
        head.check()
        return {"ledger": self.folders.ledger, "ledger_key": head.key}

    def note_spent(self) -> None:
        """Remember the end of the ledger of budgets, once a run may have charged it.

        Where that fails, whoever uses the ledger next is told why.
        """
        with suppress(OSError, PolicyEngineError):
            if self.folders.ledger.exists():
                budget_head(self.folders).follow()

    def _policy(self, settings: RunSettings) -> KeptText | None:
        if settings.policy_id is None:
            return None
        with self.database.reading() as session:
            row = session.execute(
                select(
                    StoredPolicy.name,
                    PolicyVersion.text,
                    PolicyVersion.signature,
                    StoredPolicy.owner_id,
                    StoredPolicy.published,
                )
                .join(PolicyVersion, PolicyVersion.policy_id == StoredPolicy.id)
                .where(StoredPolicy.id == settings.policy_id)
                .where(PolicyVersion.number == settings.policy_version)
            ).first()
            if row is None:
                raise _gone("version of the policy")
            if row.published != settings.policy_version:
                message = "The version of the policy that the run is about is no longer in force."
                raise ServiceError.of("N004", message, "Start another run.")
            issuer = party_of(session, row.owner_id)
        return KeptText(name=row.name, text=row.text, issuer=issuer, signature=row.signature)

    def _trust(self, settings: RunSettings) -> str | None:
        """Return the text of the trust file for a run that carries a policy out.

        Raises TrustError (Y008) where there is a mistake in it, DataError (C003) where it cannot be
        read: nothing is carried out then, as nothing is permitted.
        """
        if self.trust is None or settings.policy_id is None:
            return None
        try:
            content = self.trust.read_bytes()
        except OSError as error:
            raise unreadable_file(Path(self.trust.name), error) from None
        read_trust(content)
        return content.decode("utf-8")

    def _owners(self, settings: RunSettings) -> dict[str, str]:
        if settings.policy_id is None:
            return {}
        with self.database.reading() as session:
            return owners_by_iri(session)

    def _others(self, settings: RunSettings) -> tuple[KeptText, ...]:
        """Return all other policies in force: what they prohibit is prohibited here, too."""
        if settings.policy_id is None:
            return ()
        with self.database.reading() as session:
            rows = session.execute(
                select(
                    StoredPolicy.name,
                    PolicyVersion.text,
                    PolicyVersion.signature,
                    StoredPolicy.owner_id,
                )
                .join(PolicyVersion, PolicyVersion.policy_id == StoredPolicy.id)
                .where(PolicyVersion.number == StoredPolicy.published)
                .where(StoredPolicy.id != settings.policy_id)
                .order_by(StoredPolicy.id)
            ).all()
            parties = {one.owner_id: party_of(session, one.owner_id) for one in rows}
        return tuple(
            KeptText(
                name=one.name,
                text=one.text,
                issuer=parties[one.owner_id],
                signature=one.signature,
            )
            for one in rows
        )

    def _release(self, run_id: str) -> Path:
        with self.database.reading() as session:
            run = session.get(StoredRun, run_id)
        if run is None or run.state != RunState.SUCCEEDED:
            raise _gone("release")
        return self.folders.result(RELEASES, run_id)


def _gone(what: str) -> PolicyEngineError:
    return ServiceError.of("N003", f"The {what} that the run is about is not there.")


def _was_removed(error: Exception) -> bool:
    """Tell whether a file was removed between it was found and read."""
    cause = error.__cause__ if isinstance(error, ServiceError) else error
    return isinstance(cause, FileNotFoundError)
