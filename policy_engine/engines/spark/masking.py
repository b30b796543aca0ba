"""Mask columns on a cluster, and check masked ones there."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.engines.masking import count_by_spelling, mask_column
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.values import (
    Task,
    gather_tables,
    map_in_tasks,
    quote_name,
    text_types,
)
from policy_engine.methods.masking import Masking


def mask(frame: DataFrame, columns: Sequence[Masking], *, is_csv: bool) -> DataFrame:
    """Return a frame with some columns masked. Raises the errors of `mask_column`.

    `is_csv` means that its texts are cells of a file without types.
    """
    names = [quote_name(column.name) for column in columns]
    kinds = text_types(frame.select(names), numbers=True) if is_csv else {}
    return map_in_tasks(frame, _masking_task(columns, kinds), frame.schema)


def count_unmasked_cells(frame: DataFrame, columns: Sequence[Masking]) -> dict[str, int]:
    """Return, by column, how many cells of a frame do not satisfy their masking."""
    counts_by_task = map_in_tasks(
        frame.select([quote_name(column.name) for column in columns]),
        _counting_task(columns),
        "place int, exact long, floats long",
    )
    sums = [F.sum(name).alias(name) for name in ("exact", "floats")]
    rows = counts_by_task.groupBy("place").agg(*sums).collect()
    counts = {row.place: min(int(row.exact), int(row.floats)) for row in rows}
    return {column.name: counts.get(place, 0) for place, column in enumerate(columns)}


def _masking_task(columns: Sequence[Masking], kinds: Mapping[str, pa.DataType | None]) -> Task:
    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            masked_table = table
            for column in columns:
                place = masked_table.schema.get_field_index(column.name)
                values = mask_column(masked_table.column(place), column, kinds.get(column.name))
                masked_table = masked_table.set_column(
                    place, masked_table.schema.field(place), values
                )
            yield from masked_table.to_batches()

    return put


def _counting_task(columns: Sequence[Masking]) -> Task:
    @carry_errors
    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            counts = [count_by_spelling(table.column(column.name), column) for column in columns]
            arrays = [pa.array(one, pa.int64()) for one in zip(*counts, strict=True)]
            places = pa.array(range(len(columns)), pa.int32())
            yield pa.record_batch([places, *arrays], ["place", "exact", "floats"])

    return count
