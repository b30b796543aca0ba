"""Some rows of a release beside rows of the original that they may stand for."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from policy_engine.audits.utility.matching import MatchedColumn
from policy_engine.audits.utility.model import CellPair, RowPair
from policy_engine.engines.reading_back import cell_column
from policy_engine.kernels.spread import Ints, Spread

MOST_ROWS, MOST_COLUMNS = 8, 10
_TELLING = ("generalised", "kept")
_MISSING = "(missing)"


def side_by_side(columns: Sequence[MatchedColumn], release: pa.Table) -> Iterator[RowPair]:
    """Yield up to `MOST_ROWS` rows of a release, evenly over it, each beside a row that fits.

    A row of the original fits if each of its values is one that the cell may stand for. Columns of
    which a cell does not tell that (masked ones, representatives, pseudonyms) are left out. Of many
    columns, those that changed come first.
    """
    telling = [one for one in columns if one.kind in _TELLING]
    leading = sorted(telling, key=lambda one: not one.is_changed)[:MOST_COLUMNS]
    if not any(one.is_changed for one in leading):
        return
    rows = np.unique(np.linspace(0, release.num_rows - 1, MOST_ROWS).astype(np.int64))
    for row in rows.tolist():
        fitting = _fitting(telling, row)
        if len(fitting):
            cells = (_pair(one, release, row, int(fitting[0])) for one in leading)
            yield RowPair(cells=tuple(cells), fitting=len(fitting))


def _fitting(columns: Sequence[MatchedColumn], row: int) -> Ints:
    """Return the rows of the original all values of which a released row may stand for."""
    fits = np.ones(columns[0].before.rows, dtype=np.bool_)
    for one in columns:
        fits &= _covered(one.after, row)[one.before.cell_of]
    return np.flatnonzero(fits)


def _covered(spread: Spread, row: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which codes the cell of a row may stand for, (size,)."""
    covered = np.zeros(spread.size, dtype=np.bool_)
    cell = int(spread.cell_of[row])
    for run in range(int(spread.starts[cell]), int(spread.starts[cell + 1])):
        covered[spread.low[run] : spread.high[run]] = True
    return covered


def _pair(column: MatchedColumn, release: pa.Table, row: int, source: int) -> CellPair:
    before = str(column.labels[int(column.before.cell_of[source])])
    cell = cell_column(release.slice(row, 1), column.name)[0].as_py()
    after = "" if cell is None else str(cell)
    return CellPair(column=column.name, before=before or _MISSING, after=after or _MISSING)
