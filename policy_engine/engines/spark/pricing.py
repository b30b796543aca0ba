"""What the cells of an output cost: each priced where it lies, and summed there."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import to_numpy, unchunk
from policy_engine.engines.generalizations import losses
from policy_engine.engines.generalizations.sketches import is_of_sets, members, sketch
from policy_engine.engines.spark.failures import carrying
from policy_engine.engines.spark.values import Task, gathered, in_tasks
from policy_engine.kernels.grouping import exact_loss, rounded_loss
from policy_engine.methods.columns import PERTURBATIVE, QuasiIdentifier
from policy_engine.plan.steps import Anonymize

Cells = Sequence[str | None]
Sketches = Mapping[int, Cells]


def total_losses(
    cells: DataFrame, step: Anonymize, taxonomies: Mapping[str, Taxonomy]
) -> dict[str, float | None]:
    """Return the certainty penalty of every quasi-identifier, summed over the rows.

    `cells` holds the `place` of a column, a `cell` of it and in how many rows it stands, `times`;
    a cell may come again. The sums are those of `kernels.grouping.total_loss` to the last bit.
    What the driver holds is a few cells for each task and, of columns of sets, their values.
    """
    asked = step.columns.quasi_identifier
    sketches = _sketches(cells, asked)
    told = in_tasks(cells, _pricing(step, taxonomies, sketches), "place int, loss string")
    sums = dict.fromkeys(range(len(asked)), 0)
    for one in told.toArrow().to_pylist():
        sums[one["place"]] += int(one["loss"])
    return {
        one.name: None if one.generalization in PERTURBATIVE else rounded_loss(sums[place])
        for place, one in enumerate(asked)
    }


def _sketches(cells: DataFrame, asked: Sequence[QuasiIdentifier]) -> Sketches:
    """Return the cells by which those of each column are priced."""
    found = _collected(cells, lambda place, texts: sketch(asked[place], texts))
    found = {place: sketch(asked[place], texts) for place, texts in found.items()}
    sets = {place for place, texts in found.items() if is_of_sets(asked[place], texts)}
    if sets:
        values = _collected(
            cells, lambda place, texts: members(asked[place], texts) if place in sets else []
        )
        found |= {place: [*found[place], *texts] for place, texts in values.items()}
    return found


def _collected(
    cells: DataFrame, chosen: Callable[[int, Cells], Cells]
) -> dict[int, list[str | None]]:
    """Return by column what is chosen of its cells in each task."""

    @carrying
    def choose(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place, table in _by_column(batches):
            texts = pa.array(chosen(place, table.column("cell").to_pylist()), pa.string())
            places = pa.repeat(pa.scalar(place, pa.int32()), len(texts))
            yield pa.record_batch([places, texts], names=["place", "cell"])

    told = in_tasks(cells, choose, "place int, cell string").distinct().toArrow()
    found: dict[int, list[str | None]] = {}
    for place, text in zip(*(column.to_pylist() for column in told.columns), strict=True):
        found.setdefault(place, []).append(text)
    return found


def _pricing(step: Anonymize, taxonomies: Mapping[str, Taxonomy], sketches: Sketches) -> Task:
    """Return a task that sums what its cells cost."""
    asked, wildcard = step.columns.quasi_identifier, step.recoding.missing == "wildcard"

    @carrying
    def price(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place, table in _by_column(batches):
            column, texts = asked[place], table.column("cell").to_pylist()
            among = [*texts, *sketches.get(place, [])]
            taxonomy = taxonomies.get(column.taxonomy)
            loss = losses(column.name, among, column, taxonomy, wildcard=wildcard)
            if loss is not None:
                times = to_numpy(unchunk(table.column("times")))
                total = exact_loss(loss[: len(texts)], times.astype(np.int64))
                yield pa.record_batch([pa.array([place], pa.int32()), [str(total)]], _NAMES)

    return price


_NAMES = ["place", "loss"]


def _by_column(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """Yield the cells of a task, of one column after the other."""
    tables = list(gathered(batches))
    if not tables:
        return
    table = pa.concat_tables(tables)
    places = to_numpy(unchunk(table.column("place")))
    for place in np.unique(places).tolist():
        yield place, table.filter(pa.array(places == place))
