"""A run of a plan on Spark, with the same rows and figures as on the local engine."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from policy_engine.data.catalog import MEMORY, TABLE
from policy_engine.data.group_keys import GroupKeys
from policy_engine.data.table_files import SPARK_FORMATS, match_format
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.data.transition_matrix import TransitionMatrix
from policy_engine.engines.empty_texts import check_no_empty_texts
from policy_engine.engines.engine import (
    FIRST_ROWS,
    AnonymizedTable,
    LeftRows,
    Progress,
    StoredData,
    TableMeasurements,
    WrittenTable,
    silent,
)
from policy_engine.engines.guiding import GuideFitting
from policy_engine.engines.identified import ReleasedPersons, Respelt
from policy_engine.engines.identifiers import new_salt
from policy_engine.engines.masking.columns import ColumnJudgement
from policy_engine.engines.masking.evidence import MaskingEvidence
from policy_engine.engines.masking.kept_types import other_types
from policy_engine.engines.missing_cells import count_missing
from policy_engine.engines.origins import WORD
from policy_engine.engines.preparation import shown_sensitive, unbounded_columns
from policy_engine.engines.randomising.persons import no_persons_error
from policy_engine.engines.reading_back import end_columns
from policy_engine.engines.samples import SampleEvidence
from policy_engine.engines.spark import kept_values, reading, writing
from policy_engine.engines.spark.anonymizing import anonymize
from policy_engine.engines.spark.cell_ends import with_end_columns
from policy_engine.engines.spark.coded_frames import ClassWork
from policy_engine.engines.spark.engine import SparkEngine
from policy_engine.engines.spark.guiding import GuidableRows, look_up_targets
from policy_engine.engines.spark.identified import (
    frame_with_earlier,
    identify_frame,
    persons_of_frame,
    persons_of_release,
    respelt_in_frame,
)
from policy_engine.engines.spark.jobs import running
from policy_engine.engines.spark.joining import join_frames
from policy_engine.engines.spark.masking import (
    StoredRows,
    judge_frame,
    look_at_masked,
    mask,
    stored_types,
)
from policy_engine.engines.spark.measuring import cached_columns, measure
from policy_engine.engines.spark.randomising import count_strange_cells, randomise_frame
from policy_engine.engines.spark.released_frames import (
    KeptRelease,
    ReleaseSource,
    check_kept,
    check_same_rows,
    hidden_columns,
    require_kept,
    source_frame,
    stored_frame,
    typed_frame,
)
from policy_engine.engines.spark.sampling import rows_by_weight, sample_frame
from policy_engine.engines.spark.statistics import tally_frame
from policy_engine.engines.spark.targets import TargetLookup
from policy_engine.engines.spark.trimming import trim_frame
from policy_engine.engines.spark.unique_counts import unique_rows
from policy_engine.engines.spark.unlinked import check_hidden, check_unlinked
from policy_engine.engines.spark.values import arrow_schema, distinct_values
from policy_engine.engines.statistics.row_cells import check_types
from policy_engine.engines.statistics.tallies import Key, Tallies
from policy_engine.engines.strata import SampledOutput
from policy_engine.errors import DataError, InternalError
from policy_engine.plan.inputs import Join, Read
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import (
    AggregateStep,
    Anonymize,
    Mask,
    Publish,
    Randomise,
    Sample,
)

_NONE: Mapping[str, Any] = MappingProxyType({})


class InputFrame(NamedTuple):
    """An input, or several joined. `is_csv` means that its texts are cells of a file without types;
    `masked` are the columns that have been masked, `labelled` those of them that are texts of any
    form. Classes may be cut by `targets`."""

    frame: DataFrame
    is_csv: bool
    masked: tuple[str, ...] = ()
    labelled: tuple[str, ...] = ()
    targets: TargetLookup | None = None


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
        matrices: Mapping[str, TransitionMatrix] = _NONE,
        group_keys: Mapping[str, GroupKeys] = _NONE,
    ) -> None:
        self._engine, self._tables = engine, tables
        self._progress, self.taxonomies, self._key = progress, taxonomies, key
        self._salt, self._matrices = salt or new_salt(), matrices
        self.group_keys = group_keys
        self._held: list[DataFrame] = []

    @property
    def session(self) -> SparkSession:
        """The session in whose catalog tables are published."""
        return self._engine.spark

    def read(
        self,
        step: Read,
        *,
        may_be_empty: bool = False,  # noqa: ARG002 (frames are counted later)
    ) -> tuple[InputFrame, StoredData]:
        """Return the columns of the input, and where it is stored; errors as in `reading.read`."""
        self._progress("reading", 0, 0)
        session = self._engine.spark
        source = self._tables[step.asset] if step.location == MEMORY else step.location
        with running(session, "reading"):
            frame = reading.read(session, source, step.format, step.columns)
            stored = StoredData(step.location, self._engine.input_digest(source, frame))
        return InputFrame(frame, is_csv=step.format.startswith("csv")), stored

    def stored(self, step: Read) -> StoredData:
        """Return where an input is stored, and its digest."""
        session = self._engine.spark
        source = self._tables[step.asset] if step.location == MEMORY else step.location
        with running(session, "reading"):
            frame = reading.read(session, source, step.format, step.columns)
            return StoredData(step.location, self._engine.input_digest(source, frame))

    def check_countable(self, table: InputFrame, step: AggregateStep) -> None:
        """Raise DataError (C009) for columns whose values have no text."""
        with running(self._engine.spark, "reading"):
            check_types(arrow_schema(table.frame), step.columns_used)

    def tally(
        self, table: InputFrame, step: AggregateStep, public: Sequence[Key] | None, secret: bytes
    ) -> Tallies:
        """Return the exact statistics of a frame. Raises as `tally_table` does."""
        self._progress("counting", 0, 0)
        with running(self._engine.spark, "counting"):
            return tally_frame(table.frame, step, public, secret)

    def randomise(self, table: InputFrame, step: Randomise) -> AnonymizedTable:
        """Return an answer for each record, in random order. Raises as `randomise_frame` does."""
        self._progress("randomising", 0, 0)
        with running(self._engine.spark, "randomising"):
            frame = self._hold(randomise_frame(table.frame, step, self._key))
            rows = frame.count()
        if step.unit and not rows:
            raise no_persons_error()
        tasks = -(-rows // self._engine.rows_per_task)
        return AnonymizedTable(
            frame, rows=rows, engine_state=ReleaseSource(frame, max(tasks, 1), (), ())
        )

    def strange_cells(self, written: WrittenTable, step: Randomise) -> tuple[int, ...]:
        """Read a written table back, and return how many cells of each column are none that could
        have been drawn."""
        self._progress("verifying", 0, written.stored.rows)
        with running(self._engine.spark, "verifying"):
            return count_strange_cells(self._read_stored(written)[0], step)

    def synthesise(self, *_: Any) -> AnonymizedTable:
        """Raise InternalError (X001): no plan makes rows up on a cluster (M009)."""
        raise InternalError.of("X001", "Rows are made up on the local engine.")

    def train_generator(self, *_: Any) -> AnonymizedTable:
        """Raise InternalError (X001), as `synthesise` does."""
        raise InternalError.of("X001", "Generators are trained on the local engine.")

    def foreign_cells(self, *_: Any) -> tuple[int, tuple[int, ...]]:
        """Raise InternalError (X001), as `synthesise` does."""
        raise InternalError.of("X001", "Rows are made up on the local engine.")

    def statistics_table(self, table: pa.Table) -> AnonymizedTable:
        """Return a table of statistics as a frame of the session."""
        with running(self._engine.spark, "writing"):
            frame = self._engine.spark.createDataFrame(table).coalesce(1)
        return AnonymizedTable(
            frame, rows=table.num_rows, engine_state=ReleaseSource(frame, 1, (), ())
        )

    def join(self, tables: Sequence[InputFrame], step: Join) -> tuple[InputFrame, tuple[int, ...]]:
        """Return the rows that have a partner in every input, and the number of rows of each.

        Raises the errors of `join_frames`, and DataError (C010) for CSV files beside other inputs,
        since their columns have no types yet.
        """
        if len({rows.is_csv for rows in tables}) > 1:
            message = (
                "On Spark, either all or none of the inputs that are joined must be CSV files."
            )
            raise DataError.of("C010", message, "Write them in one format, such as Parquet.")
        self._progress("joining", 0, 0)
        with running(self._engine.spark, "joining"):
            frame, counts = join_frames([rows.frame for rows in tables], step)
        return InputFrame(frame, is_csv=tables[0].is_csv), counts

    def texts(self, table: InputFrame, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the distinct texts in a table's first rows, by column; none for other types."""
        with running(self._engine.spark, "reading"):
            return reading.first_texts(table.frame, names, FIRST_ROWS)

    def sample(self, table: InputFrame, step: Sample) -> tuple[InputFrame, SampleEvidence]:
        """Return a sample of the rows, and what is known of it. Raises as `sample_table` does."""
        self._progress("sampling", 0, 0)
        with running(self._engine.spark, "sampling"):
            frame, evidence = sample_frame(
                table.frame, step, is_csv=table.is_csv, key=self._key, hold=self._hold
            )
        return table._replace(frame=frame), evidence

    def weights(self, written: WrittenTable, step: Sample) -> Mapping[float | None, int]:
        """Read a written table back, and return its rows by weight, None for what is none."""
        with running(self._engine.spark, "verifying"):
            return rows_by_weight(self._read_stored(written)[0], step.weight_column)

    def compare_sampled(
        self, written: WrittenTable, plan: Plan, table: InputFrame | None = None
    ) -> SampledOutput:
        """Read a written table back as a sample, of an input `table` if one is given."""
        with running(self._engine.spark, "verifying"):
            rows = StoredRows(table.frame, table.is_csv) if table else None
            return kept_values.compare_sampled(self._stored_rows(written), plan, rows)

    def row_number(self, table: InputFrame) -> int:
        """Return how many rows a table that was read has."""
        with running(self._engine.spark, "verifying"):
            return table.frame.count()

    def strange_rows(
        self, written: WrittenTable, table: InputFrame, names: Sequence[str], present: str = ""
    ) -> int:
        """Return how many rows of a written table have values that no row of its input has, or
        have them more often."""
        with running(self._engine.spark, "verifying"):
            rows = StoredRows(table.frame, table.is_csv)
            output = self._stored_rows(written)
            return kept_values.strange_rows(rows, output, names, self._engine.most_values, present)

    def missing_cells(self, table: InputFrame, step: Anonymize) -> dict[str, int]:
        """Return how many cells of each column with a cap an input lacks."""
        with running(self._engine.spark, "verifying"):
            names = [one.name for one in step.columns.capped]
            values = distinct_values(table.frame, names, self._engine.most_values).values
            codes = {
                one.name: values[one.name].encode_quasi(one, numbers=table.is_csv)
                for one in step.columns.capped
            }
        return count_missing(step.columns, codes)

    def other_types(
        self,
        written: WrittenTable,
        table: InputFrame,
        names: Sequence[str],
        labelled: Sequence[str] = (),
    ) -> Mapping[str, str]:
        """Return the types of those of some columns of a written table that do not keep those of
        its input."""
        with running(self._engine.spark, "verifying"):
            frame, kind = self._read_stored(written)
            # JSON has texts of what has no type there.
            output = StoredRows(frame, kind.startswith("csv") or kind == "json")
            before = stored_types(StoredRows(table.frame, table.is_csv))
            types = other_types(before, stored_types(output), names, labelled)
            return {name: str(kind) for name, kind in types}

    def _stored_rows(self, written: WrittenTable) -> StoredRows:
        frame, kind = self._read_stored(written)
        return StoredRows(frame, kind.startswith("csv"))

    def mask(self, table: InputFrame, step: Mask) -> tuple[InputFrame, MaskingEvidence]:
        """Return the rows with columns masked, and what was seen of them.

        Raises the errors of `mask_table`.
        """
        self._progress("masking", 0, 0)
        step = step.with_matrices(self._matrices)
        with running(self._engine.spark, "masking"):
            frame, evidence, labelled = mask(
                table.frame,
                step,
                self.taxonomies,
                is_csv=table.is_csv,
                key=self._key,
                hold=self._hold,
                rows_per_task=self._engine.rows_per_task,
            )
        return table._replace(frame=frame, masked=step.names, labelled=labelled), evidence

    def look_at_masked(
        self, table: InputFrame, step: Mask, output: WrittenTable, unmasked: Sequence[str]
    ) -> MaskingEvidence:
        """Return what an input and an output tell of the columns of a step.

        Raises DataError as `mask` does.
        """
        with running(self._engine.spark, "masking"):
            step = step.with_matrices(self._matrices)
            frame, kind = self._read_stored(output)
            return look_at_masked(
                StoredRows(table.frame, table.is_csv),
                step,
                self.taxonomies,
                StoredRows(frame, kind.startswith("csv")),
                unmasked,
                self._hold,
            )

    def measure_maskings(self, written: WrittenTable, step: Mask) -> tuple[ColumnJudgement, ...]:
        """Read a written table back and count the cells that are not masked as they should be.

        Raises DataError (V006) where the output alone does not show it.
        """
        with running(self._engine.spark, "verifying"):
            frame, kind = self._read_stored(written)
            step = step.with_matrices(self._matrices)
            if step.groups and written.anonymized:
                # Cells that are beside others than they were masked with keep every bound.
                check_same_rows(written.anonymized, frame, kind)
            return judge_frame(
                frame,
                step,
                written.evidence,
                self.taxonomies,
                is_csv=kind.startswith("csv"),
            )

    def released_rows(self, table: InputFrame, step: Anonymize, output: Publish) -> LeftRows:
        """Return the rows of a table that are not suppressed when classes are formed. Raises the
        errors of `anonymize`."""
        if not step.suppresses_outlying_rows:
            return LeftRows(table)
        with running(self._engine.spark, "anonymizing"):
            made = trim_frame(table.frame, step, output, self._work(table, output))
        return LeftRows(table._replace(frame=made.frame), made.suppressed, made.gain)

    def _work(self, table: InputFrame, output: Publish) -> ClassWork:
        return ClassWork(
            rows_per_task=self._engine.rows_per_task,
            most_values=self._engine.most_values,
            hold=self._hold,
            progress=self._progress,
            taxonomies=self.taxonomies,
            key=self._key,
            salt=self._salt,
            is_csv=table.is_csv,
            released=(*output.columns, *([WORD] if WORD in table.frame.columns else [])),
            targets=table.targets,
        )

    def guide(self, table: InputFrame, fitting: GuideFitting) -> InputFrame:
        """Return a table with the targets of its rows, which the driver works out.

        Raises DataError where the driver would hold too many rows (R018) or predictions (R011), and
        as `fit` does.
        """
        self._progress("training the guide", 0, 0)
        rows = GuidableRows(table.frame, table.is_csv, table.labelled)
        with running(self._engine.spark, "training the guide"):
            targets = look_up_targets(
                rows, fitting, self._engine.most_linked, self._engine.most_values
            )
        return table._replace(targets=targets)

    def identify(
        self, table: InputFrame, unit: str, key: bytes, names: Sequence[str]
    ) -> tuple[InputFrame, str]:
        """Return some columns of a table, with the persons of its rows in a hidden one, and the
        type of the unit."""
        with running(self._engine.spark, "reading"):
            frame, kind = identify_frame(table.frame, unit, key, names, is_csv=table.is_csv)
        return table._replace(frame=frame), kind

    def respelt(self, table: InputFrame, unit: str, key: bytes) -> Respelt:
        """Return who may be written another way in other tables, and what tells that. Raises
        DataError (R011) where the driver cannot hold so many."""
        most = self._engine.most_linked
        with running(self._engine.spark, "reading"):
            return respelt_in_frame(table.frame, unit, key, most, is_csv=table.is_csv)

    def everybody(self, table: InputFrame) -> NDArray[np.uint64]:
        """Return the persons of the rows of a table, (rows,). Raises DataError (R011) where the
        driver cannot hold so many."""
        with running(self._engine.spark, "reading"):
            return persons_of_frame(table.frame, self._engine.most_linked)

    def with_earlier(
        self,
        table: InputFrame,
        persons: NDArray[np.uint64],
        cells: NDArray[np.int64],
        valued: Sequence[tuple[int, str]],
    ) -> InputFrame:
        """Return a table with the intersections of earlier classes in hidden columns."""
        with running(self._engine.spark, "reading"):
            frame = frame_with_earlier(table.frame, persons, cells, valued)
        return table._replace(frame=frame)

    def released_persons(self, written: WrittenTable, step: Anonymize) -> ReleasedPersons | None:
        """Return who is in which class of a table that was written; None where that is not known.

        Raises CertificateError (V003) where the rows that are stored are not those that were made.
        """
        made = written.made_here()
        with running(self._engine.spark, "verifying"):
            persons = persons_of_release(made.engine_state.frame, step)
            check_same_rows(made, *self._read_stored(written))
        return persons

    def anonymize(self, table: InputFrame, step: Anonymize, output: Publish) -> AnonymizedTable:
        """Return the frame of the release, whose classes are formed when it is used.

        The first cuts are made here. Raises DataError where the table as a whole cannot satisfy the
        bounds, or the values of a column do not support its role.
        """
        work = self._work(table, output)
        with running(self._engine.spark, "anonymizing"):
            release = anonymize(table.frame, step, output, work)
            frame = release.frame
            hidden = (*hidden_columns(step), *([WORD] if WORD in frame.columns else []))
            if hidden or output.cells == "bounds":
                frame = self._hold(frame)
            released = frame.drop(*hidden)
            if output.cells == "bounds":
                released = with_end_columns(released, step.columns.quasi_names)
        columns = step.columns
        unchanged = (*shown_sensitive(step), *unbounded_columns(step, output.columns))
        texts = {*unchanged, *release.typed} - set(table.labelled) if table.is_csv else set()
        texts |= set(release.numeric)
        ends = {end for name in columns.quasi_names for end in end_columns(name)}
        texts |= ends - set(table.frame.columns)
        untyped = tuple(name for name in released.columns if name in texts)
        return AnonymizedTable(
            released,
            rows=release.rows,
            suppressed=release.suppressed,
            gain=release.gain,
            suppressed_cells=release.suppressed_cells,
            missing_cells=release.missing_cells,
            approximated=release.approximated,
            salt=self._salt if columns.has_own_pseudonyms else None,
            formed=release.formed,
            doubts=release.doubts,
            compared=output.columns if step.is_permuted else (),
            engine_state=ReleaseSource(frame, release.tasks, untyped, table.masked),
        )

    def write(self, anonymized: AnonymizedTable, destination: Path | str | None) -> WrittenTable:
        """Write a frame as a folder of files, or keep it on the cluster."""
        self._progress("writing", 0, anonymized.rows)
        with running(self._engine.spark, "writing"):
            if destination is None:
                return self._keep_in_memory(anonymized)
            return WrittenTable(self._write_to(anonymized, str(destination)), anonymized)

    def write_again(self, written: WrittenTable, destination: Path | str) -> WrittenTable:
        """Write a table that was written, or is kept on the cluster, to another place as well.

        Raises CertificateError (V004) where the rows of a kept release are not those that were
        measured: rows that executors lose are computed again from the source, which may have
        changed.
        """
        anonymized = written.made_here()
        self._progress("writing", 0, anonymized.rows)
        with running(self._engine.spark, "writing"):
            stored = self._write_to(anonymized, str(destination))
            if written.table is not None:
                check_same_rows(anonymized, *self._read_stored(WrittenTable(stored)))
                check_kept(written)
        return replace(written, stored=stored)

    def _write_to(self, anonymized: AnonymizedTable, location: str) -> StoredData:
        if location.startswith(TABLE):
            writing.write_table(typed_frame(anonymized), location)
            return self._engine.stored_data(location)
        kind = match_format(location, SPARK_FORMATS) or "parquet"
        if kind.startswith("csv"):
            compared = (*anonymized.engine_state.masked, *anonymized.compared)
            check_no_empty_texts(writing.with_empty_texts(anonymized.table, compared))
        writing.write(
            stored_frame(anonymized, kind), location, kind, anonymized.engine_state.masked
        )
        return StoredData(
            location, writing.manifest_digest(self._engine.spark, location), anonymized.rows
        )

    def _keep_in_memory(self, anonymized: AnonymizedTable) -> WrittenTable:
        frame = anonymized.engine_state.frame
        if not any(held_frame is frame for held_frame in self._held):
            frame = self._hold(anonymized.table)
        output = typed_frame(anonymized)
        digest, rows = writing.row_digest(output)
        return WrittenTable(
            StoredData(MEMORY, digest, rows), anonymized, KeptRelease(output, digest, frame)
        )

    def columns(self, written: WrittenTable) -> tuple[str, ...]:
        """Return the names of a written table's columns."""
        if written.stored.location == MEMORY:
            return tuple(self.output(written).columns)
        return self._engine.describe_dataset("", written.stored.location).columns

    def unique_rows(
        self, table: InputFrame | WrittenTable, sets: Sequence[tuple[str, ...]]
    ) -> tuple[int, ...]:
        """Return how many rows of a table, or of a written one, are unique on each set of
        columns."""
        with running(self._engine.spark, "verifying"):
            if isinstance(table, WrittenTable):
                return unique_rows(self._read_stored(table)[0], sets)
            return unique_rows(table.frame, sets)

    def measure(self, written: WrittenTable, step: Anonymize) -> TableMeasurements:
        """Read a written table back, form its classes and measure every bound on them.

        Raises CertificateError for cells that are not a range, set or value and columns that are
        not hidden as they should be (V002), for pseudonyms that link classes (R008) or are too few
        in a class (V001), DataError (V006) where persons have to be counted in a table that this
        run did not make itself.
        """
        stored, anonymized = written.stored, written.anonymized
        self._progress("verifying", 0, stored.rows)
        with running(self._engine.spark, "verifying"):
            table, kind = self._read_stored(written)
            hidden = hidden_columns(step)
            compares_rows = bool(hidden or (anonymized and anonymized.sample))
            with cached_columns(table, stored, step, all_columns=compares_rows) as table:
                rows = stored.rows or table.count()
                tasks = max(
                    anonymized.engine_state.tasks if anonymized else 1,
                    -(-rows // self._engine.rows_per_task),
                )
                rows_to_measure = source_frame(written, step) if hidden else table
                untyped = table.columns if kind.startswith("csv") else ()
                if hidden:
                    untyped = untyped or written.made_here().engine_state.untyped
                measured = measure(
                    *(rows_to_measure, step, self.taxonomies, self._engine.most_values, tasks),
                    untyped=untyped,
                )
                check_hidden(table, step.columns)
                for name in step.columns.pseudonymize:
                    check_unlinked(name, table, step)
                # Checked last: rows that were lost meanwhile have been computed again by now.
                if compares_rows:
                    check_same_rows(written.made_here(), table, kind)
                if stored.location == MEMORY:
                    check_kept(written)
        return measured

    def _read_stored(self, written: WrittenTable) -> tuple[DataFrame, str]:
        """Return a written table and its format."""
        location = written.stored.location
        if location == MEMORY:
            return self.output(written), MEMORY
        dataset = self._engine.describe_dataset("", location)
        return reading.read(
            self._engine.spark, location, dataset.format, dataset.columns
        ), dataset.format

    def output(self, written: WrittenTable) -> DataFrame:
        """Return a table that was written: read from its location, or the frame that is kept."""
        if written.stored.location == MEMORY:
            return require_kept(written).frame
        with running(self._engine.spark, "reading"):
            return typed_frame(written.made_here(), self._read_stored(written)[0])

    def _hold(self, frame: DataFrame) -> DataFrame:
        self._held.append(frame.persist())
        return frame

    def close(self, keep: WrittenTable | None = None) -> None:
        """Free what the cluster caches for this run, except a release that is to be kept."""
        kept_frame = keep.table.source if keep and keep.table else None
        for frame in self._held:
            if frame is not kept_frame:
                frame.unpersist()
        self._held.clear()
