"""Classes of near rows, each of which is published as one value of every quasi-identifier."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import read_cell
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.generalizations.decimals import is_number
from policy_engine.engines.generalizations.representatives import Means, Modes
from policy_engine.engines.preparation import PreparedTable
from policy_engine.kernels.grouping import classes_of
from policy_engine.kernels.microaggregation import (
    Attribute,
    dominated_classes,
    group_points,
    merge_until,
    mixed_points,
)
from policy_engine.kernels.microaggregation.merging import Holds
from policy_engine.kernels.mondrian import Partition
from policy_engine.methods.maskings.microaggregation import dominance_doubt
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]
Cells = Mapping[str, tuple[Ints, list[str | None]]]


@dataclass(frozen=True)
class NearClasses:
    """Classes in the order of what is published of them, with the cells of each quasi-identifier.

    `means` are the columns whose cells are means.
    """

    rows: Partition
    cells: Cells
    means: Mapping[str, Means]

    def doubts(self) -> Iterator[str]:
        """Yield the columns in which the mean of a class tells its largest value."""
        count = len(self.rows.starts) - 1
        groups = np.repeat(np.arange(count), np.diff(self.rows.starts))
        for name, column in self.means.items():
            dominated = dominated_classes(column.values()[self.rows.order], groups, count)
            if dominated:
                yield dominance_doubt(name, dominated, f"{count:,} classes")


def near_classes(prepared: PreparedTable, step: Anonymize, holds: Holds) -> NearClasses:
    """Return classes of k rows or more by MDAV, merged with the nearest until each of them `holds`.

    Merging is what makes them t-close, too (Soria-Comas, Domingo-Ferrer, Sanchez and Martinez,
    IEEE TKDE 27(11), 2015, algorithm 1). Classes with equal cells are one, as in the output.
    """
    points = _points(prepared, step)
    words = np.empty(prepared.rows, dtype=np.uint64)
    words[prepared.content_order()] = np.arange(prepared.rows, dtype=np.uint64)
    groups = group_points(points, step.k, words)
    while True:
        groups = merge_until(groups, points, holds, is_scaled=True)
        classes = _partition(groups)
        cells = {name: one.cells(classes) for name, one in prepared.quasi.items()}
        class_of, count = classes_of([cell.astype(np.int32) for cell, _ in cells.values()])
        if count == len(class_of):
            break
        groups = class_of[groups]
    return _sorted(groups, cells, prepared.quasi)


def _points(prepared: PreparedTable, step: Anonymize) -> NDArray[np.float64]:
    columns = zip(prepared.quasi.values(), step.columns.quasi_identifier, strict=True)
    return mixed_points([_attribute(one, setting.weight) for one, setting in columns])


def _attribute(generalizer: Generalizer, weight: float) -> Attribute:
    column = generalizer.column
    if isinstance(generalizer, Modes) and not column.is_ordered:
        return Attribute(column.codes, is_nominal=True, weight=weight)
    missing = column.codes == 0 if column.has_missing else None
    return Attribute(column.position[column.codes], missing=missing, weight=weight)


def _partition(groups: Ints) -> Partition:
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    return Partition(np.argsort(groups, kind="stable"), starts)


def _sorted(groups: Ints, cells: Cells, quasi: Mapping[str, Generalizer]) -> NearClasses:
    """Return classes in the order of their cells, so that it tells nothing else."""
    turn = np.lexsort([_ranks(texts)[cell] for cell, texts in reversed(list(cells.values()))])
    place = np.empty(len(turn), dtype=np.int64)
    place[turn] = np.arange(len(turn))
    return NearClasses(
        _partition(place[groups]),
        {name: (cell[turn], texts) for name, (cell, texts) in cells.items()},
        {name: one for name, one in quasi.items() if isinstance(one, Means)},
    )


def _ranks(texts: list[str | None]) -> Ints:
    """Return the place of every cell among the sorted ones, (cells,)."""
    order = sorted(range(len(texts)), key=lambda cell: _sort_key(texts[cell]))
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[order] = np.arange(len(texts))
    return ranks


def _sort_key(text: str | None) -> tuple[bool, float, str]:
    values = read_cell(text).values
    number = float(values[0]) if values and is_number(values[0]) else 0.0
    return text is None, number, text or ""
