"""Tables of DuckDB's and SQLite's files: `duckdb:FILE#TABLE`, `sqlite:FILE#TABLE`."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from policy_engine.data.places.stored_rows import (
    TableName,
    chosen_table,
    missing_database,
    ordered,
    quoted,
)
from policy_engine.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

ALONE: dict[str, Any] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""How a file is opened: a view in it reads that file, whatever it says, no other one and no other
machine."""
_EXACT = 2**53
"""Up to it, every integer is a float."""


def split_place(place: str) -> tuple[Path, str]:
    """Return the file and the table that a place names.

    Raises DataError (C019) for another spelling, that with `//` among them, which some take for a
    path from the root and others for one from the current folder.
    """
    kind, _, rest = place.partition(":")
    file, _, table = rest.rpartition("#")
    if not file or not table or file.startswith("//"):
        message = f"A table of a database is given as {kind}:FILE#TABLE. {place!r} was given."
        raise DataError.of("C019", message)
    return Path(file), table


def read_duckdb(place: str) -> "pa.Table":
    """Return a table or view of a DuckDB file, opened to be read alone, its rows in order.

    Raises DataError where the file is missing (C002), cannot be read (C003), or has no such table
    (C019).
    """
    import duckdb  # noqa: PLC0415 (slow to import)

    path, wanted = split_place(place)
    if not path.is_file():
        raise missing_database(place, str(path))
    try:
        with duckdb.connect(str(path), read_only=True, config=ALONE) as database:
            database.execute("SET TimeZone = 'UTC'")
            names = database.execute(
                "SELECT table_schema, table_name FROM information_schema.tables "
                "WHERE table_catalog = current_database()"
            ).fetchall()
            table = chosen_table(wanted, [TableName(*one) for one in names], place)
            return ordered(read_duckdb_table(database, table))
    except duckdb.PermissionException:
        message = f"The view {wanted!r} reads something else than this file."
        raise DataError.of("C019", message, "Make it a table.", place) from None
    except duckdb.IOException:
        message = "The file cannot be read: it is not one of DuckDB, or another program writes it."
        raise DataError.of("C003", message, source=place) from None
    except duckdb.Error as error:
        message = f"DuckDB cannot read {wanted!r} ({type(error).__name__})."
        raise DataError.of("C003", message, source=place) from None


def read_duckdb_table(database: Any, table: TableName) -> "pa.Table":
    """Return the rows of a table or view, in the order in which a table has them."""
    rows: pa.Table = database.sql(f"SELECT * FROM {table.quoted}").to_arrow_table()  # noqa: S608
    return rows


def read_sqlite(place: str) -> "pa.Table":
    """Return a table or view of an SQLite file, opened to be read alone, its rows in order.

    SQLite gives each cell a type of its own: a column is of the one that all of its cells have, and
    integers beside floats are floats. Raises DataError as `read_duckdb` does, and where a column
    has cells of several types or infinite numbers (C009) or texts that are not UTF-8 (C008).
    """
    path, wanted = split_place(place)
    if not path.is_file():
        raise missing_database(place, str(path))
    with _sqlite_errors(place), closing(_opened(path)) as database:
        names = database.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        table = chosen_table(wanted, [TableName("", one) for (one,) in names], place)
        return ordered(read_sqlite_table(database, table.name, place))


def read_sqlite_table(
    database: sqlite3.Connection, name: str, place: str, order: str = ""
) -> "pa.Table":
    """Return the rows of a table or view, in an `order` if one is given. Raises as `read_sqlite`
    does, and sqlite3.Error."""
    by = f" ORDER BY {order}" if order else ""
    cursor = database.execute(f"SELECT * FROM {quoted(name)}{by}")  # noqa: S608 (quoted)
    columns = [one[0] for one in cursor.description]
    return _sqlite_table(columns, cursor.fetchall(), place)


@contextmanager
def _sqlite_errors(place: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if "decode to UTF-8" in str(error):
            message = "The table holds text that is not UTF-8."
            raise DataError.of("C008", message, source=place) from None
        message = "The table cannot be read: its file is locked, or it has a view of what is gone."
        raise DataError.of("C003", message, source=place) from None
    except UnicodeDecodeError:
        message = "The file has a name that is not UTF-8, or it is damaged."
        raise DataError.of("C003", message, source=place) from None
    except sqlite3.Error:
        message = "The file cannot be read: it is not one of SQLite, or it is damaged."
        raise DataError.of("C003", message, source=place) from None


def _opened(path: Path) -> sqlite3.Connection:
    where = quote(str(path.absolute()))
    database = sqlite3.connect(f"file:{where}?mode=ro", uri=True, isolation_level=None)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("BEGIN")  # the names and the rows of one state
    return database


def _sqlite_table(names: Sequence[str], rows: Sequence[tuple[Any, ...]], place: str) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    cells_by_name = zip(names, columns, strict=True)
    arrays = [_sqlite_column(name, cells, place) for name, cells in cells_by_name]
    return pa.Table.from_arrays(arrays, names=list(names))


def _sqlite_column(name: str, cells: Sequence[Any], place: str) -> "pa.Array":
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    types = {int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
    kinds = {type(one) for one in cells if one is not None}
    if any(isinstance(one, float) and isinf(one) for one in cells):
        message = f"The column {name!r} has numbers that are infinite."
        raise DataError.of("C009", message, "Give a view of it without them.", place)
    if len(kinds) < 2:
        return pa.array(cells, types[kinds.pop()] if kinds else pa.string())
    whole = [one for one in cells if isinstance(one, int)]
    if kinds != {int, float} or any(abs(one) > _EXACT for one in whole):
        message = f"The column {name!r} has cells of several types."
        hint = "Give a view of it with CAST(... AS TEXT), or another type."
        raise DataError.of("C009", message, hint, place)
    return pa.array([None if one is None else float(one) for one in cells], pa.float64())
