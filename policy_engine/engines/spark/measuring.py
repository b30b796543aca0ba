"""Measure every bound on an output with the cluster, each class in one task.

The classes are formed anew from the cells that are read back, by code that shares nothing with the
partitioner.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.data.catalog import MEMORY
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.encoding import ColumnCodes, ancestry
from policy_engine.engines.engine import StoredData, TableMeasurements
from policy_engine.engines.label_measuring import CodedLabel
from policy_engine.engines.permuted_moves import ClassMoves, checked_moves
from policy_engine.engines.reading_back import cell_column, cell_columns, class_mark, index_texts
from policy_engine.engines.spark.coding import PERSON, persons_by_code
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.permuted_rows import CLASS, class_numbers, stored_moves
from policy_engine.engines.spark.pricing import total_losses
from policy_engine.engines.spark.suppressing import least_matches
from policy_engine.engines.spark.values import (
    Lookup,
    Task,
    distinct_values,
    gather_tables,
    map_in_tasks,
    quote_name,
)
from policy_engine.errors import DataError
from policy_engine.kernels.bounds import Ancestry
from policy_engine.kernels.class_permutations import Unmoved
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.grouping import ClassTotals, Groups, classes_of, first_rows
from policy_engine.kernels.label_disclosure import LabelDisclosure, LabelTally
from policy_engine.methods import Bound, Measurement
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]


def measure(
    frame: DataFrame,
    step: Anonymize,
    taxonomies: Mapping[str, Taxonomy],
    limit: int,
    tasks: int,
    *,
    untyped: Collection[str] = (),
) -> TableMeasurements:
    """Return what is measured on an output, whose column `PERSON`, if any, identifies persons.

    The texts of `untyped` columns are cells of a file without types. Raises DataError (R001) where
    it has no rows, (R011) where sensitive columns have more than `limit` values, CertificateError
    (V002) for cells that are not a range, set or value.
    """
    if not step.models:
        return _measure_one_class(frame)
    sensitive = _sensitive(frame, step, taxonomies, limit)
    bounds = _MeasuredBounds(step, sensitive)
    classes = [quote_name(name) for name in _class_columns(step, frame.columns)]
    label = _label(frame, step, limit, untyped)
    figures_by_task = map_in_tasks(
        frame.repartition(tasks, *classes),
        _measuring_task(bounds, label if isinstance(label, _Label) else None),
        _FIGURES_SCHEMA,
    ).persist()
    try:
        is_figure = "what not in ('cell', 'label', 'moves')"
        figures = figures_by_task.where(is_figure).groupBy("what", "place")
        totals = figures.agg(
            F.sum("times").alias("times"),
            F.min("figure").alias("least"),
            F.max("figure").alias("most"),
        ).toArrow()
        if not totals.num_rows:
            raise DataError.of("R001", "The output has no rows.")
        cells = figures_by_task.where("what = 'cell'").select("place", "cell", "times")
        losses: Mapping[str, float | None] = dict.fromkeys(step.columns.quasi_names)
        losses = losses if step.is_permuted else total_losses(cells, step, taxonomies)
        least = least_matches(frame, step, limit) if step.recoding.has_overlapping_classes else None
        measured = _merge_figures(totals.to_pylist(), losses, step, least)
        moves = _read_moves(figures_by_task, step, frame) if step.is_permuted else None
        return replace(measured, label=_disclosure(figures_by_task, label), moves=moves)
    finally:
        figures_by_task.unpersist()


def _class_columns(step: Anonymize, names: Sequence[str]) -> list[str]:
    """Return the columns of a frame that tell its classes apart: of cells, or what is hidden."""
    if step.is_permuted:
        return [CLASS]
    return [column for name in step.columns.quasi_names for column in cell_columns(name, names)]


def _read_moves(figures: DataFrame, step: Anonymize, frame: DataFrame) -> Unmoved:
    """Return how many rows of a frame are as they were. Raises as `checked_moves` does."""
    texts = figures.where("what = 'moves'").select("cell").toArrow().column(0).to_pylist()
    persons = frame.select(PERSON).distinct().count() if step.columns.privacy_unit else None
    return checked_moves([ClassMoves.from_json(text) for text in texts], step, persons)


def _measure_one_class(frame: DataFrame) -> TableMeasurements:
    """Return the totals of all rows as one class, of which nothing is measured."""
    rows = frame.count()
    if not rows:
        raise DataError.of("R001", "The output has no rows.")
    return TableMeasurements((), ClassTotals(rows, 1, rows * rows, {}, rows, rows))


_HALF = 32
"""A mark is told in two halves of so many bits, whose sums have 64."""
_FIGURES_SCHEMA = "what string, place int, cell string, times bigint, figure double"


def _merge_figures(
    totals: list[dict[str, Any]],
    losses: Mapping[str, float | None],
    step: Anonymize,
    least: int | None,
) -> TableMeasurements:
    """Return the measurements of all tasks together; k is the `least` number of matches, if it is
    given."""
    sums = {total["what"]: total["times"] for total in totals}
    bounds = {total["place"]: total for total in totals if total["what"] == "bound"}
    measurements = [_measurement(bound, bounds[n]) for n, bound in enumerate(step.class_bounds())]
    if least is not None:
        measurements = [Measurement.of(one, np.array([least])) for one in step.class_bounds()]
    [sizes] = (total for total in totals if total["what"] == "sizes")
    whole_table = ClassTotals(
        sums["rows"],
        sums["classes"],
        sums["squares"],
        losses,
        smallest=int(sizes["least"]),
        largest=int(sizes["most"]),
    )
    halves = {total["place"]: total["times"] for total in totals if total["what"] == "mark"}
    mark = (halves[0] + (halves[1] << _HALF)) % 2**64 if halves else None
    return TableMeasurements(tuple(measurements), whole_table, mark)


def _measurement(bound: Bound, total: Mapping[str, Any]) -> Measurement:
    achieved = total["least" if bound.sense == "at least" else "most"]
    return Measurement(
        bound=bound.name,
        column=bound.column,
        sense=bound.sense,
        asked=bound.asked,
        # `times` is 1 for every task that measured an integer.
        achieved=int(achieved) if total["times"] else achieved,
    )


@dataclass(frozen=True)
class _Sensitive:
    """The codes of sensitive columns, how often each value occurs, and their taxonomies."""

    lookups: Mapping[str, Lookup]
    overall: Mapping[str, Ints]
    ancestries: Mapping[str, Ancestry]


def _sensitive(
    frame: DataFrame, step: Anonymize, taxonomies: Mapping[str, Taxonomy], limit: int
) -> _Sensitive:
    # Only columns with a bound need codes.
    taxonomy_names = {
        column.name: column.taxonomy
        for column in step.columns.sensitive
        if step.models_about(column.name)
    }
    lookups, overall, ancestries = {}, {}, {}
    counted = distinct_values(frame, list(taxonomy_names), limit).values if taxonomy_names else {}
    for name, values in counted.items():
        codes = values.encode_sensitive(name)
        lookups[name] = Lookup.of(values, codes.values())
        overall[name] = _overall(frame, name, lookups[name], codes)
        if taxonomy_names[name]:
            ancestries[name] = ancestry(name, codes, taxonomies[taxonomy_names[name]])
    return _Sensitive(lookups, overall, ancestries)


def _overall(frame: DataFrame, name: str, lookup: Lookup, codes: ColumnCodes) -> Ints:
    """Return how many rows, or persons, have each value of a column, (values,)."""
    counts = codes.counts()
    count = int(codes.values().max(initial=-1)) + 1
    if PERSON not in frame.columns:
        return counts[len(counts) - count :]
    person_values = frame.select(PERSON, quote_name(name))
    coded_values = map_in_tasks(
        person_values, _coding_task(name, lookup), f"{PERSON} string, code int"
    )
    return persons_by_code(coded_values, "code", count)


@dataclass(frozen=True)
class _Label:
    """The label of accuracy-guided classes: the codes of its values, and what they are."""

    name: str
    lookup: Lookup
    coded: CodedLabel

    def tally(self, table: pa.Table, class_of: Ints, count: int) -> LabelTally:
        """Return what is counted in the classes of a task's rows."""
        codes = self.lookup.look_up(unchunk(table.column(self.name)))
        return LabelTally.of(class_of, count, codes, self.coded.numbers)


