"""Cells of ranges in two columns, their low and high ends."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from policy_engine.data import cells
from policy_engine.engines.arrays import from_numpy, unchunk
from policy_engine.engines.reading_back import end_of, ends_of, texts_of
from policy_engine.engines.spark.failures import carrying
from policy_engine.engines.spark.values import Task, gathered, in_tasks, quoted
from policy_engine.errors import DataError


def with_ends(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return a frame in which columns that hold a range are two columns of its ends.

    Raises DataError (C006) where a column of that name is there.
    """
    kept = frame.select([quoted(name) for name in names])
    told = in_tasks(kept, _telling(tuple(names)), "place int").distinct().toArrow()
    ranged = [names[place] for place in sorted(told.column("place").to_pylist())]
    if not ranged:
        return frame
    fields: list[StructField] = []
    for field in frame.schema.fields:
        is_ranged = field.name in ranged
        ends = [StructField(end, StringType()) for end in ends_of(field.name)]
        fields += ends if is_ranged else [field]
    made = [field.name for field in fields]
    twice = next((name for name in made if made.count(name) > 1), None)
    if twice is not None:
        message = f"The output has two columns {twice!r}."
        raise DataError.of("C006", message, "Rename one, or write cells as text.")
    return in_tasks(frame, _parting(tuple(ranged)), StructType(fields))


def _telling(names: tuple[str, ...]) -> Task:
    """Return a task that tells the places of columns that hold a range."""

    @carrying
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        places = set()
        for table in gathered(batches):
            for place, name in enumerate(names):
                _, texts = texts_of(name, table.column(name))
                if any(cells.read_cell(text).is_range for text in texts):
                    places.add(place)
        yield pa.record_batch([pa.array(sorted(places), pa.int32())], names=["place"])

    return tell


def _parting(ranged: tuple[str, ...]) -> Task:
    """Return a task that puts the ends of ranges in columns of their own."""

    @carrying
    def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            made = {}
            for name in table.column_names:
                if name not in ranged:
                    made[name] = unchunk(table.column(name))
                    continue
                rows, texts = texts_of(name, table.column(name))
                read = [cells.read_cell(text) for text in texts]
                for place, end in zip((0, -1), ends_of(name), strict=True):
                    values = pa.array([end_of(cell, place) for cell in read], pa.string())
                    made[end] = values.take(from_numpy(rows))
            yield from pa.table(made).to_batches()

    return part
