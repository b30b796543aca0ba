"""Some columns of all rows of a table on the cluster, brought to the driver."""

from collections.abc import Sequence
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


def local_table(rows: pa.Table, *, is_csv: bool) -> pa.Table:
    """Return rows as the local engine reads them: the type of texts of CSV is to be inferred."""
    table = normalise_table(rows)
    if not is_csv:
        return table
    texts = [column.dictionary_encode() for column in table.columns]
    return pa.table(texts, schema=pa.schema(map(untyped_field, table.column_names)))
