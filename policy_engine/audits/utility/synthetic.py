"""How far a synthetic table is from its original: the distances of columns, and of their pairs."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from policy_engine.audits.utility.model import Classification, TableSide
from policy_engine.data.catalog import Dataset
from policy_engine.data.column_names import missing_columns
from policy_engine.engines import tables
from policy_engine.engines.engine import StoredData
from policy_engine.engines.statistics.contributions import (
    ABSENT,
    Integers,
    pair_counts,
    row_values,
)
from policy_engine.engines.statistics.row_cells import check_types
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.utility import total_variation
from policy_engine.plan.steps import AggregateStep


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SyntheticDistance(_Frozen):
    """The total variation between the values of one or two columns before and after.

    `kolmogorov` is the greatest difference of the shares of rows up to any number, of a column of
    numbers of a table whose rows are made up without noise; else None.
    """

    columns: tuple[str, ...]
    total_variation: float
    kolmogorov: float | None = None


class SyntheticComparison(_Frozen):
    """What a synthetic table has of its original.

    Under differential privacy, of the rows that have declared values; else of all, with how well
    a classifier learns from such rows.
    """

    release: TableSide
    original: TableSide
    columns: tuple[SyntheticDistance, ...]
    pairs: tuple[SyntheticDistance, ...]
    classification: Classification | NotApplicable = NotApplicable(
        reason="rows under differential privacy are made once"
    )

    @property
    def title(self) -> str:
        """What is compared with what, in a line."""
        return f"Comparison of {self.release.name}, which is synthetic, with {self.original.name}"

    @property
    def mean_total_variation(self) -> float:
        """The mean of that of all pairs of columns."""
        return float(np.mean([one.total_variation for one in self.pairs or self.columns]))


def compare_synthetic(release: Path, original: Path, step: AggregateStep) -> SyntheticComparison:
    """Return how far a synthetic table is from its original, which it does not tell by itself.

    Raises DataError where a table cannot be read, lacks a column (C005), has one without texts
    (C009), or has no row with declared values (R001).
    """
    own = [one.model_copy(update={"of": one.name}) for one in step.figures]
    after, release_side = _codes(release, step.model_copy(update={"figures": tuple(own)}))
    before, original_side = _codes(original, step)
    return SyntheticComparison(
        release=release_side,
        original=original_side,
        columns=tuple(_column_distances(step, before, after)),
        pairs=tuple(_pair_distances(step, before, after)),
    )


def _codes(path: Path, step: AggregateStep) -> tuple[list[Integers], TableSide]:
    """Return the places of the values of complete rows, by column, and which table it is."""
    names = tuple(dict.fromkeys(one.of for one in step.figures))
    table: pa.Table = tables.read_table(path)
    dataset = Dataset(
        iri=path.name, location=path.name, format="memory", columns=tuple(table.column_names)
    )
    if problems := list(missing_columns(names, dataset)):
        raise DataError(*problems)
    check_types(table.schema, names)
    values = row_values(table, step)
    complete = np.all([one != ABSENT for one in values], axis=0)
    if not complete.any():
        message = "The table has no row with a declared value in each column."
        raise DataError.of("R001", message, source=path.name)
    side = TableSide(name=path.name, digest=StoredData.from_file(path).digest, rows=table.num_rows)
    return [one[complete] for one in values], side


def _column_distances(
    step: AggregateStep, before: list[Integers], after: list[Integers]
) -> Iterator[SyntheticDistance]:
    for figure, old, new in zip(step.figures, before, after, strict=True):
        counts = [np.bincount(one, minlength=figure.options) for one in (old, new)]
        yield SyntheticDistance(columns=(figure.name,), total_variation=_distance(*counts))


def _pair_distances(
    step: AggregateStep, before: list[Integers], after: list[Integers]
) -> Iterator[SyntheticDistance]:
    counts = zip(pair_counts(before, step), pair_counts(after, step), strict=True)
    for (one, other), pair in zip(step.pairs, counts, strict=True):
        names = (step.figures[one].name, step.figures[other].name)
        distance = _distance(*(some[0] for some in pair))
        yield SyntheticDistance(columns=names, total_variation=distance)


def _distance(before: Integers, after: Integers) -> float:
    return total_variation(before / before.sum(), after / after.sum())
