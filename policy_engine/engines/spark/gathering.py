"""Some columns of all rows of a table on the cluster, brought to the driver."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from policy_engine.engines.field_marks import untyped_field
from policy_engine.engines.spark import reading
from policy_engine.engines.spark.engine import SparkEngine
from policy_engine.engines.spark.jobs import running
from policy_engine.engines.spark.values import normalise_table


@dataclass(frozen=True)
class ClusterRows:
    """Some columns of a table, which stay on the cluster until they are gathered."""

    engine: SparkEngine
    frame: DataFrame
    is_csv: bool

    def count(self) -> int:
        """Return the number of rows."""
        with running(self.engine.spark, "counting rows"):
            return int(self.frame.count())

    def gather(self) -> pa.Table:
        """Return all rows, in no order. Texts of CSV are marked as such."""
        with running(self.engine.spark, "gathering rows"):
            return local_table(self.frame.toArrow(), is_csv=self.is_csv)


def stored_rows(engine: SparkEngine, location: str, columns: Sequence[str]) -> ClusterRows:
    """Return columns of a table. Raises the errors of `reading.describe_dataset` and
    `reading.read`."""
    dataset = engine.describe_dataset(location, location)
    with running(engine.spark, "reading"):
        frame = reading.read(engine.spark, location, dataset.format, columns)
    return ClusterRows(engine, frame, dataset.format.startswith("csv"))


def local_table(rows: pa.Table, *, is_csv: bool, typed: Collection[str] = ()) -> pa.Table:
    """Return rows as the local engine reads them: the type of texts of CSV is to be inferred, but
    for columns that are `typed`."""
    table = normalise_table(rows)
    if not is_csv:
        return table
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and field.name not in typed:
            texts = table.column(place).dictionary_encode()
            table = table.set_column(place, untyped_field(field.name), texts)
    return table
