"""All that the routes need, as one value."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request

from policy_engine.service.asking.query_processes import QueryProcesses
from policy_engine.service.calls.rates import Buckets, RateLimit
from policy_engine.service.calls.turns import AT_ONCE, CallTurns
from policy_engine.service.files.caller_locks import CallerLocks
from policy_engine.service.files.folder import FileFolder
from policy_engine.service.identity.providers import IdentityProvider
from policy_engine.service.identity.signing_in import Identities
from policy_engine.service.metrics.call_meter import CallMeter
from policy_engine.service.metrics.process_meters import ProcessMeters
from policy_engine.service.metrics.service_figures import ServiceFigures
from policy_engine.service.resources.access import Access
from policy_engine.service.resources.answers import KeptAnswers
from policy_engine.service.resources.budgets import Budgets
from policy_engine.service.resources.comparisons import Comparisons
from policy_engine.service.resources.contrasts import ReleaseContrasts
from policy_engine.service.resources.dataset_columns import DatasetColumns
from policy_engine.service.resources.datasets import OwnedDatasets
from policy_engine.service.resources.decision_details import DecisionDetails
from policy_engine.service.resources.decisions import Decisions
from policy_engine.service.resources.diagnostics import TextChecks
from policy_engine.service.resources.holdings import Holdings
from policy_engine.service.resources.kept_trust import KeptTrust
from policy_engine.service.resources.lineage import AssetLineage
from policy_engine.service.resources.models import OwnedModels
from policy_engine.service.resources.ownership import OwnedAssets
from policy_engine.service.resources.people import People
from policy_engine.service.resources.plans import Plans
from policy_engine.service.resources.policies import Policies
from policy_engine.service.resources.publishing import TextLimits
from policy_engine.service.resources.queries import Queries
from policy_engine.service.resources.query_inputs import QueryInputs
from policy_engine.service.resources.releases import Releases
from policy_engine.service.resources.removals import FileRemovals
from policy_engine.service.resources.review_evidence import ReviewEvidence
from policy_engine.service.resources.review_records import ReviewRecords
from policy_engine.service.resources.review_rights import ReviewRights
from policy_engine.service.resources.reviews import Reviews
from policy_engine.service.resources.runs import Runs
from policy_engine.service.resources.uploads import Uploads
from policy_engine.service.runs.broadcasting import RunBroadcaster
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.kinds import KINDS
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.database import Database
from policy_engine.trust.trust_file import load_trust

_COSTLY = 100


@dataclass(frozen=True)
class Services:
    """The settings, the database, and what is done with them."""

    settings: ServiceSettings
    database: Database
    identities: Identities
    provider: IdentityProvider | None
    """Who vouches for people, if anybody does."""
    holdings: Holdings
    people: People
    policies: Policies
    checks: TextChecks
    datasets: OwnedDatasets
    models: OwnedModels
    uploads: Uploads
    removals: FileRemovals
    columns: DatasetColumns
    access: Access
    answers: KeptAnswers
    plans: Plans
    decisions: Decisions
    details: DecisionDetails
    queries: Queries
    reviews: Reviews
    evidence: ReviewEvidence
    budgets: Budgets
    releases: Releases
    contrasts: ReleaseContrasts
    lineage: AssetLineage
    runs: Runs
    comparisons: Comparisons
    run_news: RunBroadcaster
    figures: ServiceFigures
    meters: ProcessMeters
    turns: CallTurns
    query_turns: CallTurns
    calls: RateLimit
    costly_calls: RateLimit

    @classmethod
    def open(
        cls,
        settings: ServiceSettings,
        shared: Buckets | None = None,
        *,
        asks_processes: bool = False,
    ) -> "Services":
        """Return the services of settings, with what several processes of them share.

        Queries are answered here, or by processes that are limited, and which are asked then.

        Raises ServiceError (N012, N013) as `Database.open`, and as `load_trust` for its trust file.
        """
        database = Database.open(settings.database_url)
        identities, ownership = (
            Identities(database, settings.stewards_for_all),
            OwnedAssets(database),
        )
        trust = None if settings.trust is None else KeptTrust(settings.trust)
        limits = TextLimits(settings.text_limits, settings.rules_in_force, trust)
        policies = Policies(database, settings.two_persons, limits)
        files = FileFolder(settings.folder, settings.storage)
        files.blobs  # noqa: B018 (a storage that is none is told now, and not by the first upload)
        uploads = Uploads(database, files, settings.largest_upload)
        datasets, models = OwnedDatasets(uploads), OwnedModels(uploads)
        folders = RunFolders(settings.folder)
        releases = Releases(database, folders, trust)
        if settings.trust is not None:
            load_trust(settings.trust)  # one that is wrong is told now, and not by every denial
        budgets = Budgets(database, folders)
        decisions = Decisions(ownership, settings.folder, releases.proofs, budgets.ledger, trust)
        run_news = RunBroadcaster(database)
        meters = ProcessMeters(
            settings.folder,
            CallMeter(),
            decisions.tally,
            lambda: run_news.listener_count,
            is_shared=settings.workers > 1,
        )
        figures = ServiceFigures(settings, database, folders, meters, time.monotonic())
        costly = max(1, settings.calls_a_minute // _COSTLY)

        runs = Runs(database, folders, policies, datasets, models, settings.run_attempts, KINDS)

        @contextmanager
        def mentioned(sql: str) -> Iterator[dict[str, Path]]:
            with datasets.mentioned(sql) as held:
                yield {**held, **releases.mentioned(sql)}

        inputs = QueryInputs(decisions, settings.folder, mentioned)
        processes = QueryProcesses.of(settings) if asks_processes else None
        if processes is not None and (datasets.are_there or releases.proofs()[0]):
            processes.prepare()  # without anything to query, it would only take memory
        bounds = settings.query_memory, settings.query_seconds, processes
        records = ReviewRecords(database, settings.folder)
        rights = ReviewRights(identities, settings.own_reviews)
        reviews = Reviews(inputs, records, rights, *bounds)
        return cls(
            settings=settings,
            database=database,
            identities=identities,
            provider=settings.provider(),
            people=People(identities, settings.address, settings.oidc_issuer),
            holdings=Holdings(database),
            policies=policies,
            checks=TextChecks(limits.text),
            datasets=datasets,
            models=models,
            uploads=uploads,
            removals=FileRemovals(database, files),
            columns=DatasetColumns(datasets),
            answers=KeptAnswers(database, settings.folder),
            access=Access(database, policies, ownership),
            plans=Plans(policies, datasets, ownership),
            decisions=decisions,
            details=DecisionDetails(database, decisions),
            queries=Queries(inputs, reviews.send_answer, folders.ledger, *bounds),
            reviews=reviews,
            evidence=ReviewEvidence(records, rights),
            budgets=budgets,
            releases=releases,
            contrasts=ReleaseContrasts(database, datasets, releases),
            lineage=AssetLineage(database, datasets, releases, decisions),
            runs=runs,
            comparisons=Comparisons(runs),
            run_news=run_news,
            figures=figures,
            meters=meters,
            turns=CallTurns(max(1, AT_ONCE // settings.workers), _locks(settings, "calls")),
            query_turns=CallTurns(
                processes.most if processes else AT_ONCE, _locks(settings, "queries")
            ),
            calls=RateLimit(settings.calls_a_minute, shared=shared, name="calls"),
            costly_calls=RateLimit(costly, shared=shared, name="costly"),
        )

    def close(self) -> None:
        """Close what was opened."""
        self.run_news.close()
        if self.queries.processes is not None:
            self.queries.processes.close()
        for one in (self.turns, self.query_turns):
            if one.locks is not None:
                one.locks.close()
        self.decisions.close()
        self.database.close()


def _locks(settings: ServiceSettings, name: str) -> CallerLocks | None:
    """Return the locks by which callers have one turn in all processes that answer calls."""
    return CallerLocks(settings.folder / f"{name}.turns") if settings.workers > 1 else None


def services_of(call: Request) -> Services:
    """Return the services that a call is answered by."""
    services: Services = call.app.state.services
    return services
