"""Empty texts in masked and made-up columns: a CSV file would have missing values there."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.data.places.spelling import is_database
from policy_engine.data.table_files import ALL_FORMATS, match_format
from policy_engine.engines.arrays import constant, is_text, value_type
from policy_engine.errors import OutputError, join_names


def is_csv(destination: Path | str | None) -> bool:
    """Tell whether a table is to be written as CSV, None being kept in memory."""
    if destination is None or is_database(destination):
        return False
    return (match_format(str(destination), ALL_FORMATS) or "csv").startswith("csv")


def with_empty_texts(table: pa.Table, names: Sequence[str]) -> list[str]:
    """Return which of some columns of a table hold empty texts."""
    return [name for name in names if _has_empty_text(table.column(name))]


def _has_empty_text(column: pa.ChunkedArray) -> bool:
    if not is_text(value_type(column.type)):
        return False
    is_empty = pc.equal(column.cast(pa.string()), constant(""))
    return pc.any(is_empty).as_py() is True


def check_no_empty_texts(names: Sequence[str]) -> None:
    """Raise OutputError (O002) where columns with empty texts would be written as CSV."""
    if names:
        message = f"A CSV file cannot tell the empty texts of {join_names(names)} from missing "
        message += "values, and what is published there has to be read back."
        hint = "Write Parquet, or put another text, or a missing value, in their place before."
        raise OutputError.of("O002", message, hint)
