"""Read a table back that a local engine has written."""

from pathlib import Path

import pyarrow as pa

from policy_engine.data.bucket_tables import QUASI_IDENTIFIERS, is_in_buckets, table_paths
from policy_engine.data.catalog import MEMORY
from policy_engine.data.places.spelling import is_database
from policy_engine.engines.database_tables import read_database_table
from policy_engine.engines.engine import WrittenTable
from policy_engine.engines.tables import read_table


def read_written(written: WrittenTable) -> pa.Table:
    """Return a table that was written; the quasi-identifiers of a release by buckets.

    Raises the errors of `read_table`.
    """
    if written.stored.location == MEMORY:
        table: pa.Table = written.table
        return table
    if is_database(written.stored.location):
        return read_database_table(written.stored.location)
    location = Path(written.stored.location)
    if is_in_buckets(location):
        location = table_paths(location)[QUASI_IDENTIFIERS]
    return read_table(location)
