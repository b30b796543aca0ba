"""Exact statistics of a frame: each task has all rows of some units, and counts them as one table.

The contributions of a unit are bounded where all its rows are, by the same kernel as on one
machine, so that both engines use the same rows. Sums of integers are exact in any order. Nothing is
drawn here: a task that is run again would draw again.
"""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StringType, StructField, StructType

from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.reading import column
from policy_engine.engines.spark.values import (
    Task,
    gather_tables,
    map_in_tasks,
    normalise_table,
)
from policy_engine.engines.statistics.contributions import ABSENT
from policy_engine.engines.statistics.tallies import (
    Key,
    Tallies,
    code_units,
    key_text,
    merged,
    tally_table,
)
from policy_engine.plan.steps import AggregateStep

_UNIT = "unit of privacy"
_PART = StructType(
    [
        StructField("group", StringType()),
        StructField("units", LongType()),
        StructField("sums", StringType()),
    ]
)
"""What a task returns of each group: its key, its units, and its sums as JSON."""


def tally_frame(
    frame: DataFrame, step: AggregateStep, public: Sequence[Key] | None, secret: bytes
) -> Tallies:
    """Return the exact statistics of a frame. Raises as `tally_table` does."""
    name = _UNIT
    while name in frame.columns:
        name += "_"
    parts = map_in_tasks(_by_unit(frame, step, name), _counting(step, public, secret, name), _PART)
    rows = parts.collect()
    tallies = [
        Tallies((tuple(json.loads(row.group)),), [row.units], _group_sums(json.loads(row.sums)))
        for row in rows
    ]
    return merged(tallies, step, public)


def _by_unit(frame: DataFrame, step: AggregateStep, name: str) -> DataFrame:
    """Return the rows that have a unit, with its text in a column, all of a unit in one task."""

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            units = code_units(table.column(step.unit))
            places = np.where(units.codes == ABSENT, len(units.texts), units.codes)
            texts = pa.array([*units.texts, None], pa.string()).take(pa.array(places))
            yield from table.append_column(name, texts).to_batches()

    schema = StructType([*frame.schema.fields, StructField(name, StringType())])
    marked = map_in_tasks(frame, put, schema)
    return marked.where(column(name).isNotNull()).repartition(column(name))


def _counting(step: AggregateStep, public: Sequence[Key] | None, secret: bytes, name: str) -> Task:
    by_text = step.model_copy(update={"unit": name})

    @carry_errors
    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [batch for batch in batches if batch.num_rows]
        if not rows:
            return
        table = normalise_table(pa.Table.from_batches(rows))
        tallies = tally_table(table, by_text, public, secret)
        places = [place for place, units in enumerate(tallies.units) if units]
        columns = [
            [key_text(tallies.keys[place]) for place in places],
            [tallies.units[place] for place in places],
            [json.dumps(_written(tallies, place)) for place in places],
        ]
        yield pa.record_batch(columns, names=[field.name for field in _PART])

    return count


def _group_sums(sums: Sequence[int | list[int]]) -> list[list[int] | NDArray[np.int64]]:
    """Return the sums of the only group of a part."""
    return [[one] if isinstance(one, int) else np.array([one], np.int64) for one in sums]


def _written(tallies: Tallies, place: int) -> list[int | list[int]]:
    """Return the sums of a group; those of options as lists."""
    return [
        one[place].tolist() if isinstance(one, np.ndarray) else int(one[place])
        for one in tallies.sums
    ]
