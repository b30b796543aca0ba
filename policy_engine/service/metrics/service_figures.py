"""The figures of a service at a moment, and whether it is ready for calls."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import func, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from policy_engine import __version__
from policy_engine.errors import Problem
from policy_engine.service.files.folder import SPARE
from policy_engine.service.metrics.call_meter import Labels
from policy_engine.service.metrics.exposition import Metric
from policy_engine.service.metrics.process_meters import ProcessMeters
from policy_engine.service.resources.log_heads import chain_problems
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.states import RunState
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.runs import StoredRun

_CALL = ("method", "route")


@dataclass(frozen=True)
class ServiceFigures:
    """What figures are collected of. None of them tells who called, nor what about."""

    settings: ServiceSettings
    database: Database
    folders: RunFolders
    meters: ProcessMeters
    since: float

    def metrics(self) -> Iterator[Metric]:
        """Yield all figures as they are now."""
        version: dict[Labels, float] = {(__version__,): 1}
        yield Metric.by("policy_engine_info", "gauge", "The version.", ("version",), version)
        up = time.monotonic() - self.since
        yield Metric.gauge("policy_engine_uptime_seconds", "Since the service was started.", up)
        yield from self._call_metrics()
        with self.database.reading() as session:
            yield from _run_metrics(session)
            size = float(session.scalar(text(_SIZE[session.get_bind().dialect.name])) or 0)
        yield Metric.gauge("policy_engine_database_bytes", "Size of the database.", size)
        yield from self._place_metrics()

    def problems(self) -> Iterator[Problem]:
        """Yield what keeps the service from doing its work."""
        try:
            with self.database.reading() as session:
                session.execute(text("SELECT 1"))
        except SQLAlchemyError:
            yield Problem("N013", "The database does not answer.")
        if self.settings.runs_at_once and not self._is_supervised:
            is_starting = time.monotonic() - self.since <= self.settings.lease
            message = "has not started yet" if is_starting else "has shown no sign of life"
            allowed = f"Seconds allowed: {self.settings.lease:g}."
            yield Problem("N013", f"The supervisor of runs {message}. {allowed}")
        yield from chain_problems(self.folders)
        if shutil.disk_usage(self.settings.folder).free < SPARE:
            message = "The disk is nearly full."
            yield Problem("N013", f"{message} Bytes that are to be free: {SPARE:,}.")

    @property
    def _is_supervised(self) -> bool:
        seconds = self.folders.seconds_since_beat()
        return seconds is not None and seconds <= self.settings.lease

    def _call_metrics(self) -> Iterator[Metric]:
        labels, totals, name = (*_CALL, "status"), self.meters.totals(), "policy_engine_calls_total"
        yield Metric.by(name, "counter", "Calls answered.", labels, totals.calls)
        what = "Until an answer began."
        yield Metric.histogram("policy_engine_call_seconds", what, _CALL, totals.durations)
        what, name = "Decisions on requests and queries.", "policy_engine_decisions_total"
        yield Metric.by(name, "counter", what, ("effect",), totals.decisions)
        what = "Open streams of events."
        yield Metric.gauge("policy_engine_event_streams", what, totals.streams)

    def _place_metrics(self) -> Iterator[Metric]:
        usage = shutil.disk_usage(self.settings.folder)
        free, total = "policy_engine_disk_free_bytes", "policy_engine_disk_bytes"
        yield Metric.gauge(free, "Room on the disk of the folder.", usage.free)
        yield Metric.gauge(total, "Size of that disk.", usage.total)
        seconds = self.folders.seconds_since_beat()
        if seconds is not None:
            what, name = "Since the supervisor of runs showed life.", "policy_engine_supervisor"
            yield Metric.gauge(f"{name}_silent_seconds", what, seconds)


_SIZE = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}


def _run_metrics(session: Session) -> Iterator[Metric]:
    rows = session.execute(select(StoredRun.state, func.count()).group_by(StoredRun.state))
    states: dict[Labels, float] = {(one.value,): 0 for one in RunState}
    states |= {(state,): count for state, count in rows}
    yield Metric.by("policy_engine_runs", "gauge", "Runs by state.", ("state",), states)
    length = states[RunState.QUEUED.value,]
    yield Metric.gauge("policy_engine_run_queue_length", "Runs that wait.", length)
    oldest = select(func.min(StoredRun.created)).where(StoredRun.state == RunState.QUEUED)
    first = session.scalar(oldest)
    seconds = max((now() - first).total_seconds(), 0.0) if first else 0.0
    what, name = "Age of the run that has waited longest.", "policy_engine_run_queue_oldest_seconds"
    yield Metric.gauge(name, what, seconds)
