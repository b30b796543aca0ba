"""The cells of records as they are in their files, for models that are asked of tables."""

from collections.abc import Sequence

import pyarrow as pa

from policy_engine.engines.arrays import value_type
from policy_engine.engines.field_marks import is_untyped, untyped_field


def joined_cells(parts: Sequence[pa.Table | None]) -> pa.Table | None:
    """Return the cells of tables with the same columns, one after the other, None without one.

    Columns whose types differ are texts whose type is still to be inferred, as in CSV files.
    """
    tables = [one for one in parts if one is not None]
    if len(tables) < len(parts):
        return None
    fields, columns = [], []
    for name in tables[0].column_names:
        field, column = _joined([(one.schema.field(name), one.column(name)) for one in tables])
        fields.append(field)
        columns.append(column)
    return pa.table(columns, schema=pa.schema(fields))


def _joined(
    parts: Sequence[tuple[pa.Field, pa.ChunkedArray]],
) -> tuple[pa.Field, pa.ChunkedArray]:
    name, kinds = parts[0][0].name, [value_type(field.type) for field, _ in parts]
    is_of_one = all(kind == kinds[0] for kind in kinds)
    kind = kinds[0] if is_of_one else pa.string()
    chunks = [
        chunk.cast(kinds[place]).cast(kind)
        for place, (_, column) in enumerate(parts)
        for chunk in column.chunks
    ]
    has_texts = not is_of_one or any(is_untyped(field) for field, _ in parts)
    field = untyped_field(name, kind) if has_texts else pa.field(name, kind)
    return field, pa.chunked_array(chunks, kind)
