"""Values that an output has as they are in its input, on Spark: `masking/kept_values.py`."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.pandas.types import to_arrow_type

from policy_engine.engines.masking.kept_values import are_comparable
from policy_engine.engines.masking.sampling import MOST_STRATA
from policy_engine.engines.spark.masking import ROW_WORDS, StoredRows, with_words
from policy_engine.engines.spark.sampling import counted_units
from policy_engine.engines.spark.values import quote_name
from policy_engine.engines.strata import InputStrata, SampledRows
from policy_engine.plan.steps import Sample


def shared_names(table: DataFrame, output: DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of some columns whose values can be compared in an input and an output."""
    kinds = [
        {field.name: to_arrow_type(field.dataType) for field in frame.schema.fields}
        for frame in (table, output)
    ]
    before, after = kinds
    both = before.keys() & after.keys()
    return tuple(one for one in names if one in both and are_comparable(before[one], after[one]))


def strange_rows(
    table: StoredRows, output: StoredRows, names: Sequence[str], key: bytes, present: str = ""
) -> int:
    """Return how many rows of an output have values that no row of its input has, or more often."""
    names = shared_names(table.frame, output.frame, [*names, *filter(None, [present])])
    if not names:
        return 0
    if present:
        shown = F.col(quote_name(present)).isNotNull()
        output = output._replace(frame=output.frame.where(shown))
    rows, others = (with_words(one, names, key).select(*ROW_WORDS) for one in (table, output))
    return others.exceptAll(rows).count()


def sampled_rows(output: StoredRows, step: Sample, names: Sequence[str], key: bytes) -> SampledRows:
    """Return the rows of an output by stratum, as some columns tell it, and weight."""
    weight = F.lit(None).cast("double")
    if step.weight_column:
        weight = F.expr(f"try_cast({quote_name(step.weight_column)} AS double)")
    found = _with_words(output, names, key).groupBy(*ROW_WORDS, weight.alias("weight"))
    rows = found.agg(F.count("*").alias("rows")).limit(MOST_STRATA + 1).collect()
    return {((one[0], one[1]), one["weight"]): one["rows"] for one in rows}


def input_strata(table: StoredRows, step: Sample, key: bytes) -> InputStrata:
    """Return how many rows, or persons, of each stratum an input has."""
    marked, units = counted_units(table.frame, step, key, is_csv=table.is_csv)
    words = _with_words(table._replace(frame=marked), step.stratified_by, key)
    counts = words.groupBy(*ROW_WORDS).agg(units.alias("units"), F.count("*").alias("rows"))
    found = counts.limit(MOST_STRATA + 1).collect()
    by_stratum = {(one[0], one[1]): one["units"] for one in found}
    return InputStrata(sum(one["rows"] for one in found), by_stratum)


def _with_words(table: StoredRows, names: Sequence[str], key: bytes) -> DataFrame:
    if names:
        return with_words(table, sorted(names), key)
    zeros = [F.lit(0).cast("long").alias(name) for name in ROW_WORDS]
    return table.frame.select("*", *zeros)
