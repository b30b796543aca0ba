"""The local engine: in this process, on Arrow tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.data.catalog import MEMORY, make_catalog
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines import tables
from policy_engine.engines.anonymizing import Grouped, cell_array, form_classes, sorted_within
from policy_engine.engines.arrays import from_numpy, is_text, value_type
from policy_engine.engines.engine import (
    FIRST_ROWS,
    Anonymized,
    Ended,
    Measured,
    Progress,
    Stored,
    Written,
    deadline,
    silent,
)
from policy_engine.engines.identifiers import (
    check_hidden,
    check_unlinked,
    new_salt,
    pseudonyms,
    redacted,
    release_key,
)
from policy_engine.engines.joining import join_tables
from policy_engine.engines.masking import broken, masked
from policy_engine.engines.preparation import Prepared, check_feasible, overview, prepare
from policy_engine.engines.reading_back import end_of, ends_of, groups
from policy_engine.engines.text_types import infer_column_type
from policy_engine.errors import DataError, InternalError
from policy_engine.kernels.grouping import Groups
from policy_engine.kernels.mondrian import Partition, never
from policy_engine.methods import Measurement
from policy_engine.plan.inputs import Join, Read
from policy_engine.plan.steps import Anonymize, CellStyle, Mask, Publish


class LocalEngine:
    """Runs plans in this process.

    `tables` holds the inputs in memory, by IRI, `taxonomies` those that plans name, and `key`
    the owner's key of pseudonyms. Those of an engine are its own, by a `salt` that is drawn unless
    it is given. Each search for classes takes at most `time_limit` seconds, and the best found by
    then.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table] | None = None,
        progress: Progress = silent,
        taxonomies: Mapping[str, Taxonomy] | None = None,
        key: bytes | None = None,
        time_limit: float | None = None,
        salt: str = "",
    ) -> None:
        self._inputs = dict(tables or {})
        self._progress = progress
        self.taxonomies = taxonomies or {}
        self._key, self._salt = key, salt or new_salt()
        self._time_limit = time_limit
        self._prepared: tuple[pa.Table, str, pa.Table, Prepared] | None = None

    @property
    def session(self) -> None:
        """None: tables lie in files."""

    def read(self, step: Read) -> tuple[pa.Table, Stored]:
        """Read the columns of the input. Raises DataError where it is damaged or empty."""
        self._progress("reading", 0, 0)
        if step.location == MEMORY:
            whole = self._inputs[step.asset]
            digest, given = tables.table_digest(whole), whole.select(list(step.columns))
            table = tables.with_inferred(tables.plain_texts(given), given)
        else:
            path = Path(step.location)
            table, digest = tables.read_table(path, step.columns), Stored.of_file(path).digest
        if table.num_rows == 0:
            raise DataError.of("R001", "The table has no rows.", source=step.location)
        self._progress("reading", table.num_rows, table.num_rows)
        return table, Stored(step.location, digest, table.num_rows)

    def join(self, tables: Sequence[pa.Table], step: Join) -> tuple[pa.Table, tuple[int, ...]]:
        """Return the rows that have a partner in every table, and how many rows each had.

        Errors as of `join_tables`.
        """
        self._progress("joining", 0, sum(table.num_rows for table in tables))
        return join_tables(tables, step), tuple(table.num_rows for table in tables)

    def texts(self, table: pa.Table, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return different texts of a table's first rows by column, none of one without texts."""
        first = table.slice(0, FIRST_ROWS)
        return {name: _texts(first.column(name)) for name in names}

    def mask(self, table: pa.Table, step: Mask) -> pa.Table:
        """Return the table with columns masked. Raises DataError (R013) as `masked` does."""
        self._progress("masking", 0, table.num_rows)
        for asked in step.columns:
            index = table.schema.get_field_index(asked.name)
            field, column = table.schema.field(index), table.column(index)
            kind = None
            if tables.is_untyped(field):
                # Of the values that are there: a dictionary may hold those of rows left out.
                kind = infer_column_type(column.cast(pa.string()).unique(), numbers=True)
            if tables.is_inferred(field):
                # That type holds what the original values need, which is not to be told.
                kind = value_type(field.type)
                column = column.cast(kind).cast(pa.string())
            values = masked(column, asked, kind)
            if pa.types.is_decimal(value_type(field.type)):
                field = tables.as_masked(field, values.type)
            table = table.set_column(index, field, values)
        return table

    def anonymize(self, table: pa.Table, step: Anonymize, output: Publish) -> Anonymized:
        """Generalise the quasi-identifiers, and put the rows in a new order.

        The order is that of the classes and, within one, of the values kept: the place of a
        row says nothing about where it stood in the input. Raises DataError where the table
        as a whole cannot hold a bound, or values do not support what is asked of their column.
        """
        # From here on there are only pseudonyms: the order of rows must not follow the names.
        table, prepared = self._prepare(table, step, output)
        check_feasible(overview(prepared), step)
        is_over = deadline(self._time_limit) or never
        grouped = form_classes(prepared, step, self._progress, output.cells, is_over)
        classes = sorted_within(prepared, grouped.classes)
        released = self._released(table, step, grouped, classes, output)
        self._progress("generalising", prepared.rows, prepared.rows)
        persons = prepared.persons
        return Anonymized(
            released,
            rows=prepared.rows,
            suppressed=grouped.suppressed,
            ended=self._ended(grouped),
            salt=self._salt if step.columns.has_own_pseudonyms else None,
            own=None if persons is None else persons[classes.order].astype(np.int64),
        )

    def _ended(self, grouped: Grouped) -> Ended | None:
        if not grouped.open or self._time_limit is None:
            return None
        return Ended(seconds=self._time_limit, stage=grouped.stage, left=grouped.open)

    def _released(
        self,
        table: pa.Table,
        step: Anonymize,
        grouped: Grouped,
        classes: Partition,
        output: Publish,
    ) -> pa.Table:
        """Return the columns of the output. Raises DataError (C006) where two have one name."""
        made: dict[str, tuple[pa.Field, pa.Array]] = {}
        for name in output.columns:
            for field, values in self._column(name, table, step, grouped, classes, output.cells):
                if field.name in made:
                    message = f"The output has two columns {field.name!r}."
                    raise DataError.of("C006", message, "Rename one, or write cells as text.")
                made[field.name] = field, values
        schema = pa.schema([field for field, _ in made.values()])
        return pa.table([values for _, values in made.values()], schema=schema)

    def _column(
        self,
        name: str,
        table: pa.Table,
        step: Anonymize,
        grouped: Grouped,
        classes: Partition,
        style: CellStyle,
    ) -> Iterator[tuple[pa.Field, pa.Array]]:
        """Yield the column of the output, or the two, that a column of the input becomes."""
        rows = from_numpy(classes.order)
        if name in grouped.cells:
            yield from _generalised(name, grouped, classes, style)
        elif name in step.columns.redact:
            values = redacted(len(rows))
            yield pa.field(name, values.type), values
        else:
            yield table.schema.field(name), table.column(name).take(rows)

    def write(self, made: Anonymized, destination: Path | str | None) -> Written:
        """Write a table to a file that does not exist yet, or keep it in memory."""
        table, held = made.table, None
        self._progress("writing", 0, table.num_rows)
        if destination is None:
            held = tables.as_typed(table)
            stored = Stored(MEMORY, tables.table_digest(held), table.num_rows)
        else:
            tables.write_table(table, Path(destination))
            stored = Stored.of_file(Path(destination), table.num_rows)
        self._progress("writing", table.num_rows, table.num_rows)
        return Written(stored, made, held)

    def write_again(self, written: Written, destination: Path | str) -> Written:
        """Write what was written, or is held, to a file as well."""
        return replace(self.write(_made(written), destination), held=written.held)

    def columns(self, written: Written) -> tuple[str, ...]:
        """Return the names of a written table's columns."""
        if written.stored.location == MEMORY:
            return tuple(written.held.column_names)
        [dataset] = make_catalog({"": written.stored.location}).datasets
        return dataset.columns

    def measure(self, written: Written, step: Anonymize) -> Measured:
        """Read a written table again and measure it; errors as of `group`."""
        found = self.group(written, step)
        return Measured(tuple(step.measure(found, found.ancestries)), found.class_totals())

    def measure_masks(self, written: Written, step: Mask) -> tuple[Measurement, ...]:
        """Read a written table again and count the cells that do not keep their masking."""
        table = self._stored(written)
        return step.measurements({a.name: broken(table.column(a.name), a) for a in step.columns})

    def _stored(self, written: Written) -> pa.Table:
        if written.stored.location == MEMORY:
            return written.held
        return tables.read_table(Path(written.stored.location))

    def group(self, written: Written, step: Anonymize) -> Groups:
        """Read a written table again and group its rows.

        Raises CertificateError on cells of no known shape, and on columns that show what they are
        to hide (V002), on pseudonyms that link classes (R008) or are too few in one (V001),
        DataError where persons are to be counted in a table that this engine did not make itself
        (V006).
        """
        stored = written.stored
        self._progress("verifying", 0, stored.rows)
        table = self._stored(written)
        if table.num_rows == 0:
            raise DataError.of("R001", "The output has no rows.", source=stored.location)
        found = groups(table, step, self.taxonomies, _persons_of(written, table, step))
        for name in step.columns.hidden:
            check_hidden(name, table.column(name), is_redacted=name in step.columns.redact)
        for name in step.columns.pseudonymize:
            check_unlinked(name, table.column(name), found, step.k)
        self._progress("verifying", table.num_rows, table.num_rows)
        return found

    def output(self, written: Written) -> pa.Table:
        """Return a table that was written, its cells as text and all else by its type."""
        if written.held is not None:
            return written.held
        return tables.as_typed(_made(written).table)

    def close(self, keep: Written | None = None) -> None:  # noqa: ARG002 (it is this process's own)
        """Let go of the table that was prepared for runs to come."""
        self._prepared = None

    def _prepare(
        self, table: pa.Table, step: Anonymize, output: Publish
    ) -> tuple[pa.Table, Prepared]:
        """Return the table with its pseudonyms, and it prepared.

        Once for all runs on it that differ in bounds alone.
        """
        asked, last = f"{step.columns.model_dump_json()} {output.columns}", self._prepared
        if last is None or last[0] is not table or last[1] != asked:
            self._progress("encoding", 0, table.num_rows)
            hidden = self._pseudonymised(table, step)
            prepared = prepare(hidden, step, self.taxonomies, output.columns)
            self._prepared = last = table, asked, hidden, prepared
            self._progress("encoding", table.num_rows, table.num_rows)
        return last[2], last[3]

    def _pseudonymised(self, table: pa.Table, step: Anonymize) -> pa.Table:
        if not step.columns.pseudonymize:
            return table
        key = release_key(self._key, self._salt, step.columns.pseudonym_scope)
        for name in step.columns.pseudonymize:
            values = pseudonyms(name, table.column(name), key)
            index = table.schema.get_field_index(name)
            table = table.set_column(index, pa.field(name, values.type), values)
        return table


def _made(written: Written) -> Anonymized:
    if written.made is None:
        raise InternalError.of("X001", "The table was not made here.")
    return written.made


def _persons_of(written: Written, table: pa.Table, step: Anonymize) -> NDArray[np.int64] | None:
    if not step.columns.privacy_unit:
        return None
    persons: NDArray[np.int64] | None = written.made.own if written.made else None
    if persons is None or len(persons) != table.num_rows:
        message = (
            f"k counts distinct {step.columns.privacy_unit!r}, a column that is not released: "
            "the output alone does not tell them."
        )
        raise DataError.of("V006", message, "Give the input as well: data={IRI: PATH}.")
    return persons


def _generalised(
    name: str, grouped: Grouped, classes: Partition, style: CellStyle
) -> Iterator[tuple[pa.Field, pa.Array]]:
    """Yield the column of a quasi-identifier, or the two columns of its ranges' ends."""
    numbers, texts = grouped.cells[name]
    parsed = [cells.read_cell(text) for text in texts] if style == "bounds" else []
    if not any(cell.is_range for cell in parsed):
        yield pa.field(name, _CELL), cell_array(classes, numbers, texts)
        return
    for end, index in zip(ends_of(name), (0, -1), strict=True):
        ends = [end_of(cell, index) for cell in parsed]
        # Its type is that of its values, as in a file that has none.
        field = pa.field(end, _CELL, metadata={"csv": "text"})
        yield field, cell_array(classes, numbers, ends)


_CELL = pa.dictionary(pa.int32(), pa.string())


def _texts(column: pa.ChunkedArray) -> tuple[str, ...]:
    found = column.unique().to_pylist() if is_text(value_type(column.type)) else []
    return tuple(one for one in found if one is not None)
