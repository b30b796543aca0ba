"""What the columns of a table look like without their values, and what they become generalised."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.data.catalog import make_catalog
from policy_engine.data.column_names import missing_column
from policy_engine.errors import DataError
from policy_engine.methods.columns import QuasiIdentifier

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.engines.column_profiles import ColumnProfile, GeneralisedLevel


def profile_table(table: str | Path | Any) -> "tuple[ColumnProfile, ...]":
    """Return what the columns of a table look like, without any of their values.

    Raises DataError for a table that cannot be read.
    """
    from policy_engine.engines.column_profiles import profile_columns  # noqa: PLC0415 (slow)

    return profile_columns(read_rows(table))


def preview_generalisation(
    table: str | Path | Any, column: QuasiIdentifier, taxonomy: bytes = b"", name: str = ""
) -> "tuple[GeneralisedLevel, ...]":
    """Return the levels that a column can be generalised to, as it is first.

    `taxonomy` is the content of one, and the ending of its `name` tells its format. Raises
    DataError for a column that there is not (C005), and where the generalisation does not apply to
    its values (R006, R007, T011).
    """
    from policy_engine.data.taxonomy import read_taxonomy  # noqa: PLC0415 (slow to import)
    from policy_engine.engines.column_profiles import generalised_levels  # noqa: PLC0415

    rows = read_rows(table)
    if column.name not in rows.column_names:
        [dataset] = make_catalog({"table": table}).datasets
        raise DataError(missing_column(column.name, dataset))
    tree = read_taxonomy(taxonomy, name) if taxonomy else None
    return generalised_levels(rows, column, tree)


def read_rows(table: str | Path | Any) -> "pa.Table":
    """Return the rows of a table, given as its path or itself. Raises DataError."""
    from policy_engine.engines.tables import read_table  # noqa: PLC0415 (slow to import)

    catalog = make_catalog({"table": table})
    [dataset] = catalog.datasets
    rows: pa.Table | None = catalog.tables.get(dataset.iri)
    return read_table(Path(dataset.location)) if rows is None else rows