def _label(
    frame: DataFrame, step: Anonymize, limit: int, untyped: Collection[str]
) -> _Label | NotApplicable | None:
    """Return the label, None where there is none; why it is not counted, where it has more values
    than the driver holds."""
    if step.recoding.guide is None:
        return None
    name = step.recoding.guide.label
    values = distinct_values(frame, [name], limit, may_be_wide=[name]).values.get(name)
    if values is None:
        return NotApplicable(reason=f"the label has more than {limit:,} values")
    column = values.encode_kept(name, numbers=name in untyped)
    return _Label(name, Lookup.of(values, column.values()), CodedLabel.of(column))


def _disclosure(
    figures: DataFrame, label: _Label | NotApplicable | None
) -> LabelDisclosure | NotApplicable | None:
    """Return what the classes of all tasks together disclose of the label."""
    if not isinstance(label, _Label):
        return label
    tallies = figures.where("what = 'label'").select("cell").toArrow().column(0).to_pylist()
    return label.coded.disclosure(sum(map(_read_tally, tallies), LabelTally()))


def _write_tally(tally: LabelTally) -> str:
    # The sums may have more digits than a number of Spark's.
    return json.dumps(asdict(tally))


def _read_tally(text: str) -> LabelTally:
    facts = json.loads(text)
    by_size = {int(size): squares for size, squares in facts.pop("squares_by_size").items()}
    return LabelTally(**facts, squares_by_size=by_size)


