"""A run of a plan on Spark, with the rows and the figures of the local engine."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.data.catalog import MEMORY, TABLE
from policy_engine.data.table_files import SPARK_FORMATS, match_format
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.engine import (
    FIRST_ROWS,
    Anonymized,
    Measured,
    Progress,
    Stored,
    Written,
    silent,
)
from policy_engine.engines.identifiers import new_salt
from policy_engine.engines.preparation import kept_beside
from policy_engine.engines.reading_back import columns_of, ends_of
from policy_engine.engines.spark import reading, writing
from policy_engine.engines.spark.anonymizing import ClassWork, anonymize
from policy_engine.engines.spark.cell_ends import with_ends
from policy_engine.engines.spark.coding import PERSON
from policy_engine.engines.spark.engine import SparkEngine
from policy_engine.engines.spark.jobs import running
from policy_engine.engines.spark.joining import join_frames
from policy_engine.engines.spark.masking import count_broken, mask
from policy_engine.engines.spark.measuring import measure
from policy_engine.engines.spark.unlinked import check_hidden, check_unlinked
from policy_engine.engines.spark.values import as_written, quoted
from policy_engine.errors import CertificateError, DataError, InternalError
from policy_engine.methods import Measurement
from policy_engine.plan.inputs import Join, Read
from policy_engine.plan.steps import Anonymize, Mask, Publish

_NONE: Mapping[str, Any] = MappingProxyType({})


class InputRows(NamedTuple):
    """An input, or several joined; `is_csv` tells that its texts are cells of a file without
    types, and which columns are `masked`."""

    frame: DataFrame
    is_csv: bool
    masked: tuple[str, ...] = ()


class Making(NamedTuple):
    """What is known of a release that is made when it is used.

    `frame` has a column `PERSON` besides, where rows are about persons; `tasks` make it. The
    `untyped` columns of the release are texts whose types are not inferred yet, those that are
    `masked` were masked value by value.
    """

    frame: DataFrame
    tasks: int
    untyped: tuple[str, ...]
    masked: tuple[str, ...]


class KeptRelease(NamedTuple):
    """A release that is kept on the cluster: by its types, with the digest of its rows, and the
    `source` that is held."""

    frame: DataFrame
    digest: str
    source: DataFrame


class SparkRun:
    """A run of the engine with its inputs: an Engine whose tables are Spark's frames."""

    def __init__(
        self,
        engine: SparkEngine,
        tables: Mapping[str, DataFrame] = _NONE,
        progress: Progress = silent,
        taxonomies: Mapping[str, Taxonomy] = _NONE,
        key: bytes | None = None,
        salt: str = "",
    ) -> None:
        self._engine, self._tables = engine, tables
        self._progress, self.taxonomies, self._key = progress, taxonomies, key
        self._salt = salt or new_salt()
        self._held: list[DataFrame] = []

    @property
    def session(self) -> SparkSession:
        """The session in whose catalog tables are published."""
        return self._engine.spark

    def read(self, step: Read) -> tuple[InputRows, Stored]:
        """Read the columns of the input; errors as of `reading.read`."""
        self._progress("reading", 0, 0)
        session = self._engine.spark
        source = self._tables[step.asset] if step.location == MEMORY else step.location
        with running(session, "reading"):
            frame = reading.read(session, source, step.format, step.columns)
            stored = Stored(step.location, self._digest(source, frame))
        return InputRows(frame, is_csv=step.format.startswith("csv")), stored

    def join(self, tables: Sequence[InputRows], step: Join) -> tuple[InputRows, tuple[int, ...]]:
        """Return the rows that have a partner in every input, and how many rows each had.

        Errors as of `join_frames`, and DataError (C010) for files of CSV beside other inputs: their
        columns have no types yet.
        """
        if len({one.is_csv for one in tables}) > 1:
            message = "On Spark, inputs that are joined are all CSV files, or none of them is."
            raise DataError.of("C010", message, "Write them in one format, as Parquet.")
        self._progress("joining", 0, 0)
        with running(self._engine.spark, "joining"):
            frame, counts = join_frames([one.frame for one in tables], step)
        return InputRows(frame, is_csv=tables[0].is_csv), counts

    def texts(self, table: InputRows, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return different texts of a table's first rows by column, none of one without texts."""
        frame = table.frame
        are_texts = [name for name, kind in frame.dtypes if kind == "string" and name in names]
        found: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
        if are_texts:
            with running(self._engine.spark, "reading"):
                rows = frame.select([F.col(quoted(name)) for name in are_texts]).take(FIRST_ROWS)
            for index, name in enumerate(are_texts):
                found[name] = tuple({row[index] for row in rows} - {None})
        return found

    def _digest(self, source: str | DataFrame, frame: DataFrame) -> str:
        """Return the digest of the input: of its rows where it is a frame, or its files are too
        large to be hashed whole."""
        if isinstance(source, DataFrame):
            return writing.row_digest(source)[0]
        if not source.startswith(TABLE) and writing.has_large_files(self.session, source):
            return writing.row_digest(frame)[0]
        return self._engine.stored(source).digest

    def mask(self, table: InputRows, step: Mask) -> InputRows:
        """Return the rows with columns masked. Raises DataError (R013) as `masked` does."""
        self._progress("masking", 0, 0)
        with running(self._engine.spark, "masking"):
            frame = mask(table.frame, step.columns, is_csv=table.is_csv)
        return table._replace(frame=frame, masked=tuple(one.name for one in step.columns))

    def measure_masks(self, written: Written, step: Mask) -> tuple[Measurement, ...]:
        """Read a written table again and count the cells that do not keep their masking."""
        with running(self._engine.spark, "verifying"):
            return step.measurements(count_broken(self._stored(written)[0], step.columns))

    def anonymize(self, table: InputRows, step: Anonymize, output: Publish) -> Anonymized:
        """Return the frame of the release; its classes are formed when it is used.

        The first cuts are made here, and whether the table as a whole can hold the bounds is
        looked at. Raises DataError where it cannot, or where values do not support what is asked
        of their column.
        """
        work = ClassWork(
            rows_per_task=self._engine.rows_per_task,
            most_values=self._engine.most_values,
            hold=self._hold,
            progress=self._progress,
            taxonomies=self.taxonomies,
            key=self._key,
            salt=self._salt,
            is_csv=table.is_csv,
            released=output.columns,
        )
        with running(self._engine.spark, "anonymizing"):
            made = anonymize(table.frame, step, output, work)
            frame = made.frame
            if step.columns.privacy_unit or output.cells == "bounds":
                frame = self._hold(frame)
            released = frame.drop(PERSON)
            if output.cells == "bounds":
                released = with_ends(released, step.columns.quasi_names)
        columns = step.columns
        kept = (*columns.sensitive_names, *kept_beside(step, output.columns))
        texts = set(kept) if table.is_csv else set()
        ends = {end for name in columns.quasi_names for end in ends_of(name)}
        texts |= ends - set(table.frame.columns)
        untyped = tuple(name for name in released.columns if name in texts)
        return Anonymized(
            released,
            rows=made.rows,
            approximated=made.approximated,
            salt=self._salt if columns.has_own_pseudonyms else None,
            own=Making(frame, made.tasks, untyped, table.masked),
        )

    def write(self, made: Anonymized, destination: Path | str | None) -> Written:
        """Write a frame as a folder of files, or keep it on the cluster."""
        self._progress("writing", 0, made.rows)
        with running(self._engine.spark, "writing"):
            if destination is None:
                return self._keep(made)
            return Written(self._written(made, str(destination)), made)

    def write_again(self, written: Written, destination: Path | str) -> Written:
        """Write what was written, or is kept, to another place as well.

        Raises CertificateError (V004) where the rows of a release that was kept are not those that
        were measured: what executors held is made again of the source where they are lost, and
        the source may have changed.
        """
        made = _made(written)
        self._progress("writing", 0, made.rows)
        with running(self._engine.spark, "writing"):
            stored = self._written(made, str(destination))
            if written.held is not None:
                _check_same(made, *self._stored(Written(stored)))
                _check_kept(written)
        return replace(written, stored=stored)

    def _written(self, made: Anonymized, location: str) -> Stored:
        if location.startswith(TABLE):
            writing.write_table(_typed(made), location)
            return self._engine.stored(location)
        kind = match_format(location, SPARK_FORMATS) or "parquet"
        writing.write(_as_in(made, kind), location, kind, made.own.masked)
        return Stored(location, writing.manifest_digest(self._engine.spark, location), made.rows)

    def _keep(self, made: Anonymized) -> Written:
        frame = made.own.frame
        if not any(one is frame for one in self._held):
            frame = self._hold(made.table)
        output = _typed(made)
        digest, rows = writing.row_digest(output)
        return Written(Stored(MEMORY, digest, rows), made, KeptRelease(output, digest, frame))

    def columns(self, written: Written) -> tuple[str, ...]:
        """Return the names of a written table's columns."""
        if written.stored.location == MEMORY:
            return tuple(self.output(written).columns)
        return self._engine.described("", written.stored.location).columns

    def measure(self, written: Written, step: Anonymize) -> Measured:
        """Read a written table again, form its classes and measure every bound on them.

        Raises CertificateError on cells of no known shape, and on columns that show what they are
        to hide (V002), on pseudonyms that link classes (R008) or are too few in one (V001);
        DataError where persons are to be counted in a table that this run did not make itself
        (V006).
        """
        stored, made = written.stored, written.made
        self._progress("verifying", 0, stored.rows)
        with running(self._engine.spark, "verifying"):
            table, kind = self._stored(written)
            with self._read_once(table, stored, step) as table:
                rows = stored.rows or table.count()
                tasks = max(made.own.tasks if made else 1, -(-rows // self._per_task))
                measured = _with_persons(written, step) if step.columns.privacy_unit else table
                found = measure(measured, step, self.taxonomies, self._engine.most_values, tasks)
                check_hidden(table, step.columns)
                for name in step.columns.pseudonymize:
                    check_unlinked(name, table, step)
                # Of rows that were lost meanwhile, the cluster now holds those that were measured.
                if step.columns.privacy_unit:
                    _check_same(_made(written), table, kind)
                if stored.location == MEMORY:
                    _check_kept(written)
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

    def _stored(self, written: Written) -> tuple[DataFrame, str]:
        """Return a written table and its format."""
        location = written.stored.location
        if location == MEMORY:
            return self.output(written), MEMORY
        found = self._engine.described("", location)
        return reading.read(self._engine.spark, location, found.format, found.columns), found.format

    def output(self, written: Written) -> DataFrame:
        """Return a table that was written: as it lies in its place, else the frame that is held."""
        if written.stored.location == MEMORY:
            return _kept(written).frame
        with running(self._engine.spark, "reading"):
            return _typed(_made(written), self._stored(written)[0])

    def _hold(self, frame: DataFrame) -> DataFrame:
        self._held.append(frame.persist())
        return frame

    def close(self, keep: Written | None = None) -> None:
        """Let the cluster forget what it holds for this run, but a release that is to be kept."""
        kept = keep.held.source if keep and keep.held else None
        for frame in self._held:
            if frame is not kept:
                frame.unpersist()
        self._held.clear()


def _made(written: Written) -> Anonymized:
    if written.made is None:
        raise InternalError.of("X001", "The table was not made here.")
    return written.made


def _kept(written: Written) -> KeptRelease:
    if not isinstance(written.held, KeptRelease):
        raise InternalError.of("X001", "Nothing was released.")
    return written.held


def _typed(made: Anonymized, frame: DataFrame | None = None) -> DataFrame:
    """Return the frame of a release, or one of its columns, by the types of their values."""
    frame = made.table if frame is None else frame
    return as_written(frame, made.own.untyped) if made.own.untyped else frame


def _as_in(made: Anonymized, kind: str) -> DataFrame:
    """Return the frame of a release as a file of a kind has it."""
    frame: DataFrame = made.table if kind.startswith("csv") else _typed(made)
    return frame


def _with_persons(written: Written, step: Anonymize) -> DataFrame:
    """Return the rows of the release with their persons, which only its maker knows."""
    if written.made is None:
        message = (
            f"k counts distinct {step.columns.privacy_unit!r}, a column that is not released: "
            "the output alone does not tell them."
        )
        raise DataError.of("V006", message, "Give the input as well: data={IRI: PATH}.")
    frame: DataFrame = written.made.own.frame
    return frame


def _check_same(made: Anonymized, table: DataFrame, kind: str) -> None:
    """Raise CertificateError (V003) where a stored table has other rows than the release."""
    frame = _as_in(made, kind)
    frame = writing.csv_texts(frame, made.own.masked) if kind.startswith("csv") else frame
    if writing.row_digest(_texts(table)) != writing.row_digest(_texts(frame)):
        message = "The rows of the output are not those that are made of the input."
        raise CertificateError.of("V003", message)


def _check_kept(written: Written) -> None:
    """Refuse a release in memory whose rows are others by now.

    To be asked after the rows were used: of those that were lost, the cluster then holds
    what was made anew.
    """
    kept = _kept(written)
    if writing.row_digest(kept.frame)[0] != kept.digest:
        message = (
            "The rows of the release are not those that were measured: the cluster lost some, "
            "and what it makes them of has changed."
        )
        raise CertificateError.of("V004", message, "Apply the policy again, with an output.")


def _texts(frame: DataFrame) -> DataFrame:
    """Return a frame with every cell as text, as a file without types would have it."""
    return frame.select([F.col(quoted(name)).cast("string").alias(name) for name in frame.columns])
