"""Columns of a CSV file as the numbers that they hold."""

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import is_text
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.tables import infer_types

_DECIMAL = r"^([+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity))$"


def parse_numbers(table: pa.Table) -> pa.Table:
    """Return a table with the columns of a CSV file as what they hold.

    Decimal numbers become floats, however many digits they have. Whole numbers that are too large
    for an integer, or that start with a zero, are names and stay texts.
    """
    columns = []
    for field, typed in zip(table.schema, infer_types(table), strict=True):
        is_left = is_untyped(field) and is_text(typed.type)
        columns.append(_decimal(typed) if is_left and _are_decimals(typed) else typed)
    return pa.table(columns, names=table.column_names)


def _are_decimals(column: pa.ChunkedArray) -> bool:
    texts = pc.unique(column.cast(pa.string())).drop_null()
    broken = pc.match_substring_regex(texts, r"[.eE]|nan|inf", ignore_case=True)
    return bool(
        pc.all(pc.match_substring_regex(texts, _DECIMAL, ignore_case=True)).as_py()
        and pc.any(broken).as_py()
    )


def _decimal(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()).cast(pa.float64())
