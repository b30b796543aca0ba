"""Every bound measured on an output by the cluster: each class whole in one task.

It forms the classes anew from the cells as they are read back, and shares nothing with what
cut them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.encoding import Encoded, ancestry
from policy_engine.engines.engine import Measured
from policy_engine.engines.reading_back import cell_column, columns_of, texts_of
from policy_engine.engines.spark.coding import PERSON, persons_by_code
from policy_engine.engines.spark.failures import carrying
from policy_engine.engines.spark.pricing import total_losses
from policy_engine.engines.spark.values import (
    Lookup,
    Task,
    distinct_values,
    gathered,
    in_tasks,
    quoted,
)
from policy_engine.errors import DataError
from policy_engine.kernels.bounds import Ancestry
from policy_engine.kernels.grouping import ClassTotals, Groups, classes_of
from policy_engine.methods import Bound, Measurement
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]


def measure(
    frame: DataFrame,
    step: Anonymize,
    taxonomies: Mapping[str, Taxonomy],
    limit: int,
    tasks: int,
) -> Measured:
    """Return what is measured on the rows of an output; a column `PERSON` tells whose they are.

    Raises DataError (R001) where there are no rows, (R011) where sensitive columns have more
    than `limit` values, CertificateError (V002) on cells of no known shape.
    """
    sensitive = _sensitive(frame, step, taxonomies, limit)
    asked = _Asked(step, sensitive)
    names = step.columns.quasi_names
    cells = [quoted(column) for name in names for column in columns_of(name, frame.columns)]
    told = in_tasks(frame.repartition(tasks, *cells), _telling(asked), _TOLD).persist()
    try:
        figures = told.where("what != 'cell'").groupBy("what", "place")
        found = figures.agg(
            F.sum("times").alias("times"),
            F.min("figure").alias("least"),
            F.max("figure").alias("most"),
        ).toArrow()
        if not found.num_rows:
            raise DataError.of("R001", "The output has no rows.")
        losses = total_losses(
            told.where("what = 'cell'").select("place", "cell", "times"), step, taxonomies
        )
        return _together(found.to_pylist(), losses, step)
    finally:
        told.unpersist()


_TOLD = "what string, place int, cell string, times bigint, figure double"


def _together(
    told: list[dict[str, Any]], losses: Mapping[str, float | None], step: Anonymize
) -> Measured:
    """Return what all tasks told of their classes."""
    sums = {one["what"]: one["times"] for one in told}
    bounds = {one["place"]: one for one in told if one["what"] == "bound"}
    measured = [_measurement(bound, bounds[n]) for n, bound in enumerate(step.bounds())]
    whole_table = ClassTotals(sums["rows"], sums["classes"], sums["squares"], losses)
    return Measured(tuple(measured), whole_table)


def _measurement(bound: Bound, told: Mapping[str, Any]) -> Measurement:
    achieved = told["least" if bound.sense == "at least" else "most"]
    return Measurement(
        bound=bound.name,
        column=bound.column,
        sense=bound.sense,
        asked=bound.asked,
        # Of whole numbers, every task told that they are.
        achieved=int(achieved) if told["times"] else achieved,
    )


@dataclass(frozen=True)
class _Sensitive:
    """The codes of sensitive columns, how often each value occurs in all, and their taxonomies."""

    lookups: Mapping[str, Lookup]
    overall: Mapping[str, Ints]
    ancestries: Mapping[str, Ancestry]


def _sensitive(
    frame: DataFrame, step: Anonymize, taxonomies: Mapping[str, Taxonomy], limit: int
) -> _Sensitive:
    # Only what a bound is about need be told apart.
    asked = {one.name: one.taxonomy for one in step.columns.sensitive if step.about(one.name)}
    lookups, overall, ancestries = {}, {}, {}
    counted = distinct_values(frame, list(asked), limit).values if asked else {}
    for name, found in counted.items():
        encoded = found.encoded(name)
        lookups[name] = Lookup.of(found, encoded.values())
        overall[name] = _overall(frame, name, lookups[name], encoded)
        if asked[name]:
            ancestries[name] = ancestry(name, encoded, taxonomies[asked[name]])
    return _Sensitive(lookups, overall, ancestries)


def _overall(frame: DataFrame, name: str, lookup: Lookup, encoded: Encoded) -> Ints:
    """Return how many rows, or persons, have each value of a column, (values,)."""
    counts = encoded.counts()
    count = int(encoded.values().max(initial=-1)) + 1
    if PERSON not in frame.columns:
        return counts[len(counts) - count :]
    chosen = frame.select(PERSON, quoted(name))
    coded = in_tasks(chosen, _coding(name, lookup), f"{PERSON} string, code int")
    return persons_by_code(coded, "code", count)


def _coding(name: str, lookup: Lookup) -> Task:
    @carrying
    def code(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            codes = from_numpy(lookup.look_up(unchunk(table.column(name))))
            columns = [table.column(PERSON), codes]
            yield from pa.table(columns, names=[PERSON, "code"]).to_batches()

    return code


@dataclass(frozen=True)
class _Asked:
    """What tasks are asked: all bounds of a step."""

    step: Anonymize
    sensitive: _Sensitive

    def groups(self, table: pa.Table, cells: Sequence[NDArray[np.int32]]) -> Groups:
        """Return the classes of some rows, which hold each class whole or not at all."""
        class_of, count = classes_of(cells)
        persons, told = None, self.sensitive
        if PERSON in table.column_names:
            met = unchunk(table.column(PERSON)).dictionary_encode()
            persons = to_numpy(met.indices, missing=len(met.dictionary)).astype(np.int64)
        codes = {
            name: one.look_up(unchunk(table.column(name))) for name, one in told.lookups.items()
        }
        return Groups(
            *(class_of, count, codes),
            loss={},
            ancestries=told.ancestries,
            persons=persons,
            overall=told.overall,
        )


def _telling(asked: _Asked) -> Task:
    """Return a task that tells of its classes: their number, cells, and the worst of each bound."""

    @carrying
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = list(gathered(batches))
        if tables:
            yield from _told(asked, pa.concat_tables(tables)).to_batches()

    return tell


def _told(asked: _Asked, table: pa.Table) -> pa.Table:
    read = [texts_of(name, cell_column(table, name)) for name in asked.step.columns.quasi_names]
    groups = asked.groups(table, [rows for rows, _ in read])
    whole_table = groups.class_totals()
    told: list[tuple[str, int | None, int, float | None]] = [
        ("rows", None, whole_table.rows, None),
        ("classes", None, whole_table.classes, None),
        ("squares", None, whole_table.squares, None),
    ]
    for place, one in enumerate(asked.step.measure(groups, groups.ancestries)):
        is_whole = isinstance(one.achieved, int)
        told.append(("bound", place, int(is_whole), float(one.achieved)))
    what, places, times, figures = zip(*told, strict=True)
    parts = [_rows_told(what, places, [None] * len(told), times, figures)]
    for place, (rows, texts) in enumerate(read):
        count = len(texts)
        counts = np.bincount(rows, minlength=count)
        parts.append(_rows_told(["cell"] * count, [place] * count, texts, counts, [None] * count))
    return pa.concat_tables(parts)


def _rows_told(*columns: Any) -> pa.Table:
    made = [pa.array(column, kind) for column, kind in zip(columns, _TYPES, strict=True)]
    return pa.table(made, names=["what", "place", "cell", "times", "figure"])


_TYPES = (pa.string(), pa.int32(), pa.string(), pa.int64(), pa.float64())
