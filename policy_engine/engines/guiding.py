"""The targets by which classes are cut, as hidden columns of the table that becomes classes."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.encoding import ColumnCodes

_TARGET = "policy_engine__target"
_MOST_NUMERIC_CLASSES = 20
"""Labels of more distinct numbers are quantities."""


class Guiding(Protocol):
    """What gives every row the targets by which it is classed; they follow from what it holds."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that targets follow from: rows with equal cells there have equal ones."""
        ...

    def targets(self, table: pa.Table) -> NDArray[np.int64]:
        """Return the targets of rows, (rows, targets), as `guided_partition` takes them.

        The table holds every cell that occurs in those columns: it tells their type.
        """
        ...


class GuideFitting(Protocol):
    """What learns, from the table that becomes classes, how its rows are classed."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that it learns from, and that the targets follow from."""
        ...

    @property
    def is_about_values(self) -> bool:
        """Whether it learns from values, and how often they occur, rather than from rows."""
        ...

    def fit(self, table: pa.Table, times: NDArray[np.int64] | None = None) -> Guiding:
        """Return what it learns from those columns of all rows, in any order of them.

        Every row occurs once, or so many `times`, (rows,).
        """
        ...


def with_targets(table: pa.Table, targets: NDArray[np.int64]) -> pa.Table:
    """Return a table with the targets of its rows, (rows, targets), in hidden columns."""
    for number in range(targets.shape[1]):
        column = from_numpy(np.ascontiguousarray(targets[:, number]))
        table = table.append_column(f"{_TARGET}{number}", column)
    return table


def target_columns(names: Sequence[str]) -> list[str]:
    """Return the hidden columns of targets among some columns."""
    return [name for name in names if name.startswith(_TARGET)]


def targets_in(table: pa.Table) -> NDArray[np.int64] | None:
    """Return the targets of the rows of a table, (rows, targets), None where it has none."""
    names = target_columns(table.column_names)
    columns: list[NDArray[Any]] = [to_numpy(unchunk(table.column(name))) for name in names]
    return np.column_stack(columns).astype(np.int64) if columns else None


def is_quantity(column: ColumnCodes) -> bool:
    """Tell whether labels are quantities rather than classes: fractions, or many numbers."""
    from policy_engine.engines.generalizations.decimals import is_number  # noqa: PLC0415 (numba)

    labels = [label for label in column.labels.tolist() if label]
    if not labels or not column.is_ordered or not all(map(is_number, labels[:1])):
        return False
    return len(labels) > _MOST_NUMERIC_CLASSES or any(not float(one).is_integer() for one in labels)
