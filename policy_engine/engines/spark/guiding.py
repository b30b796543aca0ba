"""The targets of rows on the cluster: the driver works them out, and tasks look them up.

What libraries and models are used is then on the driver alone, and the targets are those of the
local engine to the last digit.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.guiding import GuideFitting
from policy_engine.engines.spark.gathering import local_table
from policy_engine.engines.spark.targets import TargetLookup, marks_of
from policy_engine.engines.spark.values import quote_name
from policy_engine.errors import DataError

_TIMES = "policy_engine__times"


@dataclass(frozen=True)
class GuidableRows:
    """The rows of an input, which stay on the cluster. The texts of `is_csv` ones are cells of a
    file without types, except those of `labelled` columns."""

    frame: DataFrame
    is_csv: bool
    labelled: Collection[str] = ()


def look_up_targets(
    rows: GuidableRows, fitting: GuideFitting, most_rows: int, most_values: int
) -> TargetLookup:
    """Return the targets of rows, of which the driver holds the columns that targets follow from.

    Of predictions in a column it holds the distinct ones. Raises DataError (R018, R011) where there
    are more than `most_rows`, or more than `most_values` distinct ones, and as `fit` does.
    """
    names = [quote_name(name) for name in fitting.columns]
    if fitting.is_about_values:
        table, times = _distinct_rows(rows, names, most_values)
    else:
        table, times = _all_rows(rows, names, most_rows), None
    guiding = fitting.fit(table, times)
    columns = tuple(guiding.columns)
    marks, first = np.unique(marks_of(table, columns), return_index=True)
    targets = guiding.targets(table.take(from_numpy(first)))
    return TargetLookup(columns, marks, targets.astype(np.int32))


def _distinct_rows(
    rows: GuidableRows, names: list[str], limit: int
) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return the distinct rows of some columns, and how often each occurs."""
    counted = rows.frame.groupBy(*names).agg(F.count("*").alias(_TIMES))
    table = counted.limit(limit + 1).toArrow()
    if table.num_rows > limit:
        message = f"The predictions and labels have more than {limit:,} distinct values: more than "
        hint = "Round the predictions to four digits: classes are cut by no more. Or allow more "
        hint += "with most_values."
        raise DataError.of("R011", f"{message}the driver holds.", hint)
    times = to_numpy(unchunk(table.column(_TIMES))).astype(np.int64)
    return _as_read(table.drop_columns([_TIMES]), rows), times


def _all_rows(rows: GuidableRows, names: list[str], limit: int) -> pa.Table:
    """Return all rows of some columns."""
    count = rows.frame.count()
    if count > limit:
        message = f"A model would learn from {count:,} rows that the driver holds. Allowed are "
        hint = "Name a column with predictions as pe:guide, of which the driver holds the distinct "
        hint += "ones, or allow more with most_linked."
        raise DataError.of("R018", f"{message}{limit:,}.", hint)
    return _as_read(rows.frame.select(names).toArrow(), rows)


def _as_read(table: pa.Table, rows: GuidableRows) -> pa.Table:
    return local_table(table, is_csv=rows.is_csv, typed=rows.labelled)
