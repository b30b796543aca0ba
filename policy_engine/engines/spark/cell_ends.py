"""Write columns of ranges as two columns, their low and high ends."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from policy_engine.data import cells
from policy_engine.engines.arrays import from_numpy, unchunk
from policy_engine.engines.reading_back import end_columns, index_texts, range_end
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.values import Task, gather_tables, map_in_tasks, quote_name
from policy_engine.errors import DataError


def with_end_columns(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return a frame in which two columns with the ends replace each column that holds a range.

    Raises DataError (C006) where a column of that name exists.
    """
    chosen = frame.select([quote_name(name) for name in names])
    range_places = (
        map_in_tasks(chosen, _range_columns_task(tuple(names)), "place int").distinct().toArrow()
    )
    range_columns = [names[place] for place in sorted(range_places.column("place").to_pylist())]
    if not range_columns:
        return frame
    fields: list[StructField] = []
    for field in frame.schema.fields:
        is_ranged = field.name in range_columns
        ends = [StructField(end, StringType()) for end in end_columns(field.name)]
        fields += ends if is_ranged else [field]
    field_names = [field.name for field in fields]
    repeated_name = next((name for name in field_names if field_names.count(name) > 1), None)
    if repeated_name is not None:
        message = f"The output has two columns {repeated_name!r}."
        raise DataError.of("C006", message, "Rename one, or write cells as text.")
    return map_in_tasks(frame, _splitting_task(tuple(range_columns)), StructType(fields))


def _range_columns_task(names: tuple[str, ...]) -> Task:
    """Return a task that yields the places of the columns that hold a range."""

    @carry_errors
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        places = set()
        for table in gather_tables(batches):
            for place, name in enumerate(names):
                _, texts = index_texts(name, table.column(name))
                if any(cells.read_cell(text).is_range for text in texts):
                    places.add(place)
        yield pa.record_batch([pa.array(sorted(places), pa.int32())], names=["place"])

    return tell


def _splitting_task(range_columns: tuple[str, ...]) -> Task:
    """Return a task that splits ranges into two columns of ends."""

    @carry_errors
    def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            columns = {}
            for name in table.column_names:
                if name not in range_columns:
                    columns[name] = unchunk(table.column(name))
                    continue
                rows, texts = index_texts(name, table.column(name))
                cells_read = [cells.read_cell(text) for text in texts]
                for place, end in zip((0, -1), end_columns(name), strict=True):
                    values = pa.array([range_end(cell, place) for cell in cells_read], pa.string())
                    columns[end] = values.take(from_numpy(rows))
            yield from pa.table(columns).to_batches()

    return part
