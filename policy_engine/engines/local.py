"""The local engine: in this process, on Arrow tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.bucket_tables import is_in_buckets
from policy_engine.data.catalog import MEMORY, make_catalog
from policy_engine.data.group_keys import GroupKeys
from policy_engine.data.places.spelling import is_database
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.data.transition_matrix import TransitionMatrix
from policy_engine.engines import tables
from policy_engine.engines.anonymizing import Grouping, form_classes, sort_within_classes
from policy_engine.engines.arrays import from_numpy, is_text, value_type
from policy_engine.engines.database_tables import rows_digest, write_database_table
from policy_engine.engines.empty_texts import check_no_empty_texts, is_csv, with_empty_texts
from policy_engine.engines.engine import (
    FIRST_ROWS,
    AnonymizedTable,
    EarlyStop,
    LeftRows,
    Progress,
    StoredData,
    TableMeasurements,
    WrittenTable,
    deadline,
    silent,
)
from policy_engine.engines.guiding import GuideFitting, with_targets
from policy_engine.engines.identified import (
    ReleasedPersons,
    Respelt,
    released_persons,
    respelt_words,
    with_earlier,
    with_words,
    words_in,
    words_of_persons,
    words_of_rows,
)
from policy_engine.engines.identifiers import (
    check_hidden,
    check_unlinked,
    new_salt,
    with_pseudonyms,
)
from policy_engine.engines.joining import join_tables
from policy_engine.engines.label_measuring import measure_label
from policy_engine.engines.memory_needs import held_in_memory
from policy_engine.engines.missing_cells import count_missing, missing_in_table
from policy_engine.engines.origins import WORD, origins_of
from policy_engine.engines.persons import uncounted_persons
from policy_engine.engines.preparation import (
    PreparedTable,
    check_feasible,
    overview,
    prepare,
    texts_of_persons,
    type_of_persons,
)
from policy_engine.engines.reading_back import groups
from policy_engine.engines.released_tables import output_table
from policy_engine.engines.samples import SampleEvidence
from policy_engine.engines.stored_buckets import measure_stored, sensitive_rows, write_buckets
from policy_engine.engines.written_tables import OutputReader
from policy_engine.errors import DataError
from policy_engine.kernels.grouping import Groups
from policy_engine.kernels.mondrian import Partition, never
from policy_engine.plan.inputs import Join, Read
from policy_engine.plan.steps import (
    AggregateStep,
    Anonymize,
    Mask,
    Publish,
    Randomise,
    Sample,
    Synthesise,
    TrainGenerator,
)

if TYPE_CHECKING:  # compiled kernels, for plans that mask columns
    from policy_engine.engines.masking.columns import ColumnJudgement
    from policy_engine.engines.masking.evidence import MaskingEvidence
    from policy_engine.engines.statistics.tallies import Key, Tallies
    from policy_engine.engines.strata import SampledOutput
    from policy_engine.kernels.class_permutations import Unmoved
    from policy_engine.plan.plan import Plan


class LocalEngine:
    """Runs plans in this process.

    `tables` holds the inputs in memory, by IRI, `taxonomies` and `matrices` of transitions those
    that plans name, and `key` the owner's key for pseudonyms. The pseudonyms depend on a `salt`,
    which is random unless it is given. Each search for classes is stopped after `time_limit`
    seconds and takes the best result by then.

    Between calls it keeps the table that it encoded last, since exploring forms classes of one
    table under many settings, and the output that it read back last, of which several things are
    measured. No result depends on that: the same columns of the same table, in the same roles, are
    always encoded alike, and a file that was written since is read again.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table] | None = None,
        progress: Progress = silent,
        taxonomies: Mapping[str, Taxonomy] | None = None,
        key: bytes | None = None,
        time_limit: float | None = None,
        salt: str = "",
        matrices: Mapping[str, TransitionMatrix] | None = None,
        group_keys: Mapping[str, GroupKeys] | None = None,
    ) -> None:
        self._inputs = dict(tables or {})
        self._progress = progress
        self.taxonomies = taxonomies or {}
        self._matrices = matrices or {}
        self.group_keys = group_keys or {}
        self._key, self._salt = key, salt or new_salt()
        self._time_limit = time_limit
        self._prepared: tuple[pa.Table, str, pa.Table, PreparedTable] | None = None
        self._outputs = OutputReader()

    @property
    def session(self) -> None:
        """None: the local engine has no catalog."""

    def read(self, step: Read, *, may_be_empty: bool = False) -> tuple[pa.Table, StoredData]:
        """Return the columns of the input, and where it is stored.

        Raises DataError where it is damaged, too large for this machine (R011), or empty and may
        not be.
        """
        self._progress("reading", 0, 0)
        if step.location == MEMORY:
            chosen = self._inputs[step.asset].select(list(step.columns))
            table = tables.with_inferred_marks(tables.plain_texts(chosen), chosen)
        else:
            with held_in_memory(Path(step.location), step.columns):
                table = tables.read_table(Path(step.location), step.columns)
        stored = self.stored(step)
        if table.num_rows == 0 and not may_be_empty:
            raise DataError.of("R001", "The table has no rows.", source=step.location)
        self._progress("reading", table.num_rows, table.num_rows)
        return table, replace(stored, rows=table.num_rows)

    def stored(self, step: Read) -> StoredData:
        """Return where an input is stored, and its digest. Raises DataError (C003) for a file that
        cannot be read."""
        if step.location == MEMORY:
            return StoredData(MEMORY, tables.table_digest(self._inputs[step.asset]))
        return replace(StoredData.from_file(Path(step.location)), location=step.location)

    def check_countable(self, table: pa.Table, step: AggregateStep) -> None:
        """Raise DataError (C009) for columns whose values have no text."""
        from policy_engine.engines.statistics.row_cells import check_types  # noqa: PLC0415 (as used)

        check_types(table.schema, step.columns_used)

    def tally(
        self, table: pa.Table, step: AggregateStep, public: "Sequence[Key] | None", secret: bytes
    ) -> "Tallies":
        """Return the exact statistics of a table. Raises as `tally_table` does."""
        from policy_engine.engines.statistics.tallies import tally_table  # noqa: PLC0415 (compiled)

        self._progress("counting", 0, 0)
        return tally_table(table, step, public, secret)

    def randomise(self, table: pa.Table, step: Randomise) -> AnonymizedTable:
        """Return an answer for each record, in random order. Raises as `randomise_table` does."""
        from policy_engine.engines.randomising.tables import randomise_table  # noqa: PLC0415

        self._progress("randomising", 0, table.num_rows)
        made = randomise_table(table, step, self._key)
        self._progress("randomising", table.num_rows, table.num_rows)
        return AnonymizedTable(made, rows=made.num_rows)

    def strange_cells(self, written: WrittenTable, step: Randomise) -> tuple[int, ...]:
        """Read a written table back, and return how many cells of each column are none that could
        have been drawn."""
        from policy_engine.engines.randomising.tables import count_strange  # noqa: PLC0415

        self._progress("verifying", 0, written.stored.rows)
        return count_strange(self._outputs.read(written), step)

    def synthesise(
        self, table: pa.Table, step: Synthesise, output: Publish, seed: int, held_out: float = 0
    ) -> AnonymizedTable:
        """Return rows that a generator made up. Raises as `synthetic_table` does."""
        from policy_engine.engines.synthesising.tables import made_up  # noqa: PLC0415 (as used)

        self._progress("synthesising", 0, step.rows)
        made = made_up(table, step, output.columns, seed, held_out)
        self._progress("synthesising", step.rows, step.rows)
        return made

    def train_generator(
        self,
        table: pa.Table,
        step: TrainGenerator,
        output: Publish,
        seed: int,
        held_out: float,
        folder: Path,
    ) -> AnonymizedTable:
        """Return rows drawn from a generator that was written. Raises as `trained` does."""
        from policy_engine.engines.synthesising.tables import trained  # noqa: PLC0415 (as used)

        self._progress("training", 0, table.num_rows)
        made = trained(table, step, output.columns, seed, held_out, folder)
        self._progress("training", table.num_rows, table.num_rows)
        return made

    def foreign_cells(
        self, written: WrittenTable, step: Synthesise | TrainGenerator
    ) -> tuple[int, tuple[int, ...]]:
        """Read a table back, and return how many rows it has, and how many cells of each column
        lie outside of what the input has."""
        from policy_engine.engines.synthesising.checking import (  # noqa: PLC0415 (as used)
            foreign_cells,
            foreign_values,
        )

        self._progress("verifying", 0, written.stored.rows)
        output = self._outputs.read(written)
        state = written.made_here().engine_state
        cells = foreign_cells(output, state.learnt, step.columns)
        if state.generator is not None:
            # Of what a generator holds, a sample has hardly all: values are rare.
            own = foreign_values(state.generator.values, state.learnt)
            cells = tuple(one + own[name] for one, name in zip(cells, step.columns, strict=True))
        return output.num_rows, cells

    def statistics_table(self, table: pa.Table) -> AnonymizedTable:
        """Return a table of statistics as it is."""
        return AnonymizedTable(table, rows=table.num_rows)

    def join(self, tables: Sequence[pa.Table], step: Join) -> tuple[pa.Table, tuple[int, ...]]:
        """Return the rows that have a partner in every table, and the number of rows of each.

        Raises the errors of `join_tables`.
        """
        self._progress("joining", 0, sum(table.num_rows for table in tables))
        return join_tables(tables, step), tuple(table.num_rows for table in tables)

    def texts(self, table: pa.Table, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the distinct texts in a table's first rows, by column; none for other types."""
        first = table.slice(0, FIRST_ROWS)
        return {name: _distinct_texts(first.column(name)) for name in names}

    def sample(self, table: pa.Table, step: Sample) -> tuple[pa.Table, SampleEvidence]:
        """Return a sample of a table, and what is known of it. Raises as `sample_table` does."""
        from policy_engine.engines.masking.sampling import sample_table  # noqa: PLC0415

        self._progress("sampling", 0, table.num_rows)
        return sample_table(table, step, self._key)

    def weights(self, written: WrittenTable, step: Sample) -> Mapping[float | None, int]:
        """Read a written table back, and return its rows by weight, None for what is none."""
        column = self._outputs.read(written).column(step.weight_column).combine_chunks()
        try:
            return Counter(column.cast(pa.float64()).to_pylist())
        except pa.ArrowInvalid:
            return {None: len(column)}

    def compare_sampled(
        self, written: WrittenTable, plan: "Plan", table: pa.Table | None = None
    ) -> "SampledOutput":
        """Read a written table back as a sample, of an input `table` if one is given."""
        from policy_engine.engines.masking import kept_values  # noqa: PLC0415 (compiled)

        return kept_values.compare_sampled(self._outputs.read(written), plan, table)

    def row_number(self, table: pa.Table) -> int:
        """Return how many rows a table has."""
        return int(table.num_rows)

    def strange_rows(
        self, written: WrittenTable, table: pa.Table, names: Sequence[str], present: str = ""
    ) -> int:
        """Return how many rows of a written table have values that no row of its input has, or
        have them more often."""
        from policy_engine.engines.masking import kept_values  # noqa: PLC0415 (compiled)

        output = self._outputs.read(written)
        if not {*names} <= {*output.column_names}:
            output = sensitive_rows(written)
        return kept_values.strange_rows(table, output, names, present)

    def missing_cells(self, table: pa.Table, step: Anonymize) -> dict[str, int]:
        """Return how many cells of each column with a cap an input lacks."""
        return missing_in_table(table, step.columns)

    def other_types(
        self,
        written: WrittenTable,
        table: pa.Table,
        names: Sequence[str],
        labelled: Sequence[str] = (),
    ) -> Mapping[str, str]:
        """Return the types of those of some columns of a written table that do not keep those of
        its input."""
        from policy_engine.engines.masking import kept_types, kept_values  # noqa: PLC0415

        before, after = (
            kept_values.stored_types(one.schema) for one in (table, self._outputs.read(written))
        )
        if written.stored.location != MEMORY and is_in_buckets(Path(written.stored.location)):
            after |= kept_values.stored_types(sensitive_rows(written).schema)
        types = kept_types.other_types(before, after, names, labelled)
        return {name: str(kind) for name, kind in types}

    def mask(self, table: pa.Table, step: Mask) -> tuple[pa.Table, "MaskingEvidence"]:
        """Return the table with columns masked, and what was seen of them.

        Raises the errors of `mask_table`.
        """
        from policy_engine.engines.masking.whole_tables import mask_table  # noqa: PLC0415

        step = step.with_matrices(self._matrices)
        self._progress("masking", 0, table.num_rows)
        return mask_table(table, step, self._key, self.taxonomies)

    def look_at_masked(
        self, table: pa.Table, step: Mask, output: WrittenTable, unmasked: Sequence[str]
    ) -> "MaskingEvidence":
        """Return what an input and an output tell of the columns of a step.

        Raises DataError as `mask` does.
        """
        from policy_engine.engines.masking.whole_tables import look_at_table  # noqa: PLC0415

        step = step.with_matrices(self._matrices)
        written = self._outputs.read(output)
        return look_at_table(table, step, self.taxonomies, written, unmasked)

    def released_rows(self, table: pa.Table, step: Anonymize, output: Publish) -> LeftRows:
        """Return the rows of a table that are not suppressed when classes are formed. Raises the
        errors of `anonymize`."""
        if not step.recoding.max_suppression:
            return LeftRows(table)
        _, prepared = self._prepare(table, step, output)
        grouping = self._classes(table, prepared, step, output)
        kept = np.sort(grouping.classes.order)
        left = table.take(from_numpy(kept)) if grouping.suppressed else table
        return LeftRows(left, grouping.suppressed, grouping.gain)

    def _classes(
        self,
        table: pa.Table,
        prepared: PreparedTable,
        step: Anonymize,
        output: Publish,
    ) -> Grouping:
        """Return the classes of a table. Raises DataError where it cannot satisfy a bound."""
        words = partial(self._row_words, table, step, output)
        check_feasible(overview(prepared), step)
        is_over = deadline(self._time_limit) or never

        def form(rows: PreparedTable) -> Grouping:
            return form_classes(rows, step, self._progress, words, output.cells, is_over)

        grouping = form(prepared)
        if not step.suppresses_outlying_rows:
            return grouping
        from policy_engine.engines.trimmed_classes import TrimmableTable  # noqa: PLC0415 (as used)

        hidden, _ = self._prepare(table, step, output)
        encode = partial(prepare, step=step, taxonomies=self.taxonomies, released=output.columns)
        return TrimmableTable.of(hidden, step, prepared, encode, form).trimmed(grouping, is_over)

    def guide(self, table: pa.Table, fitting: GuideFitting) -> pa.Table:
        """Return a table with the targets of its rows in hidden columns. Raises as `fit` does."""
        self._progress("training the guide", 0, table.num_rows)
        guiding = fitting.fit(table.select(list(fitting.columns)))
        targets = guiding.targets(table)
        self._progress("training the guide", table.num_rows, table.num_rows)
        return with_targets(table, targets)

    def identify(
        self, table: pa.Table, unit: str, key: bytes, names: Sequence[str]
    ) -> tuple[pa.Table, str]:
        """Return some columns of a table, with the persons of its rows in a hidden one, and the
        type of the unit."""
        from policy_engine.engines.masking.perturbing import RowKeys  # noqa: PLC0415 (compiled)

        if unit:
            words = words_of_persons(texts_of_persons(table, unit), key)
        else:
            keys = RowKeys.of(table, key)
            words = words_of_rows(keys.keys, keys.repeats)
        kind = type_of_persons(table, unit) if unit else ""
        return with_words(table, words, names), kind

    def respelt(self, table: pa.Table, unit: str, key: bytes) -> Respelt:
        """Return who may be written another way in other tables, and what tells that."""
        return respelt_words(texts_of_persons(table, unit), key)

    def everybody(self, table: pa.Table) -> NDArray[np.uint64]:
        """Return the persons of the rows of a table, (rows,)."""
        return words_in(table)

    def with_earlier(
        self,
        table: pa.Table,
        persons: NDArray[np.uint64],
        cells: NDArray[np.int64],
        valued: Sequence[tuple[int, str]],
    ) -> pa.Table:
        """Return a table with the intersections of earlier classes in hidden columns."""
        return with_earlier(table, persons, cells, valued)

    def released_persons(self, written: WrittenTable, step: Anonymize) -> ReleasedPersons | None:
        """Read a written table back, and return who is in which class; None where that is not
        known."""
        persons = written.made_here().persons
        if persons is None:
            return None
        return released_persons(self._outputs.read(written), persons, step)

    def anonymize(self, table: pa.Table, step: Anonymize, output: Publish) -> AnonymizedTable:
        """Generalise the quasi-identifiers, and put the rows in a new order.

        Rows are ordered by class and, within a class, by their unchanged values: the position of a
        row tells nothing about its position in the input. Raises DataError where the table as a
        whole cannot satisfy a bound, or the values of a column do not support its role.
        """
        if step.is_in_buckets:
            return self._bucketize(table, step, output)
        # Pseudonyms come first: otherwise the order of rows would follow the original identifiers.
        original = table
        table, prepared = self._prepare(table, step, output)
        grouping = self._classes(original, prepared, step, output)
        if step.is_permuted:
            return self._permute(table, prepared, grouping, step, output)
        classes = sort_within_classes(prepared, grouping.classes)
        released_table = output_table(table, step, grouping, classes, output)
        self._progress("generalising", prepared.rows, prepared.rows)
        persons = prepared.persons
        return AnonymizedTable(
            released_table,
            rows=prepared.rows,
            suppressed=grouping.suppressed,
            gain=grouping.gain,
            suppressed_cells=grouping.suppressed_cells,
            missing_cells=count_missing(
                step.columns, {name: one.column for name, one in prepared.quasi.items()}
            ),
            early_stop=self._early_stop(grouping),
            salt=self._salt if step.columns.has_own_pseudonyms else None,
            formed=grouping.evidence,
            doubts=grouping.doubts,
            origins=origins_of(table, classes.order),
            persons=words_in(table)[classes.order] if WORD in table.column_names else None,
            engine_state=None if persons is None else persons[classes.order].astype(np.int64),
        )

    def _row_words(self, table: pa.Table, step: Anonymize, output: Publish) -> NDArray[np.uint64]:
        """Return random bits of every row, (rows,), by its released values and the owner's key."""
        from policy_engine.engines.tied_rows import row_words, tie_secret  # noqa: PLC0415 (compiled)

        secret = tie_secret(self._key, step.recoding.algorithm)
        return row_words(table.select(list(output.columns)), secret)

    def _permute(
        self,
        table: pa.Table,
        prepared: PreparedTable,
        grouping: Grouping,
        step: Anonymize,
        output: Publish,
    ) -> AnonymizedTable:
        from policy_engine.engines.permuting import (  # noqa: PLC0415 (compiled)
            check_persons,
            doubts_of_extremes,
            permute,
            unlike_persons,
        )

        self._progress("permuting", 0, prepared.rows)
        persons, codes = prepared.persons, [one.column.codes for one in prepared.quasi.values()]
        if persons is not None:
            check_persons(unlike_persons(persons, codes), step.columns.privacy_unit)
        made = permute(table, step, grouping.classes, output.columns, self._key)
        one_class = Partition(made.order, np.array([0, prepared.rows]))
        as_it_is = replace(grouping, cells={}, numeric=(), typed=())
        self._progress("permuting", prepared.rows, prepared.rows)
        return AnonymizedTable(
            output_table(made.table, step, as_it_is, one_class, output),
            rows=prepared.rows,
            early_stop=self._early_stop(grouping),
            doubts=(*grouping.doubts, *doubts_of_extremes(prepared.quasi, step.k, persons)),
            origins=origins_of(table, made.order),
            compared=tuple(made.source.before.column_names),
            engine_state=made.source,
        )

    def _bucketize(self, table: pa.Table, step: Anonymize, output: Publish) -> AnonymizedTable:
        from policy_engine.engines.bucketizing import bucketize  # noqa: PLC0415 (compiled)

        self._progress("bucketizing", 0, table.num_rows)
        made = bucketize(table, step, output, self._key)
        self._progress("bucketizing", table.num_rows, table.num_rows)
        return AnonymizedTable(made.quasi, rows=table.num_rows, sensitive=made.sensitive)

    def _early_stop(self, grouping: Grouping) -> EarlyStop | None:
        if not grouping.open or self._time_limit is None:
            return None
        return EarlyStop(seconds=self._time_limit, stage=grouping.stage, left=grouping.open)

    def write(self, anonymized: AnonymizedTable, destination: Path | str | None) -> WrittenTable:
        """Write a table to a file that does not exist yet, or keep it in memory: also one that was
        read back from a database.

        Raises OutputError (O002) where the format cannot hold what is masked, or made up.
        """
        table, in_memory = anonymized.table, None
        masked = anonymized.masked.names if anonymized.masked else ()
        compared = tuple(dict.fromkeys((*masked, *anonymized.compared)))
        if compared and is_csv(destination):
            check_no_empty_texts(with_empty_texts(table, compared))
        self._progress("writing", 0, table.num_rows)
        if anonymized.sensitive is not None:
            return write_buckets(anonymized, destination)
        self._outputs.forget()
        if destination is None:
            in_memory = tables.infer_types(table)
            stored = StoredData(MEMORY, tables.table_digest(in_memory), table.num_rows)
        elif is_database(destination):
            in_memory = write_database_table(table, destination)
            stored = StoredData(MEMORY, rows_digest(in_memory), table.num_rows)
        else:
            self._prepared = None  # with a file the run ends: room for what is read back
            tables.write_table(table, Path(destination))
            stored = StoredData.from_file(Path(destination), table.num_rows)
        self._progress("writing", table.num_rows, table.num_rows)
        return WrittenTable(stored, anonymized, in_memory)

    def write_again(self, written: WrittenTable, destination: Path | str) -> WrittenTable:
        """Write a table that was written, or is in memory, to a file as well."""
        again = self.write(written.made_here(), destination)
        if is_database(destination):
            return again
        return replace(again, table=written.table, tables=written.tables)

    def columns(self, written: WrittenTable) -> tuple[str, ...]:
        """Return the names of a written table's columns."""
        if written.stored.location == MEMORY:
            some = written.tables.values() or [written.table]
            return tuple(dict.fromkeys(name for table in some for name in table.column_names))
        [dataset] = make_catalog({"": written.stored.location}, in_buckets=True).datasets
        return dataset.columns

    def unique_rows(
        self, table: "pa.Table | WrittenTable", sets: Sequence[tuple[str, ...]]
    ) -> tuple[int, ...]:
        """Return how many rows of a table, or of a written one, are unique on each set of
        columns."""
        from policy_engine.engines.counting_uniques import unique_rows  # noqa: PLC0415 (as used)

        rows = self._outputs.read(table) if isinstance(table, WrittenTable) else table
        return unique_rows(rows, sets)

    def measure(self, written: WrittenTable, step: Anonymize) -> TableMeasurements:
        """Read a written table back and measure it.

        Raises the errors of `group`, or of `measure_stored` for a release by buckets.
        """
        if step.is_in_buckets:
            self._progress("verifying", 0, written.stored.rows)
            return measure_stored(written, step)
        grouped, table, moves = self._group(written, step)
        return TableMeasurements(
            tuple(step.measure(grouped, grouped.ancestries)),
            grouped.class_totals(),
            grouped.mark,
            label=measure_label(table, step, grouped.class_of, grouped.count),
            moves=moves,
        )

    def measure_maskings(self, written: WrittenTable, step: Mask) -> tuple["ColumnJudgement", ...]:
        """Read a written table back and count the cells that are not masked as they should be.

        Raises DataError (V006) where the output alone does not show it.
        """
        from policy_engine.engines.masking.whole_tables import judge_table  # noqa: PLC0415

        table, step = self._outputs.read(written), step.with_matrices(self._matrices)
        return judge_table(table, step, written.evidence, self.taxonomies)

    def group(self, written: WrittenTable, step: Anonymize) -> Groups:
        """Read a written table back and group its rows into classes.

        Raises CertificateError on cells that are not a range, set or value and on columns that are
        not hidden as they should be (V002), on pseudonyms that link classes (R008) or are too few
        in a class (V001), DataError (V006) where persons have to be counted in a table that this
        engine did not make itself.
        """
        return self._group(written, step)[0]

    def _group(
        self, written: WrittenTable, step: Anonymize
    ) -> "tuple[Groups, pa.Table, Unmoved | None]":
        stored = written.stored
        self._progress("verifying", 0, stored.rows)
        table = self._outputs.read(written)
        if table.num_rows == 0:
            raise DataError.of("R001", "The output has no rows.", source=stored.location)
        moves = None
        if step.is_permuted:
            from policy_engine.engines.permuted_moves import (  # noqa: PLC0415 (compiled)
                permuted_groups,
            )

            grouped, moves = permuted_groups(table, step, written, self.taxonomies)
        else:
            persons = _require_persons(written, table, step)
            grouped = groups(table, step, self.taxonomies, persons)
        for name in step.columns.hidden:
            check_hidden(name, table.column(name), is_redacted=name in step.columns.redact)
        for name in step.columns.pseudonymize:
            check_unlinked(name, table.column(name), grouped, step.k)
        self._progress("verifying", table.num_rows, table.num_rows)
        return grouped, table, moves

    def output(self, written: WrittenTable) -> pa.Table:
        """Return a table that was written, its cells as text and all other columns typed."""
        if written.table is not None:
            return written.table
        return tables.infer_types(written.made_here().table)

    def close(self, keep: WrittenTable | None = None) -> None:  # noqa: ARG002 (it is this process's own)
        """Drop the tables that later calls could have reused."""
        self._prepared = None
        self._outputs.forget()

    def _prepare(
        self, table: pa.Table, step: Anonymize, output: Publish
    ) -> tuple[pa.Table, PreparedTable]:
        """Return the table with its pseudonyms, and the same table prepared.

        Both are kept for calls that differ in nothing that they depend on: the table itself, the
        columns with their roles, and which are published.
        """
        guide, last = step.recoding.guide, self._prepared
        prepared_for = f"{step.columns.model_dump_json()} {output.columns} {guide!r}"
        if last is None or last[0] is not table or last[1] != prepared_for:
            self._progress("encoding", 0, table.num_rows)
            hidden = with_pseudonyms(table, step.columns, self._key, self._salt)
            prepared = prepare(hidden, step, self.taxonomies, output.columns)
            self._prepared = last = table, prepared_for, hidden, prepared
            self._progress("encoding", table.num_rows, table.num_rows)
        return last[2], last[3]


def _require_persons(
    written: WrittenTable, table: pa.Table, step: Anonymize
) -> NDArray[np.int64] | None:
    if not step.columns.privacy_unit:
        return None
    persons: NDArray[np.int64] | None = (
        written.anonymized.engine_state if written.anonymized else None
    )
    if persons is None or len(persons) != table.num_rows:
        raise uncounted_persons(step.columns.privacy_unit)
    return persons


def _distinct_texts(column: pa.ChunkedArray) -> tuple[str, ...]:
    values = column.unique().to_pylist() if is_text(value_type(column.type)) else []
    return tuple(value for value in values if value is not None)
