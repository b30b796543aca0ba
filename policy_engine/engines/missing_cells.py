"""How many cells of columns are missing in an input, of those with a cap on suppression."""

from collections.abc import Mapping

import pyarrow as pa

from policy_engine.engines import field_marks
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations import encode_quasi_identifier
from policy_engine.methods.columns import Columns


def count_missing(columns: Columns, codes: Mapping[str, ColumnCodes]) -> dict[str, int]:
    """Return how many cells of each capped column are missing, given the codes of columns."""
    return {one.name: _missing(codes[one.name]) for one in columns.capped}


def missing_in_table(table: pa.Table, columns: Columns) -> dict[str, int]:
    """Return how many cells of each capped column are missing in a table.

    Raises DataError where the values of a column do not support its role.
    """
    schema = table.schema
    codes = {
        one.name: encode_quasi_identifier(
            one,
            table.column(one.name),
            numbers=field_marks.is_untyped(schema.field(one.name)),
        )
        for one in columns.capped
    }
    return count_missing(columns, codes)


def _missing(column: ColumnCodes) -> int:
    return int(column.counts()[0]) if column.has_missing else 0
