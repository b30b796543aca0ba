"""Tables of databases as outputs: written, read back, and told by the digest of their rows.

The digest is that of the rows in the order of their values, as for a database that is an input:
however the database keeps them, it stays while no row changes.
"""

import pyarrow as pa

from policy_engine.data.places.database_outputs import output_place, output_transaction
from policy_engine.data.places.opening import read_place
from policy_engine.data.places.spelling import scheme
from policy_engine.data.places.stored_rows import ordered
from policy_engine.engines.engine import StoredData
from policy_engine.engines.scalar_columns import scalar_columns
from policy_engine.engines.tables import infer_types, plain_texts, table_digest
from policy_engine.errors import OutputError


def write_database_table(table: pa.Table, place: str) -> pa.Table:
    """Write a table to a file of a database that nobody else knows, and return it read back, its
    rows in their order.

    Raises OutputError (O002) where the database has no such values.
    """
    _, name = output_place(place)
    if scheme(place) == "sqlite":
        hint = "Write to a file of DuckDB, or Parquet."
        rows = scalar_columns(table, "A table of SQLite", hint, [pa.types.is_binary])
    else:
        rows = infer_types(table)
    with output_transaction(place) as database:
        database.create(name, rows)
        back = plain_texts(database.rows(name))
    if back.column_names != rows.column_names:
        message = f"The database has other names of columns: {back.column_names}."
        raise OutputError.of("O002", message, "Rename them.", place)
    return back


def read_database_table(place: str) -> pa.Table:
    """Return a table of a database, its rows in the order of their values. Raises DataError."""
    return plain_texts(read_place(place))


def rows_digest(table: pa.Table) -> str:
    """Return the sha-256 of the rows of a table, whatever their order."""
    return table_digest(ordered(table))


def stored_rows(place: str) -> StoredData:
    """Return the digest of a table of a database. Raises DataError where it cannot be read."""
    table = read_database_table(place)
    return StoredData(place, rows_digest(table), table.num_rows)
