"""A sample of the rows of a frame: the rows that the local engine samples by the same key."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import DoubleType, LongType, StructField, StructType

from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.masking.perturbing import masking_key
from policy_engine.engines.masking.sampling import (
    MOST_STRATA,
    check_sample,
    check_strata,
    lasts_of_share,
    sizes_of,
    stratum_keys,
    unit_hashes,
    unit_keys,
    weights_of,
)
from policy_engine.engines.samples import SampleEvidence
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.masking import Hold, keys_of_rows, with_row_keys
from policy_engine.engines.spark.values import (
    gather_tables,
    map_in_tasks,
    quote_name,
    text_types,
)
from policy_engine.plan.steps import Sample

_UNIT = ("\ufffdhigh", "\ufffdlow")
_STRATUM = ("\ufffdstratumhigh", "\ufffdstratumlow")
_HASH, _LAST, _WEIGHT, _ROWS = "\ufffdhash", "\ufffdlast", "\ufffdweight", "\ufffdrows"
"""Columns for what is sampled, and how; no text that is read from a file is named so."""
_SIGN = np.uint64(2**63)


def sample_frame(
    frame: DataFrame, step: Sample, *, is_csv: bool, key: bytes | None, hold: Hold
) -> tuple[DataFrame, SampleEvidence]:
    """Return a sample of a frame, and what is known of it. Raises as `sample_table` does.

    `is_csv` means that its texts are cells of a file without types; `hold` caches a frame.
    """
    secret = masking_key(key)
    marked = hold(_marked(frame, step, secret, is_csv=is_csv))
    units = _units(marked, step)
    strata = _strata(marked, units, step)
    counts = np.array([one["units"] for one in strata], dtype=np.int64)
    sizes = sizes_of(step, counts)
    last = _signed(lasts_of_share(step, len(strata)))
    if sizes is not None:
        last = _last_hashes(units, strata, sizes)
    kept_units = _kept(units, strata, {_LAST: last})
    sampled = _counts_by_stratum(kept_units, strata)
    weights = weights_of(counts, sampled[:, 0])
    kept = _kept(marked, strata, {_LAST: last, _WEIGHT: weights})
    by_weight = kept.groupBy(_WEIGHT).agg(F.count("*").alias("rows")).collect()
    evidence = SampleEvidence(
        rows_in=sum(one["rows"] for one in strata),
        rows=sum(one["rows"] for one in by_weight),
        units_in=int(counts.sum()),
        units=int(sampled[:, 0].sum()),
        rows_of_units=int(sampled[:, 1].sum()),
        strata=len(strata),
        weights={one[_WEIGHT]: one["rows"] for one in by_weight},
    )
    check_sample(evidence, step)
    columns = [F.col(quote_name(name)) for name in frame.columns]
    columns += [F.col(_WEIGHT).alias(step.weight_column)] if step.weight_column else []
    return kept.select(columns), evidence


def rows_by_weight(frame: DataFrame, name: str) -> Mapping[float | None, int]:
    """Return the rows of a frame by weight, None for what is not a number."""
    weight = F.expr(f"try_cast({quote_name(name)} AS double)").alias("weight")
    rows = frame.select(weight).groupBy("weight").agg(F.count("*").alias("rows"))
    return {one["weight"]: one["rows"] for one in rows.limit(MOST_STRATA + 1).collect()}


def counted_units(
    frame: DataFrame, step: Sample, secret: bytes, *, is_csv: bool
) -> tuple[DataFrame, Column]:
    """Return a frame, and what counts the rows, or persons, of a group of its rows."""
    if not step.unit:
        return frame, F.count("*")
    marked = _marked(frame, step, secret, is_csv=is_csv)
    unit = [F.col(name).alias(f"{name}unit") for name in _UNIT]
    named = [F.col(quote_name(name)) for name in frame.columns]
    return marked.select(*named, *unit), F.count_distinct(*(f"{name}unit" for name in _UNIT))


def _marked(frame: DataFrame, step: Sample, secret: bytes, *, is_csv: bool) -> DataFrame:
    """Return a frame with the stratum, the unit and the hash of every row."""
    kind: pa.DataType | None = None
    names = list(frame.columns)
    keyed = frame if step.unit else with_row_keys(frame, names, secret)
    if step.unit:
        [kind] = text_types(frame.select(quote_name(step.unit)), numbers=is_csv).values()

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            units = (
                unit_keys(table, step, kind, secret) if step.unit else keys_of_rows(table, secret)
            )
            strata = stratum_keys(table, step, secret)
            words = [*units.keys.T, *strata.T, unit_hashes(units)]
            marked = table.select(names)
            for name, column in zip((*_UNIT, *_STRATUM, _HASH), words, strict=True):
                marked = marked.append_column(name, from_numpy(_signed(column)))
            yield from marked.to_batches()

    fields = [StructField(name, LongType()) for name in (*_UNIT, *_STRATUM, _HASH)]
    return map_in_tasks(keyed, put, StructType([*frame.schema.fields, *fields]))


def _signed(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return words as integers of Spark, in the same order."""
    return (np.ascontiguousarray(words) ^ _SIGN).view(np.int64)


