"""The local engine: in this process, on Arrow tables."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.catalog import MEMORY, make_catalog
from policy_engine.engines import tables
from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.encoding import Encoded, encode, write_cells, written_order
from policy_engine.engines.engine import Progress, Stored, silent
from policy_engine.engines.reading_back import groups
from policy_engine.errors import DataError, Problem
from policy_engine.kernels import mondrian
from policy_engine.kernels.constraint import Constraint
from policy_engine.kernels.grouping import Groups
from policy_engine.methods import Method
from policy_engine.plan import Anonymize, Read


class LocalEngine:
    """Runs plans in this process. `tables` holds the inputs in memory, by IRI."""

    name = "local"

    def __init__(
        self, tables: Mapping[str, pa.Table] | None = None, progress: Progress = silent
    ) -> None:
        self._inputs = dict(tables or {})
        self._progress = progress
        self.written: pa.Table = pa.table({})
        self._output: pa.Table | None = None

    def read(self, step: Read) -> tuple[pa.Table, Stored]:
        """Read the columns of the input. Raises DataError where it is damaged or empty."""
        self._progress("reading", 0, 0)
        if step.location == MEMORY:
            whole = self._inputs[step.asset]
            digest, table = (
                tables.table_digest(whole),
                tables.plain_texts(whole.select(list(step.columns))),
            )
        else:
            path = Path(step.location)
            table, digest = tables.read_table(path, step.columns), Stored.of_file(path).digest
        if table.num_rows == 0:
            raise DataError.of("R001", "The table has no rows.", source=step.location)
        return table, Stored(step.location, digest, table.num_rows)

    def anonymize(self, table: pa.Table, step: Anonymize) -> pa.Table:
        """Generalise the quasi-identifiers with Mondrian, and put the rows in a new order.

        The order is that of the classes and, within one, of the values kept: the place of a
        row says nothing about where it stood in the input. Raises DataError where the whole
        table cannot hold a bound.
        """
        method, rows = step.method, table.num_rows
        self._progress("encoding", 0, rows)
        columns = dict(_encoded(table, method))
        constraint = method.constraint()
        problems = list(_too_little(columns, rows, method.sensitive, constraint))
        if problems:
            raise DataError(*problems)
        classes = self._partition(columns, method, constraint, rows)
        self._progress("generalising", 0, rows)
        kept = [name for name in table.column_names if name not in method.quasi_identifier]
        classes = _sorted_within(
            classes,
            [k for name in kept for k in (columns[name].codes, written_order(table.column(name)))],
        )
        return pa.table(
            {
                name: write_cells(name, columns[name], classes)
                if name in method.quasi_identifier
                else table.column(name).take(from_numpy(classes.order))
                for name in table.column_names
            },
            schema=_schema(table, method.quasi_identifier),
        )

    def write(self, table: pa.Table, destination: Path | None) -> Stored:
        """Write the table to a file that does not exist yet, or keep it in memory."""
        self._progress("writing", 0, table.num_rows)
        self.written, self._output = table, None
        if destination is None:
            return Stored(MEMORY, tables.table_digest(self.output()), table.num_rows)
        tables.write_table(table, destination)
        return Stored.of_file(destination, table.num_rows)

    def columns(self, stored: Stored) -> tuple[str, ...]:
        """Return the names of a stored table's columns."""
        if stored.location == MEMORY:
            return tuple(self.written.column_names)
        [dataset] = make_catalog({"": stored.location}).datasets
        return dataset.columns

    def group(self, stored: Stored, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> Groups:
        """Read a stored table again and group its rows. Raises CertificateError on bad cells."""
        self._progress("verifying", 0, stored.rows)
        in_memory = stored.location == MEMORY
        table = self.output() if in_memory else tables.read_table(Path(stored.location))
        if table.num_rows == 0:
            raise DataError.of("R001", "The output has no rows.", source=stored.location)
        return groups(table, quasi, sensitive)

    def output(self) -> pa.Table:
        """Return the table written last, its cells as text and all else by its type."""
        if self._output is None:
            self._output = tables.as_typed(self.written)
        return self._output

    def _partition(
        self, columns: dict[str, Encoded], method: Method, constraint: Constraint, rows: int
    ) -> mondrian.Classes:
        if mondrian.needs_compiling():
            self._progress("compiling the partitioner (once per installation)", 0, 0)
        self._progress("partitioning", 0, rows)
        return mondrian.partition(
            [columns[name].axis() for name in method.quasi_identifier],
            [columns[name].values() for name in method.sensitive],
            constraint,
            lambda settled: self._progress("partitioning", settled, rows),
        )


def _encoded(table: pa.Table, method: Method) -> Iterator[tuple[str, Encoded]]:
    for field, column in zip(table.schema, table.columns, strict=True):
        name = field.name
        # Sensitive texts are compared as the certificate will compare them, read from a file.
        numbers = tables.is_text_of_csv(field) or name in method.sensitive
        generalised = name in method.quasi_identifier
        yield name, encode(name, column, numbers=numbers, generalised=generalised)


def _too_little(
    columns: dict[str, Encoded], rows: int, sensitive: tuple[str, ...], constraint: Constraint
) -> Iterator[Problem]:
    """Yield the bounds that the table as a whole does not hold, so that no class could."""
    if rows < constraint.size:
        message = f"The table has {rows} rows, fewer than k, which is {constraint.size}."
        yield Problem("R002", message)
    for name in sensitive if constraint.distinct > 1 else ():
        found = int(columns[name].values().max()) + 1
        if found < constraint.distinct:
            message = (
                f"The sensitive column {name!r} has {found} distinct values, "
                f"fewer than l, which is {constraint.distinct}."
            )
            yield Problem("R003", message, f"On this table, l can be at most {found}.")


def _sorted_within(classes: mondrian.Classes, kept: list[NDArray[Any]]) -> mondrian.Classes:
    """Order the rows of each class by the values kept, so that input order leaves no trace."""
    if not kept:
        return classes
    leaf = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
    keys = [column[classes.order] for column in reversed(kept)]
    order = classes.order[np.lexsort(np.stack([*keys, leaf]))]
    return mondrian.Classes(order, classes.starts)


def _schema(table: pa.Table, quasi: tuple[str, ...]) -> pa.Schema:
    cell = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [pa.field(field.name, cell) if field.name in quasi else field for field in table.schema]
    )
