"""Open a place by what its name begins with."""

from typing import TYPE_CHECKING

from policy_engine.data.places.database_files import read_duckdb, read_sqlite
from policy_engine.data.places.postgresql import read_postgresql
from policy_engine.data.places.spelling import DATABASE_FILES, SERVERS, redacted, scheme
from policy_engine.errors import DataError, join_names

if TYPE_CHECKING:
    import pyarrow as pa


def read_place(place: str) -> "pa.Table":
    """Return the table at a place. Raises DataError where it cannot be read."""
    kind = scheme(place)
    if kind in SERVERS:
        return read_postgresql(place)
    if kind in DATABASE_FILES:
        return read_duckdb(place) if kind == "duckdb" else read_sqlite(place)
    kinds = join_names((*DATABASE_FILES, SERVERS[0]))
    message = f"{redacted(place)!r} is on another machine. Known are files, folders and {kinds}."
    hint = "In Python, fetch_data gives files of other machines for as long as a block."
    raise DataError.of("C019", message, hint)
