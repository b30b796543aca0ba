"""Whose the rows are that conditions are asked of, where one person has several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

OWNER = "u"
"""The column of the number of the unit that a row is of."""


@dataclass(frozen=True, eq=False)
class RowOwners:
    """Whose each row of a query is: `row` is the expression of its number, and `owners_of` returns
    the unit of rows by their numbers. So many units are enough: the `least`."""

    least: int
    row: exp.Expr
    owners_of: "Callable[[pa.ChunkedArray], NDArray[np.int64]]"

    def expressions(self) -> Mapping[str, exp.Expr]:
        """Return the column of a row's number, by the name of that of its owner."""
        return {OWNER: self.row}

    def owned(self, table: "pa.Table") -> "pa.Table":
        """Return a table of rows with the owner of each in place of its number."""
        owners = pa.array(self.owners_of(table[OWNER]))
        return table.set_column(table.column_names.index(OWNER), OWNER, owners)