def _coding_task(name: str, lookup: Lookup) -> Task:
    @carry_errors
    def code(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            codes = from_numpy(lookup.look_up(unchunk(table.column(name))))
            columns = [table.column(PERSON), codes]
            yield from pa.table(columns, names=[PERSON, "code"]).to_batches()

    return code


@dataclass(frozen=True)
class _MeasuredBounds:
    """The bounds of a step, for tasks to measure."""

    step: Anonymize
    sensitive: _Sensitive

    def groups(self, table: pa.Table, cells: Sequence[NDArray[np.int32]]) -> Groups:
        """Return the classes of rows that hold each of their classes entirely."""
        class_of, count = classes_of(cells)
        persons, sensitive = None, self.sensitive
        if PERSON in table.column_names:
            encoded = unchunk(table.column(PERSON)).dictionary_encode()
            persons = to_numpy(encoded.indices, missing=len(encoded.dictionary)).astype(np.int64)
        codes = {
            name: one.look_up(unchunk(table.column(name)))
            for name, one in sensitive.lookups.items()
        }
        return Groups(
            *(class_of, count, codes),
            loss={},
            ancestries=sensitive.ancestries,
            persons=persons,
            overall=sensitive.overall,
        )


def _measuring_task(bounds: _MeasuredBounds, label: _Label | None) -> Task:
    """Return a task that yields the number of its classes, their cells, the worst figure of each
    bound, and what its classes disclose of the label."""

    @carry_errors
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = list(gather_tables(batches))
        if tables:
            yield from _measure_rows(bounds, label, pa.concat_tables(tables)).to_batches()

    return tell


def _measure_rows(bounds: _MeasuredBounds, label: _Label | None, table: pa.Table) -> pa.Table:
    is_permuted, names = bounds.step.is_permuted, bounds.step.columns.quasi_names
    cells = () if is_permuted else names
    indexed = [index_texts(name, cell_column(table, name)) for name in cells]
    classes = [class_numbers(table)] if is_permuted else [rows for rows, _ in indexed]
    groups = bounds.groups(table, classes)
    whole_table = groups.class_totals()
    entries: list[tuple[str, int | None, int, float | None]] = [
        ("rows", None, whole_table.rows, None),
        ("classes", None, whole_table.classes, None),
        ("squares", None, whole_table.squares, None),
        ("sizes", None, 1, whole_table.smallest),
        ("sizes", None, 1, whole_table.largest),
    ]
    first = first_rows(groups.class_of, groups.count)
    mark = class_mark(bounds.step, indexed, first, groups.sizes())
    if mark is not None:
        entries += [("mark", 0, mark % 2**_HALF, None), ("mark", 1, mark >> _HALF, None)]
    for place, measurement in enumerate(bounds.step.measure(groups, groups.ancestries)):
        is_whole = isinstance(measurement.achieved, int)
        entries.append(("bound", place, int(is_whole), float(measurement.achieved)))
    what, places, times, figures = zip(*entries, strict=True)
    parts = [_figures_table(what, places, [None] * len(entries), times, figures)]
    if label is not None:
        tally = _write_tally(label.tally(table, groups.class_of, groups.count))
        parts.append(_figures_table(["label"], [None], [tally], [0], [None]))
    if is_permuted:
        moves = stored_moves(table, names, groups).to_json()
        parts.append(_figures_table(["moves"], [None], [moves], [0], [None]))
    for place, (rows, texts) in enumerate(indexed):
        count = len(texts)
        counts = np.bincount(rows, minlength=count)
        parts.append(
            _figures_table(["cell"] * count, [place] * count, texts, counts, [None] * count)
        )
    return pa.concat_tables(parts)


def _figures_table(*columns: Any) -> pa.Table:
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _FIGURES_TYPES, strict=True)]
    return pa.table(arrays, names=["what", "place", "cell", "times", "figure"])


_FIGURES_TYPES = (pa.string(), pa.int32(), pa.string(), pa.int64(), pa.float64())


@contextmanager
def cached_columns(
    table: DataFrame, stored: StoredData, step: Anonymize, *, all_columns: bool
) -> Iterator[DataFrame]:
    """Cache a stored table while it is measured, if measuring it takes several passes.

    Unless `all_columns` are compared, it has only those that are measured.
    """
    columns = step.columns
    bounded_columns = [cell.name for cell in columns.sensitive if step.models_about(cell.name)]
    bounded_columns += [step.recoding.guide.label] if step.recoding.guide else []
    passes = [*bounded_columns, *columns.hidden, columns.privacy_unit, not stored.rows]
    if stored.location == MEMORY or not step.models or not any(passes):
        yield table
        return
    if not all_columns:
        cells = [cell for name in columns.quasi_names for cell in cell_columns(name, table.columns)]
        used_columns = dict.fromkeys([*cells, *bounded_columns, *columns.hidden])
        table = table.select([quote_name(name) for name in used_columns])
    table.persist()
    try:
        yield table
    finally:
        table.unpersist()
