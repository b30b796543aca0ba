"""Price the cells of an output in the tasks that hold them, and sum the losses."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import to_numpy, unchunk
from policy_engine.engines.generalizations import losses
from policy_engine.engines.generalizations.sketches import holds_sets, members, sketch
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.values import Task, gather_tables, map_in_tasks
from policy_engine.kernels.grouping import exact_loss, rounded_loss
from policy_engine.methods.columns import PERTURBATIVE, QuasiIdentifier
from policy_engine.plan.steps import Anonymize

Cells = Sequence[str | None]
Sketches = Mapping[int, Cells]


def total_losses(
    cells: DataFrame, step: Anonymize, taxonomies: Mapping[str, Taxonomy]
) -> dict[str, float | None]:
    """Return the certainty penalty of every quasi-identifier, summed over the rows.

    `cells` holds the `place` of a column, a `cell` of it and `times`, the number of rows with the
    cell; a cell may occur several times. The sums equal those of `kernels.grouping.total_loss` to
    the last bit. The driver holds a few cells from each task, and the values of columns of sets.
    """
    quasi_identifiers = step.columns.quasi_identifier
    sketches = _sketches(cells, quasi_identifiers)
    loss_rows = map_in_tasks(
        cells, _pricing_task(step, taxonomies, sketches), "place int, loss string"
    )
    sums = dict.fromkeys(range(len(quasi_identifiers)), 0)
    for row in loss_rows.toArrow().to_pylist():
        sums[row["place"]] += int(row["loss"])
    return {
        column.name: None if column.generalization in PERTURBATIVE else rounded_loss(sums[place])
        for place, column in enumerate(quasi_identifiers)
    }


def _sketches(cells: DataFrame, quasi_identifiers: Sequence[QuasiIdentifier]) -> Sketches:
    """Return, by column, the cells that suffice to price all of its cells."""
    sketches = _collect_cells(cells, lambda place, texts: sketch(quasi_identifiers[place], texts))
    sketches = {place: sketch(quasi_identifiers[place], texts) for place, texts in sketches.items()}
    sets = {
        place for place, texts in sketches.items() if holds_sets(quasi_identifiers[place], texts)
    }
    if sets:
        values = _collect_cells(
            cells,
            lambda place, texts: members(quasi_identifiers[place], texts) if place in sets else [],
        )
        sketches |= {place: [*sketches[place], *texts] for place, texts in values.items()}
    return sketches


def _collect_cells(
    cells: DataFrame, choose_cells: Callable[[int, Cells], Cells]
) -> dict[int, list[str | None]]:
    """Return, by column, the cells that `choose_cells` returns in each task."""

    @carry_errors
    def choose(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place, table in _group_by_column(batches):
            texts = pa.array(choose_cells(place, table.column("cell").to_pylist()), pa.string())
            places = pa.repeat(pa.scalar(place, pa.int32()), len(texts))
            yield pa.record_batch([places, texts], names=["place", "cell"])

    collected = map_in_tasks(cells, choose, "place int, cell string").distinct().toArrow()
    cells_by_column: dict[int, list[str | None]] = {}
    for place, text in zip(*(column.to_pylist() for column in collected.columns), strict=True):
        cells_by_column.setdefault(place, []).append(text)
    return cells_by_column


def _pricing_task(step: Anonymize, taxonomies: Mapping[str, Taxonomy], sketches: Sketches) -> Task:
    """Return a task that sums the losses of its cells."""
    quasi_identifiers, wildcard = step.columns.quasi_identifier, step.recoding.missing == "wildcard"

    @carry_errors
    def price(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place, table in _group_by_column(batches):
            column, texts = quasi_identifiers[place], table.column("cell").to_pylist()
            all_texts = [*texts, *sketches.get(place, [])]
            taxonomy = taxonomies.get(column.taxonomy)
            loss = losses(column.name, all_texts, column, taxonomy, wildcard=wildcard)
            if loss is not None:
                times = to_numpy(unchunk(table.column("times")))
                total = exact_loss(loss[: len(texts)], times.astype(np.int64))
                yield pa.record_batch([pa.array([place], pa.int32()), [str(total)]], _NAMES)

    return price


_NAMES = ["place", "loss"]


def _group_by_column(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """Yield the cells of a task, one column after the other."""
    tables = list(gather_tables(batches))
    if not tables:
        return
    table = pa.concat_tables(tables)
    places = to_numpy(unchunk(table.column("place")))
    for place in np.unique(places).tolist():
        yield place, table.filter(pa.array(places == place))
