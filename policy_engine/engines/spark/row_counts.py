"""The distinct rows of a table on the cluster, and how many rows are equal to each."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.engines.spark import reading
from policy_engine.engines.spark.engine import SparkEngine
from policy_engine.engines.spark.gathering import local_table
from policy_engine.engines.spark.jobs import running
from policy_engine.errors import DataError

_ROWS = "__policy_engine_rows"


class RowCounts(NamedTuple):
    """The distinct rows of some columns, and how many rows each is, (distinct,)."""

    table: pa.Table
    counts: NDArray[np.int64]


def count_rows(engine: SparkEngine, location: str, columns: Sequence[str]) -> RowCounts:
    """Return the distinct rows of a table, in no order. Texts of CSV are marked as such.

    Raises the errors of `reading.describe_dataset` and `reading.read`, DataError (R011) where there
    are more than the driver holds.
    """
    dataset = engine.describe_dataset(location, location)
    with running(engine.spark, "counting rows"):
        frame = reading.read(engine.spark, location, dataset.format, columns)
        rows = frame.groupBy(*map(reading.column, columns)).agg(F.count("*").alias(_ROWS))
        distinct_rows = rows.limit(engine.most_values + 1).toArrow()
    if distinct_rows.num_rows > engine.most_values:
        message = f"The table has more than {engine.most_values:,} distinct rows in these columns."
        raise DataError.of("R011", message, "Name fewer known columns.", location)
    counts = distinct_rows.column(_ROWS).to_numpy().astype(np.int64)
    rows_alone = distinct_rows.drop_columns([_ROWS])
    table = local_table(rows_alone, is_csv=dataset.format.startswith("csv"))
    return RowCounts(table, counts)
