"""The two tables of a release by buckets, as they are written and read back."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from policy_engine.data.bucket_tables import (
    QUASI_IDENTIFIERS,
    SENSITIVE,
    TABLES,
    is_in_buckets,
    table_paths,
)
from policy_engine.data.catalog import MEMORY
from policy_engine.data.storage import make_private_folder, write_errors
from policy_engine.engines import tables
from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.engine import (
    AnonymizedTable,
    StoredData,
    TableMeasurements,
    WrittenTable,
)
from policy_engine.engines.reading_buckets import measure_buckets
from policy_engine.errors import CertificateError, DataError
from policy_engine.methods.buckets import COUNT
from policy_engine.plan.steps import Anonymize


def write_buckets(anonymized: AnonymizedTable, destination: Path | str | None) -> WrittenTable:
    """Write both tables into a folder that does not exist yet, or keep them in memory.

    Raises OutputError (O002) where they cannot be written.
    """
    made = dict(zip(TABLES, (anonymized.table, anonymized.sensitive), strict=True))
    rows = anonymized.table.num_rows
    if destination is None:
        in_memory = {name: tables.infer_types(table) for name, table in made.items()}
        stored = StoredData.from_tables(_digests(in_memory), rows)
        return WrittenTable(stored, anonymized, in_memory[QUASI_IDENTIFIERS], in_memory)
    folder = Path(destination)
    with write_errors(folder):
        make_private_folder(folder)
    for name, path in table_paths(folder).items():
        tables.write_table(made[name], path)
    return WrittenTable(StoredData.from_file(folder, rows), anonymized)


def measure_stored(written: WrittenTable, step: Anonymize) -> TableMeasurements:
    """Read both tables back and measure them.

    Raises DataError (R001) where there are no rows, CertificateError (V002) where the tables are
    not those of such a release.
    """
    stored, digests = _read(written)
    rows = stored[QUASI_IDENTIFIERS].num_rows
    if not rows:
        raise DataError.of("R001", "The output has no rows.", source=written.stored.location)
    return TableMeasurements(
        measure_buckets(stored, step), None, rows_in_buckets=rows, tables=digests
    )


def sensitive_rows(written: WrittenTable) -> pa.Table:
    """Return the sensitive values of a measured release, each as often as it is counted."""
    table = _read(written)[0][SENSITIVE]
    counts = table.column(COUNT).cast(pa.string()).cast(pa.int64()).to_numpy()
    return table.take(from_numpy(np.repeat(np.arange(table.num_rows), counts)))


def _read(written: WrittenTable) -> tuple[Mapping[str, pa.Table], Mapping[str, str]]:
    """Return the tables by their names, and the sha-256 of each by that of its file, if any."""
    if written.stored.location == MEMORY:
        return written.tables, _digests(written.tables)
    folder = Path(written.stored.location)
    if not is_in_buckets(folder):
        message = "The output does not have the two tables of a release by buckets."
        raise CertificateError.of("V002", message, source=str(folder))
    paths = table_paths(folder)
    digests = {path.name: StoredData.from_file(path).digest for path in paths.values()}
    return {name: tables.read_table(path) for name, path in paths.items()}, digests


def _digests(in_memory: Mapping[str, pa.Table]) -> dict[str, str]:
    return {name: tables.table_digest(table) for name, table in in_memory.items()}
