"""The table that is released: what each column of the input becomes once classes are formed."""

from collections.abc import Iterator

import pyarrow as pa

from policy_engine.data import cells
from policy_engine.engines.anonymizing import Grouping
from policy_engine.engines.arrays import cell_array, from_numpy
from policy_engine.engines.field_marks import CELL_TEXT, untyped_field
from policy_engine.engines.identifiers import redacted_column
from policy_engine.engines.reading_back import end_columns, range_end
from policy_engine.engines.suppressing import typed_column
from policy_engine.errors import DataError
from policy_engine.kernels.mondrian import Partition
from policy_engine.plan.steps import Anonymize, CellStyle, Publish


def output_table(
    table: pa.Table,
    step: Anonymize,
    grouping: Grouping,
    classes: Partition,
    output: Publish,
) -> pa.Table:
    """Return the columns of the output. Raises DataError (C006) where two have one name."""
    columns: dict[str, tuple[pa.Field, pa.Array]] = {}
    for name in output.columns:
        for field, values in _output_columns(name, table, step, grouping, classes, output.cells):
            if field.name in columns:
                message = f"The output has two columns {field.name!r}."
                raise DataError.of("C006", message, "Rename one, or write cells as text.")
            columns[field.name] = field, values
    schema = pa.schema([field for field, _ in columns.values()])
    return pa.table([values for _, values in columns.values()], schema=schema)


def _output_columns(
    name: str,
    table: pa.Table,
    step: Anonymize,
    grouping: Grouping,
    classes: Partition,
    style: CellStyle,
) -> Iterator[tuple[pa.Field, pa.Array]]:
    """Yield the one or two columns of the output that a column of the input becomes."""
    rows = from_numpy(classes.order)
    if name in grouping.typed:
        cell, texts = grouping.cells[name]
        yield typed_column(table.schema.field(name), classes, cell, texts)
    elif name in grouping.cells:
        yield from _generalised_columns(name, grouping, classes, style)
    elif name in step.columns.redact:
        values = redacted_column(len(rows))
        yield pa.field(name, values.type), values
    else:
        yield table.schema.field(name), table.column(name).take(rows)


def _generalised_columns(
    name: str, grouping: Grouping, classes: Partition, style: CellStyle
) -> Iterator[tuple[pa.Field, pa.Array]]:
    """Yield the column of a quasi-identifier, or the two columns of its ranges' ends."""
    numbers, texts = grouping.cells[name]
    cells_read = [cells.read_cell(text) for text in texts] if style == "bounds" else []
    if not any(cell.is_range for cell in cells_read):
        is_numeric = name in grouping.numeric
        field = untyped_field(name) if is_numeric else pa.field(name, CELL_TEXT)
        yield field, cell_array(classes.starts, numbers, texts)
        return
    for end, index in zip(end_columns(name), (0, -1), strict=True):
        ends = [range_end(cell, index) for cell in cells_read]
        # Its type is inferred from its values, as for a file without types.
        yield untyped_field(end), cell_array(classes.starts, numbers, ends)
