"""A model learns the label from the table itself, and says of every row what it predicts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.guiding.labels import ReadLabels, read_labels
from policy_engine.audits.guiding.targets import (
    class_targets,
    number_targets,
    probability_targets,
)
from policy_engine.audits.guiding.teachers import BoostedTeacher, DescribedTeacher, Teacher
from policy_engine.engines.arrays import from_numpy, unchunk
from policy_engine.engines.contents import row_marks
from policy_engine.engines.number_lists import is_array_of_numbers
from policy_engine.engines.readings import record_marks
from policy_engine.errors import DataError, format_count
from policy_engine.methods.guide import Guide

Ints = NDArray[np.int64]

FOLDS = 5
"""Into how many parts rows are divided: of each, models predict that learnt from the others."""
MOST_ROWS = 200_000
"""From how many rows a model learns at most: those with the least hashes, which are as good as
random."""


@dataclass(frozen=True)
class TeacherFitting:
    """A model that a guide names, or the default, which learns the label from `features`."""

    guide: Guide
    features: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The features and the label."""
        return (*self.features, self.guide.label)

    @property
    def is_about_values(self) -> bool:
        """A model learns from rows."""
        return False

    def fit(self, table: pa.Table, times: Ints | None = None) -> "GuidingModel":
        """Return the models that learnt from a table.

        Rows come in an order that follows from their features, and so do the parts that they are
        divided into: the order of rows decides nothing, and rows with equal features are predicted
        by one model that saw none of them. Raises DataError where labels (R017) are not usable or a
        model cannot be trained (R018), and the errors of the teacher.
        """
        if times is not None:
            table = table.take(from_numpy(np.repeat(np.arange(len(times)), times)))
        names = [one for one in self.features if not _is_array(table, one)]
        if not names:
            message = f"There is no column to predict {self.guide.label!r} from."
            raise DataError.of("R018", message, "Name quasi-identifiers, or predictions.")
        labels = read_labels(table, self.guide.label)
        if labels.is_constant:
            return GuidingModel(self.guide, tuple(names), labels)
        marks = record_marks(table, names)
        rows = np.lexsort((labels.numbers, marks))[:MOST_ROWS]
        own = ReadLabels(labels.numbers[rows], labels.classes)
        self._check(own)
        lots = self._lots(marks[rows])
        teacher = self._teacher(table.select([*names, self.guide.label]).take(rows), own, lots)
        return GuidingModel(self.guide, tuple(names), own, teacher)

    def _check(self, labels: ReadLabels) -> None:
        """Raise DataError (R018) where models of parts of the rows would not know some classes, or
        the model knows classes alone."""
        if not labels.classes:
            if self.guide.architecture is not None:
                message = f"The label {self.guide.label!r} holds quantities, and the guide is a "
                message += "classifier."
                hint = "Leave pe:guide out: a boosted regression is the default."
                raise DataError.of("R018", message, hint)
            return
        counts = np.bincount(labels.numbers.astype(np.int64), minlength=len(labels.classes))
        rare = counts[counts < FOLDS]
        if self.guide.labels == "soft" and len(rare):
            fewest = format_count(int(rare.min()), "row")
            message = f"{len(rare):,} of the {len(counts):,} classes of {self.guide.label!r} "
            message += f"{'has' if len(rare) == 1 else 'have'} fewer than {FOLDS} rows, the rarest "
            message += f"{fewest}: models cannot learn them from some rows and predict others."
            hint = "Merge rare classes, leave them out, or ask for pe:guideLabels eq 'hard'."
            raise DataError.of("R018", message, hint)

    def _lots(self, marks: NDArray[np.uint64]) -> Sequence[Ints]:
        """Return the rows that each model learns from."""
        if self.guide.labels == "hard":
            return [np.arange(len(marks))]
        folds = folds_of(marks)
        lots = [np.flatnonzero(folds != fold) for fold in range(FOLDS)]
        # Rows that are all of one part have nothing to be predicted from but themselves.
        return [lot if len(lot) else np.arange(len(marks)) for lot in lots]

    def _teacher(self, table: pa.Table, labels: ReadLabels, lots: Sequence[Ints]) -> Teacher:
        architecture = self.guide.architecture
        if architecture is None:
            names = [name for name in table.column_names if name != self.guide.label]
            return BoostedTeacher.train(table, names, labels, lots)
        return DescribedTeacher.train(table, self.guide.label, architecture, lots)


@dataclass(frozen=True)
class GuidingModel:
    """Models that learnt from the rows with `labels`; none where all labels are equal."""

    guide: Guide
    features: tuple[str, ...]
    labels: ReadLabels
    teacher: Teacher | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The features."""
        return self.features

    def targets(self, table: pa.Table) -> NDArray[np.int64]:
        """Return the targets of rows, (rows, targets), which follow from their features alone."""
        if self.teacher is None:
            return np.zeros((table.num_rows, 1), dtype=np.int64)
        if self.guide.architecture is None:
            return self._targets(self.teacher, table)
        # What a network says of a row depends, in its last bits, on the rows beside it: these are
        # the same ones in the same order wherever the rows come from.
        marks = row_marks(map(unchunk, map(table.column, self.features)), table.num_rows)
        _, first, place = np.unique(marks, return_index=True, return_inverse=True)
        return self._targets(self.teacher, table.take(from_numpy(first)))[place]

    def _targets(self, teacher: Teacher, table: pa.Table) -> Ints:
        if self.guide.labels == "hard":
            return self._quantised(teacher.predictions(0, table.select(self.features)))
        folds = folds_of(record_marks(table, self.features))
        parts = [np.flatnonzero(folds == fold) for fold in range(FOLDS)]
        made = [
            self._quantised(teacher.predictions(fold, table.select(self.features).take(rows)))
            for fold, rows in enumerate(parts)
            if len(rows)
        ]
        targets = np.empty((table.num_rows, made[0].shape[1]), dtype=np.int64)
        targets[np.concatenate([rows for rows in parts if len(rows)])] = np.concatenate(made)
        return targets

    def _quantised(self, predictions: NDArray[np.float64]) -> Ints:
        classes = len(self.labels.classes)
        if not classes:
            # Of labels in an order that follows from rows: other orders round sums otherwise.
            numbers = self.labels.numbers
            return number_targets(predictions[:, 0], float(numbers.mean()), float(numbers.std()))
        if self.guide.labels == "hard":
            return class_targets(predictions.argmax(axis=1).astype(np.float64), classes)
        return probability_targets(predictions)


def folds_of(marks: NDArray[np.uint64]) -> Ints:
    """Return the part that each row is in, (rows,), by a hash of its features."""
    return ((marks >> np.uint64(32)) % np.uint64(FOLDS)).astype(np.int64)


def _is_array(table: pa.Table, name: str) -> bool:
    return is_array_of_numbers(table.schema.field(name).type)
