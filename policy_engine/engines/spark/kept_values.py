"""Values that an output has as they are in its input, on Spark: `masking/kept_values.py`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import LongType, StructField, StructType

from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.masking.common_forms import (
    common_forms,
    identifying_words,
    representative_texts,
    values_of_cells,
    with_texts,
)
from policy_engine.engines.masking.marks import mark_key
from policy_engine.engines.masking.sampling import MOST_STRATA
from policy_engine.engines.masking.stratum_words import stratum_words
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.masking import ROW_WORDS, StoredRows, count_strange, stored_types
from policy_engine.engines.spark.sampling import counted_units
from policy_engine.engines.spark.values import (
    distinct_values,
    gather_tables,
    map_in_tasks,
    quote_name,
)
from policy_engine.engines.strata import InputStrata, SampledOutput, SampledRows
from policy_engine.kernels.siphash import Words
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Sample


def compare_sampled(output: StoredRows, plan: Plan, table: StoredRows | None) -> SampledOutput:
    """Return an output as a sample, of an input if there is one."""
    step, key = plan.sampling(), mark_key()
    names = [name for name in plan.shown_strata if name in output.frame.columns]
    strata = None if table is None else input_strata(table, step, key)
    are_shown = {*names} == {*step.stratified_by}
    rows = sampled_rows(output, step, names, key)
    return SampledOutput(step, rows, plan.most_suppressed, strata, are_shown)


def strange_rows(
    table: StoredRows, output: StoredRows, names: Sequence[str], limit: int, present: str = ""
) -> int:
    """Return how many rows of an output have values that no row of its input has, or more often.

    The driver holds at most `limit` values of the `present` column.
    """
    both, key, representatives = (stored_types(one) for one in (table, output)), mark_key(), {}
    forms = common_forms([*names, *filter(None, [present])], *both)
    if not forms:
        return 0
    if present:
        is_present = F.col(quote_name(present)).isNotNull()
        output = output._replace(frame=output.frame.where(is_present))
        values = distinct_values(table.frame, [present], limit).values[present].values
        representatives = representative_texts(
            present, pa.chunked_array([values]), numbers=table.is_csv
        )
    columns = [quote_name(name) for name in forms]
    words_of = partial(identifying_words, forms=forms, key=key)
    rows, others = (one.frame.select(columns) for one in (table, output))
    words_of_representatives = partial(
        _words_of_representatives, words_of, present, representatives
    )
    return count_strange(
        rows, others, words_of_representatives, partial(_words_of_cells, words_of, present)
    )


def _words_of_representatives(
    words_of: Callable[[pa.Table], Words],
    present: str,
    representatives: Mapping[str, str],
    rows: pa.Table,
) -> Words:
    """Return the words of rows, of a column by what local suppression shows of its values."""
    return words_of(with_texts(rows, present, representatives))


def _words_of_cells(words_of: Callable[[pa.Table], Words], present: str, rows: pa.Table) -> Words:
    """Return the words of rows, of a column of cells by the values that they were written from."""
    return words_of(values_of_cells(rows, present) if present else rows)


def sampled_rows(output: StoredRows, step: Sample, names: Sequence[str], key: bytes) -> SampledRows:
    """Return the rows of an output by stratum, as some columns tell it, and weight."""
    weight = F.lit(None).cast("double")
    if step.weight_column:
        weight = F.expr(f"try_cast({quote_name(step.weight_column)} AS double)")
    groups = _with_words(output, names, key).groupBy(*ROW_WORDS, weight.alias("weight"))
    rows = groups.agg(F.count("*").alias("rows")).limit(MOST_STRATA + 1).collect()
    return {((one[0], one[1]), one["weight"]): one["rows"] for one in rows}


def input_strata(table: StoredRows, step: Sample, key: bytes) -> InputStrata:
    """Return how many rows, or persons, of each stratum an input has."""
    marked, units = counted_units(table.frame, step, key, is_csv=table.is_csv)
    words = _with_words(table._replace(frame=marked), step.stratified_by, key)
    counts = words.groupBy(*ROW_WORDS).agg(units.alias("units"), F.count("*").alias("rows"))
    rows = counts.limit(MOST_STRATA + 1).collect()
    by_stratum = {(one[0], one[1]): one["units"] for one in rows}
    return InputStrata(sum(one["rows"] for one in rows), by_stratum)


def _with_words(table: StoredRows, names: Sequence[str], key: bytes) -> DataFrame:
    """Return a table with the words of the strata of its rows."""
    if not names:
        zeros = [F.lit(0).cast("long").alias(name) for name in ROW_WORDS]
        return table.frame.select("*", *zeros)
    ordered = sorted(names)

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in gather_tables(batches):
            columns = [part.column(name) for name in ordered]
            words = stratum_words(columns, key).view(np.int64)
            for place, name in enumerate(ROW_WORDS):
                part = part.append_column(name, from_numpy(words[:, place].copy()))  # noqa: PLW2901
            yield from part.to_batches()

    fields = [StructField(name, LongType()) for name in ROW_WORDS]
    return map_in_tasks(table.frame, put, StructType([*table.frame.schema.fields, *fields]))
