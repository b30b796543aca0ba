"""A column of labels, or of predictions: classes, or numbers."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.guiding import is_quantity
from policy_engine.errors import DataError, did_you_mean

MOST_CLASSES = 50
"""How many classes a label may have: there is a target for each."""
_UNUSABLE = "R017"
_LEAST = 1e-100
"""Of numbers between this and its inverse, squares and their sums are floats."""


@dataclass(frozen=True)
class ReadLabels:
    """Labels or predictions of rows, none of which is missing.

    `numbers` (rows,) count the `classes` from 0, in their order; without classes they are
    quantities.
    """

    numbers: NDArray[np.float64]
    classes: tuple[str, ...] = ()

    @property
    def is_constant(self) -> bool:
        """Whether all rows have one label."""
        return bool((self.numbers == self.numbers[:1]).all())


def read_labels(table: pa.Table, name: str, times: NDArray[np.int64] | None = None) -> ReadLabels:
    """Return the labels of a table, whose rows occur so many `times`, (rows,), if not once.

    Raises DataError (R017) where they are not classes, nor quantities, or some are missing.
    """
    column = encode_labels(table, name, "label", times)
    if is_quantity(column):
        return ReadLabels(values_of(column, name)[column.codes])
    classes = column.labels.tolist()
    if len(classes) > MOST_CLASSES:
        message = f"The label {name!r} has {len(classes):,} classes. Allowed are {MOST_CLASSES}."
        raise DataError.of(_UNUSABLE, message, "Group them, or name another column as the label.")
    return ReadLabels(column.codes.astype(np.float64), tuple(classes))


def encode_labels(
    table: pa.Table, name: str, what: str, times: NDArray[np.int64] | None = None
) -> ColumnCodes:
    """Return a column in which no value is missing, as codes. Raises DataError (R017)."""
    if name not in table.column_names:
        message = f"There is no column {name!r}, the {what}."
        raise DataError.of(_UNUSABLE, message, did_you_mean(name, table.column_names))
    field = table.schema.field(name)
    column = encode(name, table.column(name), numbers=is_untyped(field), is_generalised=False)
    column = replace(column, times=times)
    counts = column.counts()
    missing = int(counts[column.labels == ""].sum())
    if missing:
        message = f"{missing:,} of {counts.sum():,} rows have nothing in {name!r}, the {what}."
        hint = "Fill it in, or leave these rows out: every row is classed by it."
        raise DataError.of(_UNUSABLE, message, hint)
    return column


def values_of(column: ColumnCodes, name: str) -> NDArray[np.float64]:
    """Return the number that each code stands for, (codes,), or as many times it as all others.

    Raises DataError (R017).
    """
    values = np.array([float(label) for label in column.labels])
    infinite = int(column.counts()[~np.isfinite(values)].sum())
    if infinite:
        message = f"{infinite:,} numbers in {name!r} are infinite."
        raise DataError.of(_UNUSABLE, message, "Predictions and labels are finite.")
    return _squarable(values)


def _squarable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers whose squares a float can hold: as they are, if theirs are among them.

    Others are divided by a power of two, which rounds nothing.
    """
    greatest = float(np.abs(values).max(initial=0.0))
    if not greatest or _LEAST < greatest < 1 / _LEAST:
        return values
    return np.asarray(np.ldexp(values, -int(np.frexp(greatest)[1])))
