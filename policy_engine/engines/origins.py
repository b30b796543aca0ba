"""Which row of its input each row of a release is made from."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk

ORIGIN = "\ufffdorigin"
"""The column with the number of each row of an input.

It goes along where rows are sampled, left out or put in order, is never released, and decides
nothing: what is drawn for a row follows from its other columns."""

WORD = "policy_engine__carried_person"
"""The column with a number that is the same for a person in every release, which goes along in the
same way."""


def is_carried(name: str) -> bool:
    """Tell whether a column goes along and decides nothing."""
    return name in (ORIGIN, WORD)


def with_origins(table: pa.Table) -> pa.Table:
    """Return a table with its rows numbered."""
    return table.append_column(ORIGIN, from_numpy(np.arange(table.num_rows, dtype=np.int64)))


def origins_of(table: pa.Table, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the numbers of some rows of a table, None where they have none, (rows,)."""
    if ORIGIN not in table.column_names:
        return None
    numbers: NDArray[np.int64] = to_numpy(unchunk(table.column(ORIGIN)))
    return numbers[rows]


def rows_at(table: pa.Table, names: tuple[str, ...], rows: NDArray[np.int64]) -> pa.Table:
    """Return some rows of some columns of a table, in this order."""
    return table.select(list(names)).take(from_numpy(rows))
