"""The targets of rows, which tasks look up by what the rows hold."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import unchunk
from policy_engine.engines.contents import row_marks
from policy_engine.engines.plain_floats import plain_floats
from policy_engine.errors import DataError

TARGET = "target"
"""How the names of columns of targets begin among those of coded rows."""


@dataclass(frozen=True)
class TargetLookup:
    """The targets of rows by the mark of what they hold in some `columns`.

    `marks` (n,) ascend; `targets` is (n, targets).
    """

    columns: tuple[str, ...]
    marks: NDArray[np.uint64]
    targets: NDArray[np.int32]

    @property
    def names(self) -> list[str]:
        """The names of the columns of targets among those of coded rows."""
        return [f"{TARGET}{number}" for number in range(self.targets.shape[1])]

    @property
    def is_constant(self) -> bool:
        """Whether all rows have equal targets."""
        return bool((self.targets == self.targets[:1]).all())

    def look_up(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the targets of rows, (rows, targets).

        Raises DataError (C010) for a row that did not occur when targets were worked out.
        """
        marks = marks_of(table, self.columns)
        place = np.minimum(np.searchsorted(self.marks, marks), len(self.marks) - 1)
        if (self.marks[place] != marks).any():
            message = "The data had different values when it was read again."
            raise DataError.of("C010", message, "Write it to storage first, or cache it.")
        return np.asarray(self.targets[place])


def marks_of(table: pa.Table, names: Collection[str]) -> NDArray[np.uint64]:
    """Return a hash of each row's cells, (rows,)."""
    # Spark takes zeros of both signs for equal where it counts.
    columns = (plain_floats(unchunk(table.column(name))) for name in names)
    return row_marks(columns, table.num_rows)
