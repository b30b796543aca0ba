"""Read a table back that a local engine has written."""

from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from policy_engine.data.bucket_tables import QUASI_IDENTIFIERS, is_in_buckets, table_paths
from policy_engine.data.catalog import MEMORY
from policy_engine.data.csv_format import declared_format
from policy_engine.data.places.spelling import is_database
from policy_engine.engines.database_tables import read_database_table
from policy_engine.engines.engine import WrittenTable
from policy_engine.engines.tables import read_table


class OutputReader:
    """Reads tables back: a file, as long as nobody writes it, once for all that is measured of it.

    It keeps what it read last.
    """

    def __init__(self) -> None:
        self._last: tuple[tuple[object, ...] | None, pa.Table] | None = None

    def read(self, written: WrittenTable) -> pa.Table:
        """Return a table that was written, as it is now. Raises as `read_written` does."""
        location = _file_of(written)
        if location is None:
            return read_written(written)
        state = _file_state(location)
        if state is None or self._last is None or self._last[0] != state:
            self._last = None  # two tables at once would take twice the memory
            self._last = state, read_table(location)
        return self._last[1]

    def forget(self) -> None:
        """Drop what was read last."""
        self._last = None


def read_written(written: WrittenTable) -> pa.Table:
    """Return a table that was written; the quasi-identifiers of a release by buckets.

    Raises the errors of `read_table`.
    """
    location = _file_of(written)
    if location is not None:
        return read_table(location)
    if is_database(written.stored.location):
        return read_database_table(written.stored.location)
    table: pa.Table = written.table
    return table


def _file_of(written: WrittenTable) -> Path | None:
    """Return the file of a table, None for one in memory or in a database."""
    if written.stored.location == MEMORY or is_database(written.stored.location):
        return None
    location = Path(written.stored.location)
    return table_paths(location)[QUASI_IDENTIFIERS] if is_in_buckets(location) else location


def _file_state(location: Path) -> tuple[object, ...] | None:
    """Return what changes when a file is written, None for what is not a file."""
    with suppress(OSError, ValueError):
        if location.is_file():
            state = location.stat()
            times = (state.st_mtime_ns, state.st_ctime_ns)
            place = (location, state.st_dev, state.st_ino)
            return (*place, state.st_size, *times, declared_format(location))
    return None
