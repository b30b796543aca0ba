"""The Spark engine: plans run on a cluster, with the rows and the figures of the local engine."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.data.catalog import MEMORY, SPARK_FORMATS, TABLE, Dataset, with_ending
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.engine import FIRST_ROWS, Ended, Measured, Progress, Stored, silent
from policy_engine.engines.identifiers import new_salt
from policy_engine.engines.reading_back import columns_of, ends_of
from policy_engine.engines.spark import reading, writing
from policy_engine.engines.spark.anonymizing import Made, Work, anonymize
from policy_engine.engines.spark.catalog_tables import certificate_text, sql_name
from policy_engine.engines.spark.cell_ends import with_ends
from policy_engine.engines.spark.coding import PERSON
from policy_engine.engines.spark.joining import join_frames
from policy_engine.engines.spark.measuring import measure
from policy_engine.engines.spark.session import check_workers, running, runs_here, start, stop
from policy_engine.engines.spark.unlinked import check_hidden, check_unlinked
from policy_engine.engines.spark.values import as_written, quoted
from policy_engine.errors import CertificateError, DataError, InternalError
from policy_engine.plan.inputs import Join, Read
from policy_engine.plan.plan import Anonymize, Publish

_NONE: Mapping[str, Any] = MappingProxyType({})


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
            message = f"A {type(source).__name__} is no data for Spark."
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


class SparkRun:
    """A run of the engine with its inputs: an Engine whose tables are Spark's frames."""

    def __init__(
        self,
        engine: SparkEngine,
        tables: Mapping[str, DataFrame] = _NONE,
        progress: Progress = silent,
        taxonomies: Mapping[str, Taxonomy] = _NONE,
        key: bytes | None = None,
    ) -> None:
        self._engine, self._tables = engine, tables
        self._progress, self.taxonomies, self._key = progress, taxonomies, key
        self.salt = new_salt()
        self.ended: Ended | None = None
        self._held: list[DataFrame] = []
        self._is_csv = False
        self._are_csv: set[bool] = set()
        self._untyped: list[str] = []
        self._made: Made | None = None
        self._released: DataFrame | None = None
        self._output: DataFrame | None = None
        self._kept: DataFrame | None = None
        self._kept_digest = ""
        self.suppressed = self.rows = 0
        self.approximated: tuple[str, ...] = ()

    @property
    def session(self) -> SparkSession:
        """The session in whose catalog tables are published."""
        return self._engine.spark

    def read(self, step: Read) -> tuple[DataFrame, Stored]:
        """Read the columns of the input; errors as of `reading.read`."""
        self._progress("reading", 0, 0)
        session = self._engine.spark
        source = self._tables[step.asset] if step.location == MEMORY else step.location
        self._is_csv = step.format.startswith("csv")
        self._are_csv.add(self._is_csv)
        with running(session, "reading"):
            frame = reading.read(session, source, step.format, step.columns)
            return frame, Stored(step.location, self._digest(source, frame))

    def join(self, tables: Sequence[DataFrame], step: Join) -> tuple[DataFrame, tuple[int, ...]]:
        """Return the rows that have a partner in every frame, and how many rows each had.

        Errors as of `join_frames`, and DataError (C010) for files of CSV beside other inputs: their
        columns have no types yet.
        """
        if len(self._are_csv) > 1:
            message = "On Spark, inputs that are joined are all CSV files, or none of them is."
            raise DataError.of("C010", message, "Write them in one format, as Parquet.")
        self._progress("joining", 0, 0)
        with running(self._engine.spark, "joining"):
            return join_frames(tables, step)

    def texts(self, table: DataFrame, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return different texts of a table's first rows by column, none of one without texts."""
        are_texts = [name for name, kind in table.dtypes if kind == "string" and name in names]
        found: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
        if are_texts:
            with running(self._engine.spark, "reading"):
                rows = table.select([F.col(quoted(name)) for name in are_texts]).take(FIRST_ROWS)
            for place, name in enumerate(are_texts):
                found[name] = tuple({row[place] for row in rows} - {None})
        return found

    def _digest(self, source: str | DataFrame, frame: DataFrame) -> str:
        """Return the digest of the input: of its rows where it is a frame, or its files are too
        large to be hashed whole."""
        if isinstance(source, DataFrame):
            return writing.row_digest(source)[0]
        if not source.startswith(TABLE) and writing.has_large_files(self.session, source):
            return writing.row_digest(frame)[0]
        return self._engine.stored(source).digest

    def anonymize(self, table: DataFrame, step: Anonymize, output: Publish) -> DataFrame:
        """Return the frame of the release; its classes are formed when it is used.

        The first cuts are made here, and whether the table as a whole can hold the bounds is
        looked at. Raises DataError where it cannot, or where values do not bear what is asked
        of their column.
        """
        work = Work(
            rows_per_task=self._engine.rows_per_task,
            most_values=self._engine.most_values,
            hold=self._hold,
            progress=self._progress,
            taxonomies=self.taxonomies,
            key=self._key,
            salt=self.salt,
            is_csv=self._is_csv,
        )
        with running(self._engine.spark, "anonymizing"):
            made = anonymize(table, step, output, work)
            frame = made.frame
            if step.columns.privacy_unit or output.cells == "bounds":
                frame = self._hold(frame)
            self._made = replace(made, frame=frame)
            self.rows, self.approximated = made.rows, made.approximated
            released = frame.drop(PERSON)
            if output.cells == "bounds":
                released = with_ends(released, step.columns.quasi_names)
        columns = step.columns
        texts = {*columns.sensitive_names, *columns.insensitive} if self._is_csv else set()
        texts |= {end for name in columns.quasi_names for end in ends_of(name)} - set(table.columns)
        self._untyped = [name for name in released.columns if name in texts]
        return released

    def write(self, table: DataFrame, destination: Path | str | None) -> Stored:
        """Write the frame as a folder of files, or keep it on the cluster.

        Raises CertificateError (V004) where a release that was kept is written and its rows are
        not those that were measured: what executors held is made again of the source where they
        are lost, and the source may have changed.
        """
        rows = self._made.rows if self._made else 0
        self._progress("writing", 0, rows)
        self._released = table
        with running(self._engine.spark, "writing"):
            if destination is None:
                return self._keep(table)
            stored = self._written(table, str(destination), rows)
            if self._output is not None:
                self._check_same(*self._stored(stored))
                self._check_kept()
            return stored

    def _written(self, table: DataFrame, place: str, rows: int) -> Stored:
        if place.startswith(TABLE):
            writing.write_table(self._typed(table), place)
            return self._engine.stored(place)
        kind = with_ending(place, SPARK_FORMATS) or "parquet"
        writing.write(self._as_in(table, kind), place, kind)
        return Stored(place, writing.manifest_digest(self._engine.spark, place), rows)

    def _keep(self, table: DataFrame) -> Stored:
        made = self._made.frame if self._made else table
        is_held = any(frame is made for frame in self._held)
        self._kept = made if is_held else self._hold(table)
        self._output = self._typed(table)
        self._kept_digest, rows = writing.row_digest(self._output)
        return Stored(MEMORY, self._kept_digest, rows)

    def _check_kept(self) -> None:
        """Refuse a release in memory whose rows are others by now.

        To be asked after the rows were used: of those that were lost, the cluster then holds
        what was made anew.
        """
        if writing.row_digest(self.output())[0] != self._kept_digest:
            message = (
                "The rows of the release are not those that were measured: the cluster lost some, "
                "and what it makes them of has changed."
            )
            raise CertificateError.of("V004", message, "Apply the policy again, with an output.")

    def _as_in(self, table: DataFrame, kind: str) -> DataFrame:
        """Return a frame as a file of a kind has it."""
        return table if kind.startswith("csv") else self._typed(table)

    def _typed(self, table: DataFrame) -> DataFrame:
        """Return a frame with the columns that have no types yet as what their values are."""
        return as_written(table, self._untyped) if self._untyped else table

    def columns(self, stored: Stored) -> tuple[str, ...]:
        """Return the names of a stored table's columns."""
        if stored.location == MEMORY:
            return tuple(self.output().columns)
        return self._engine.described("", stored.location).columns

    def measure(self, stored: Stored, step: Anonymize) -> Measured:
        """Read a stored table again, form its classes and measure every bound on them.

        Raises CertificateError on cells of no known shape, and on columns that show what they are
        to hide (V002), on pseudonyms that link classes (R008) or are too few in one (V001);
        DataError where persons are to be counted in a table that this run did not make itself
        (V006).
        """
        self._progress("verifying", 0, stored.rows)
        with running(self._engine.spark, "verifying"):
            table, kind = self._stored(stored)
            with self._read_once(table, stored, step) as table:
                rows = stored.rows or table.count()
                tasks = max(self._made.tasks if self._made else 1, -(-rows // self._per_task))
                measured = self._with_persons(step) if step.columns.privacy_unit else table
                found = measure(measured, step, self.taxonomies, self._engine.most_values, tasks)
                check_hidden(table, step.columns)
                for name in step.columns.pseudonymize:
                    check_unlinked(name, table, step)
                # Of rows that were lost meanwhile, the cluster now holds those that were measured.
                if step.columns.privacy_unit:
                    self._check_same(table, kind)
                if stored.location == MEMORY:
                    self._check_kept()
        return found

    @contextmanager
    def _read_once(self, table: DataFrame, stored: Stored, step: Anonymize) -> Iterator[DataFrame]:
        """Hold a stored table while it is measured, where more than one pass goes over it."""
        asked = step.columns
        about = [one.name for one in asked.sensitive if step.about(one.name)]
        passes = [*about, *asked.hidden, asked.privacy_unit, not stored.rows]
        if stored.location == MEMORY or not any(passes):
            yield table
            return
        if not asked.privacy_unit:
            cells = [one for name in asked.quasi_names for one in columns_of(name, table.columns)]
            used = dict.fromkeys([*cells, *about, *asked.hidden])
            table = table.select([quoted(name) for name in used])
        table.persist()
        try:
            yield table
        finally:
            table.unpersist()

    @property
    def _per_task(self) -> int:
        return self._engine.rows_per_task

    def _stored(self, stored: Stored) -> tuple[DataFrame, str]:
        """Return a stored table and its format."""
        if stored.location == MEMORY:
            return self.output(), MEMORY
        found = self._engine.described("", stored.location)
        session = self._engine.spark
        return reading.read(session, stored.location, found.format, found.columns), found.format

    def _with_persons(self, step: Anonymize) -> DataFrame:
        """Return the rows of the release with their persons, which only this run knows."""
        if self._made is None:
            message = (
                f"k counts distinct {step.columns.privacy_unit!r}, a column that is not released: "
                "the output alone does not tell them."
            )
            raise DataError.of("V006", message, "Give the input as well: data={IRI: PATH}.")
        return self._made.frame

    def _check_same(self, table: DataFrame, kind: str) -> None:
        """Raise CertificateError (V003) where a stored table has other rows than the release."""
        made = self._as_in(self.written, kind)
        made = writing.csv_texts(made) if kind.startswith("csv") else made
        if writing.row_digest(_texts(table)) != writing.row_digest(_texts(made)):
            message = "The rows of the output are not those that are made of the input."
            raise CertificateError.of("V003", message)

    @property
    def written(self) -> DataFrame:
        """The frame of the release, as it can be written again."""
        return self._released if self._released is not None else self.output()

    def output(self, place: Path | str | None = None) -> DataFrame:
        """Return the release: as it lies in a place, else the frame that is held."""
        if place is not None:
            with running(self._engine.spark, "reading"):
                return self._typed(self._stored(Stored(str(place), ""))[0])
        if self._output is None:
            raise InternalError.of("X001", "Nothing was released.")
        return self._output

    def _hold(self, frame: DataFrame) -> DataFrame:
        self._held.append(frame.persist())
        return frame

    def close(self, *, keep: bool = False) -> None:
        """Let the cluster forget what it holds for this run; with `keep`, a release in memory
        stays."""
        for frame in self._held:
            if not (keep and frame is self._kept):
                frame.unpersist()
        self._held.clear()


def _texts(frame: DataFrame) -> DataFrame:
    """Return a frame with every cell as text, as a file without types would have it."""
    return frame.select([F.col(quoted(name)).cast("string").alias(name) for name in frame.columns])
