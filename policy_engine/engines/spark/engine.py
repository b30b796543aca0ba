"""The Spark engine: the cluster that plans run on, and the tables that are stored there."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from policy_engine.data.catalog import TABLE, Dataset
from policy_engine.engines.carried import FLOAT_HINT, extras_problem, other_floats
from policy_engine.engines.engine import StoredData
from policy_engine.engines.spark import reading, writing
from policy_engine.engines.spark.catalog_tables import (
    REDACTED,
    REDACTION_HINT,
    certificate_text,
    current_snapshot,
    sql_name,
)
from policy_engine.engines.spark.jobs import running
from policy_engine.engines.spark.plain_floats import columns_of_other_floats
from policy_engine.engines.spark.session import runs_here, start, stop
from policy_engine.engines.spark.workers import check_workers
from policy_engine.errors import CertificateError, DataError, InternalError


@dataclass(frozen=True)
class SparkEngine:
    """Where plans run: on the cluster of a session, or of one that is started when it is needed.

    A session that is given is never stopped. `rows_per_task` bounds what a task holds in memory,
    and `most_values` how many distinct values of quasi-identifiers and sensitive columns the driver
    holds. They do not change the result, except that columns with too many values for the driver
    are first cut at quantiles. An audit of disclosure links persons where all tables together have
    at most `most_linked` rows, of which the driver holds the columns that are read; a model that
    guides how classes are cut learns from at most as many.
    """

    session: SparkSession | None = None
    master: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)
    rows_per_task: int = 500_000
    most_values: int = 2_000_000
    most_linked: int = 10_000_000
    is_checked: bool = field(default=False, repr=False)

    def started(self) -> "SparkEngine":
        """Return the engine with a session whose executors have what tasks need.

        Raises EngineError where a session cannot be started, or its executors lack something.
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
        """The session of a started engine."""
        if self.session is None:
            raise InternalError.of("X001", "The engine has no session.")
        return self.session

    def describe_dataset(self, iri: str, source: Any) -> Dataset:
        """Return the location, the format and the columns of a dataset.

        Raises DataError (C010) for anything but a location or a Spark frame, and the errors of
        `reading.describe_dataset`.
        """
        if not isinstance(source, str | Path | DataFrame):
            message = f"A {type(source).__name__} is not data for Spark."
            hint = "Give a path, or the frame that spark.createDataFrame makes of it."
            raise DataError.of("C010", message, hint)
        with running(self.spark, "reading"):
            location = str(source) if isinstance(source, Path) else source
            return reading.describe_dataset(self.spark, iri, location)

    def stored_data(self, location: str) -> StoredData:
        """Return the location and the digest of a table. Raises the errors of
        `writing.manifest_digest`.

        The digest of a table of the catalog is that of its rows. Raises DataError (C010) where
        another version of it came meanwhile.
        """
        with running(self.spark, "reading"):
            if location.startswith(TABLE):
                snapshot = current_snapshot(self.spark, location)
                table = self.spark.table(sql_name(location))
                stored = StoredData(location, *writing.row_digest(table), snapshot)
                if snapshot is None or current_snapshot(self.spark, location) == snapshot:
                    return stored
                message = f"{location!r} got another version while its rows were hashed."
                raise DataError.of("C010", message, "Try again when nobody writes to it.")
            return StoredData(location, writing.manifest_digest(self.spark, location))

    def input_digest(self, source: str | DataFrame, frame: DataFrame) -> str:
        """Return the digest of the input; that of its rows where it is a frame, or its files are
        too large for a task to hash."""
        if isinstance(source, DataFrame):
            return writing.row_digest(source)[0]
        if not source.startswith(TABLE) and writing.has_large_files(self.spark, source):
            return writing.row_digest(frame)[0]
        return self.stored_data(source).digest

    def check_extras(self, location: str) -> None:
        """Raise CertificateError (V002) where a stored table has floats in another than their one
        form, whose bits could tell more than its values."""
        with running(self.spark, "verifying"):
            dataset = self.describe_dataset("", location)
            frame = reading.read_as_stored(self.spark, location, dataset.format, dataset.columns)
            names = columns_of_other_floats(frame)
        if names:
            problems = [extras_problem(other_floats(name), FLOAT_HINT) for name in names]
            raise CertificateError(*problems, source=location)

    def certificate_text(self, location: str) -> str | None:
        """Return the text of the certificate in the properties of `table:NAME`, if it has one.

        Raises DataError (C003) where Spark takes it for a secret.
        """
        with running(self.spark, "reading"):
            text = certificate_text(self.spark, location)
        if text == REDACTED:
            message = f"The session hides the certificate of {location!r}, a property of its table."
            raise DataError.of("C003", message, REDACTION_HINT)
        return text
