"""Predictions that a column of the table holds."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.guiding.labels import (
    MOST_CLASSES,
    encode_labels,
    read_labels,
    values_of,
)
from policy_engine.audits.guiding.targets import class_targets, number_targets
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations.decimals import is_number
from policy_engine.errors import DataError

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ColumnFitting:
    """Predictions in a column, of a label.

    Texts and truth values are predicted classes, and so are numbers where the label has more than
    two classes and all are one of them; others are probabilities, scores or predicted quantities,
    which all serve alike: how they are scaled does not matter.
    """

    column: str
    label: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The predictions and the labels."""
        return tuple(dict.fromkeys((self.column, self.label)))

    @property
    def is_about_values(self) -> bool:
        """Which predictions and labels occur decides what they are, and how often each does."""
        return True

    def fit(self, table: pa.Table, times: Ints | None = None) -> "GuidingColumn":
        """Return how predictions become targets. Raises DataError (R017) where some are missing, or
        cannot be understood."""
        labels = read_labels(table, self.label, times)
        column = encode_labels(table, self.column, "guide", times)
        if not _are_numbers(column):
            names = tuple(column.labels.tolist())
            if len(names) > MOST_CLASSES:
                message = f"The guide {self.column!r} predicts {len(names):,} classes. "
                hint = "A guide holds predicted classes, or numbers."
                raise DataError.of("R017", f"{message}Allowed are {MOST_CLASSES}.", hint)
            return GuidingColumn(self.column, names)
        values, counts = values_of(column, self.column), column.counts()
        own = {float(one) for one in labels.classes if is_number(one)}
        if len(labels.classes) > 2 and set(values.tolist()) <= own:
            return GuidingColumn(self.column, tuple(column.labels.tolist()))
        # By the distinct values, so that the order of rows does not round sums otherwise.
        mean = float(np.average(values, weights=counts))
        deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))
        return GuidingColumn(self.column, mean=mean, deviation=deviation)


@dataclass(frozen=True)
class GuidingColumn:
    """How the predictions of a column become targets: classes, or numbers on a scale."""

    column: str
    classes: tuple[str, ...] = ()
    mean: float = 0.0
    deviation: float = 1.0

    @property
    def columns(self) -> tuple[str, ...]:
        """The predictions."""
        return (self.column,)

    def targets(self, table: pa.Table) -> NDArray[np.int64]:
        """Return the targets of rows, (rows, targets)."""
        column = encode_labels(table, self.column, "guide")
        if self.classes:
            place = {name: number for number, name in enumerate(self.classes)}
            numbers = np.array([float(place[label]) for label in column.labels])
            return class_targets(numbers[column.codes], len(self.classes))
        values = values_of(column, self.column)[column.codes]
        return number_targets(values, self.mean, self.deviation)


def _are_numbers(column: ColumnCodes) -> bool:
    return column.is_ordered and all(map(is_number, column.labels[:1]))
