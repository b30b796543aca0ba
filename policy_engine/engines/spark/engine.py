"""The Spark engine: on which cluster plans run, and where tables are stored on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from policy_engine.data.catalog import TABLE, Dataset
from policy_engine.engines.engine import Stored
from policy_engine.engines.spark import reading, writing
from policy_engine.engines.spark.catalog_tables import certificate_text, sql_name
from policy_engine.engines.spark.jobs import running
from policy_engine.engines.spark.session import runs_here, start, stop
from policy_engine.engines.spark.workers import check_workers
from policy_engine.errors import DataError, InternalError


@dataclass(frozen=True)
class SparkEngine:
    """Where plans run: on the cluster of a session, else of one started when it is needed.

    A session that is given is never stopped. `rows_per_task` bounds what a task holds in its
    memory, and `most_values` the distinct values of quasi-identifiers and sensitive columns that
    the driver holds. Neither changes what comes out, but where the columns have more values than
    that: those of most are first cut at quantiles.
    """

    session: SparkSession | None = None
    master: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)
    rows_per_task: int = 500_000
    most_values: int = 2_000_000
    is_checked: bool = field(default=False, repr=False)

    def started(self) -> "SparkEngine":
        """Return the engine with a session whose executors have what tasks need.

        Raises EngineError where there is none to be had.
        """
        session = self.session or start(self.master, self.conf)
        is_own = self.session is None
        try:
            if not (self.is_checked or (is_own and runs_here(session, self.conf))):
                check_workers(session)
        except BaseException:
            if is_own:
                stop(session)
            raise
        return replace(self, session=session, is_checked=True)

    @property
    def spark(self) -> SparkSession:
        """The session of an engine that is started."""
        if self.session is None:
            raise InternalError.of("X001", "The engine has no session.")
        return self.session

    def described(self, iri: str, source: Any) -> Dataset:
        """Return where a dataset lies and what it holds.

        Raises DataError (C010) for what is neither a place nor a frame of Spark, and as
        `reading.described` does.
        """
        if not isinstance(source, str | Path | DataFrame):
            message = f"A {type(source).__name__} is not data for Spark."
            hint = "Give a path, or the frame that spark.createDataFrame makes of it."
            raise DataError.of("C010", message, hint)
        with running(self.spark, "reading"):
            given = str(source) if isinstance(source, Path) else source
            return reading.described(self.spark, iri, given)

    def stored(self, location: str) -> Stored:
        """Return a table as it lies; errors as of `writing.manifest_digest`.

        The digest of a table of the catalog is that of its rows.
        """
        with running(self.spark, "reading"):
            if location.startswith(TABLE):
                table = self.spark.table(sql_name(location))
                return Stored(location, *writing.row_digest(table))
            return Stored(location, writing.manifest_digest(self.spark, location))

    def certificate_text(self, location: str) -> str | None:
        """Return the text of the certificate that `table:NAME` has as a property, if it has one."""
        with running(self.spark, "reading"):
            return certificate_text(self.spark, location)
