"""Columns masked on a cluster, and read back there to see whether they are."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.engines.masking import broken, masked
from policy_engine.engines.spark.failures import carrying
from policy_engine.engines.spark.values import Task, gathered, in_tasks, quoted, written_kinds
from policy_engine.methods.masking import Masking


def mask(frame: DataFrame, columns: Sequence[Masking], *, is_csv: bool) -> DataFrame:
    """Return a frame with some columns masked; errors as of `masked`.

    `is_csv` tells that its texts are cells of a file that has no types.
    """
    names = [quoted(one.name) for one in columns]
    kinds = written_kinds(frame.select(names), numbers=True) if is_csv else {}
    return in_tasks(frame, _masking(columns, kinds), frame.schema)


def count_broken(frame: DataFrame, columns: Sequence[Masking]) -> dict[str, int]:
    """Return by column how many cells of a frame do not keep their masking."""
    found = in_tasks(
        frame.select([quoted(one.name) for one in columns]),
        _counting(columns),
        "place int, broken long",
    )
    rows = found.groupBy("place").agg(F.sum("broken").alias("broken")).collect()
    counts = {row.place: int(row.broken) for row in rows}
    return {one.name: counts.get(place, 0) for place, one in enumerate(columns)}


def _masking(columns: Sequence[Masking], kinds: Mapping[str, pa.DataType | None]) -> Task:
    @carrying
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            made = table
            for one in columns:
                place = made.schema.get_field_index(one.name)
                values = masked(made.column(place), one, kinds.get(one.name))
                made = made.set_column(place, made.schema.field(place), values)
            yield from made.to_batches()

    return put


def _counting(columns: Sequence[Masking]) -> Task:
    @carrying
    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            found = [broken(table.column(one.name), one) for one in columns]
            places = pa.array(range(len(columns)), pa.int32())
            yield pa.record_batch([places, pa.array(found, pa.int64())], ["place", "broken"])

    return count
