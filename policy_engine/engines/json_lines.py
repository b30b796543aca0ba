"""Write JSON lines: an object for each row, its keys the columns in their order.

A file has no other bytes than its values give: whoever reads it and writes it again has the same.
"""

import json
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import constant, from_texts
from policy_engine.engines.scalar_columns import scalar_columns

_BATCH = 65_536


def write_json_lines(file: IO[bytes], table: pa.Table) -> None:
    """Write a row a line, missing values as null. Raises OutputError as `scalar_columns` does."""
    scalars = scalar_columns(
        table, "A file of JSON lines", "Write Parquet, or Arrow.", [pa.types.is_boolean]
    )
    keys = [json.dumps(name, ensure_ascii=False) for name in table.column_names]
    starts = [constant(f"{', ' if place else '{'}{key}: ") for place, key in enumerate(keys)]
    for batch in scalars.to_batches(max_chunksize=_BATCH):
        parts = [
            part
            for start, column in zip(starts, batch.columns, strict=True)
            for part in (start, _json_texts(column))
        ]
        lines = pc.binary_join_element_wise(*parts, constant("}\n"), constant(""))
        file.write("".join(lines.to_pylist()).encode())


def _json_texts(column: pa.Array) -> pa.Array:
    """Return cells as JSON has them."""
    distinct = column.dictionary_encode()
    values = distinct.dictionary.to_pylist()
    texts = from_texts([json.dumps(one, ensure_ascii=False) for one in values])
    return pc.fill_null(texts.take(distinct.indices), constant("null"))
