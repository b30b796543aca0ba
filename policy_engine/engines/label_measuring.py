"""Measure what the classes of an output disclose of the label that they were formed for."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.generalizations.decimals import decimals, is_number
from policy_engine.kernels.label_disclosure import LabelDisclosure, LabelTally, disclosure_of
from policy_engine.plan.steps import Anonymize


class CodedLabel(NamedTuple):
    """The labels of a table: the code of each row or of each distinct value, -1 for a missing one;
    how many rows have each code, (codes,), and how many have none; and the integers that the labels
    are, times one power of ten, None where they are not numbers."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    missing: int
    numbers: NDArray[Any] | None

    @classmethod
    def of(cls, column: ColumnCodes) -> "CodedLabel":
        """Return the labels of a column."""
        codes, counts = column.values(), column.counts()
        blank = len(column.labels) - int(codes.max(initial=-1)) - 1
        labels = column.labels[blank:]
        are_numbers = column.is_ordered and all(is_number(label) for label in labels[:1].tolist())
        return cls(
            codes,
            counts[blank:],
            int(counts[:blank].sum()),
            decimals(labels).quanta if are_numbers and len(labels) else None,
        )

    def disclosure(self, tally: LabelTally) -> LabelDisclosure:
        """Return what the classes of the whole table disclose."""
        return disclosure_of(tally, self.counts, self.missing)


def measure_label(
    table: pa.Table, step: Anonymize, class_of: NDArray[np.int64], count: int
) -> LabelDisclosure | None:
    """Return what the classes of a table disclose of the label, None where they have none.

    `class_of` (rows,) numbers the classes 0 .. count-1. Raises the errors of `encode`.
    """
    guide = step.recoding.guide
    if guide is None:
        return None
    name, column = guide.label, table.column(guide.label)
    # Texts that have a type are labels as they are, as they were to the guide: "01" is not "1".
    numbers = is_untyped(table.schema.field(name))
    label = CodedLabel.of(encode(name, column, numbers=numbers, is_generalised=False))
    return label.disclosure(LabelTally.of(class_of, count, label.codes, label.numbers))