def _units(marked: DataFrame, step: Sample) -> DataFrame:
    """Return what is sampled, rows or persons, each with its stratum, hash and number of rows."""
    if not step.unit:
        return marked.select(*_STRATUM, _HASH, F.lit(1).cast(LongType()).alias(_ROWS))
    grouped = marked.groupBy(*_UNIT, *_STRATUM, _HASH).agg(F.count("*").alias(_ROWS))
    return grouped.select(*_UNIT, *_STRATUM, _HASH, _ROWS)


def _strata(marked: DataFrame, units: DataFrame, step: Sample) -> list[Row]:
    """Return the strata with their units and rows, in the order of their keys."""
    grouped = units.groupBy(*_STRATUM)
    by_key = grouped.agg(F.count("*").alias("units"), F.sum(_ROWS).alias("rows"))
    strata = by_key.limit(MOST_STRATA + 1).collect()
    split = 0
    if step.unit and step.stratified_by:
        persons = marked.select(*_UNIT).distinct().count()
        split = sum(one["units"] for one in strata) - persons
    check_strata(len(strata), split, step)
    return sorted(strata, key=lambda one: (one[_STRATUM[0]], one[_STRATUM[1]]))


def _last_hashes(
    units: DataFrame, strata: Sequence[Row], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the greatest hash in the sample, for every stratum, (strata,)."""
    order = Window.partitionBy(*_STRATUM).orderBy(_HASH)
    ranked = units.select(*_STRATUM, _HASH, F.row_number().over(order).alias("rank"))
    with_sizes = _joined(ranked, strata, {"size": sizes})
    lasts = with_sizes.where("rank = size").select(*_STRATUM, _HASH).collect()
    by_stratum = {(one[0], one[1]): one[2] for one in lasts}
    return np.array([by_stratum[one[0], one[1]] for one in strata], dtype=np.int64)


def _kept(
    frame: DataFrame, strata: Sequence[Row], figures: Mapping[str, NDArray[np.generic]]
) -> DataFrame:
    """Return the rows of a frame whose hash is in the sample, with figures of their stratum."""
    joined = _joined(frame, strata, figures)
    return joined.where(F.col(_HASH) <= F.col(_LAST))


def _joined(
    frame: DataFrame, strata: Sequence[Row], figures: Mapping[str, NDArray[np.generic]]
) -> DataFrame:
    """Return a frame with figures of the stratum of every row."""
    fields = [StructField(name, LongType()) for name in _STRATUM]
    for name, figure in figures.items():
        is_float = np.issubdtype(figure.dtype, np.floating)
        fields.append(StructField(name, DoubleType() if is_float else LongType()))
    values = [figure.tolist() for figure in figures.values()]
    rows = [(one[0], one[1], *of_stratum) for one, *of_stratum in zip(strata, *values, strict=True)]
    table = frame.sparkSession.createDataFrame(rows, StructType(fields))
    return frame.join(F.broadcast(table), [*_STRATUM])


def _counts_by_stratum(kept: DataFrame, strata: Sequence[Row]) -> NDArray[np.int64]:
    """Return how many units, and rows of theirs, each stratum gives, (strata, 2)."""
    rows = kept.groupBy(*_STRATUM).agg(F.count("*"), F.sum(_ROWS)).collect()
    by_stratum = {(one[0], one[1]): (one[2], one[3]) for one in rows}
    return np.array([by_stratum.get((one[0], one[1]), (0, 0)) for one in strata], dtype=np.int64)
