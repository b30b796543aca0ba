"""Which rows of a table of results may be listed although nothing in them is released.

That a row is there says that somebody has its keys. Of a table by several keys it would tell what
single persons are (the one of a village is a miner), so it is listed only if all combinations of
the keys are, of those that nobody has, too. By one key it would tell names, where most values of
the key are of few units.
"""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.lines import is_filled
from policy_engine.audits.outputs.model import TOTAL, Counts, TableVerdict

_LINES = 2


def listed_rows(verdict: TableVerdict, sets: Counts, units: Counts) -> NDArray[np.bool_]:
    """Return which rows of a table may be listed: (rows,), as are the grouping sets and the units.

    A row with anything that is released may be. No other one is where a set is not listed whole:
    that a row is listed would tell that it is not of nobody, nor of few, but withheld for others.
    """
    codes = verdict.table.codes
    is_enough = units >= verdict.check.profile.min_units
    is_listed = np.asarray(verdict.released.any(axis=1), dtype=np.bool_)
    for number in np.unique(sets):
        is_part = sets == number
        keys = np.flatnonzero((codes[is_part] != TOTAL).any(axis=0))
        if _shows_all(verdict, is_part, keys, is_enough):
            is_listed |= is_part
    return is_listed


def is_listed_whole(verdict: TableVerdict, sets: Counts, units: Counts, number: int) -> bool:
    """Return whether all rows of a grouping set of a table are listed, whatever is released: what
    is not listed is then of nobody."""
    is_part = sets == number
    keys = np.flatnonzero((verdict.table.codes[is_part] != TOTAL).any(axis=0))
    is_enough = units >= verdict.check.profile.min_units
    return _shows_all(verdict, is_part, keys, is_enough)


def _shows_all(
    verdict: TableVerdict,
    is_part: NDArray[np.bool_],
    keys: Counts,
    is_enough: NDArray[np.bool_],
) -> bool:
    """Return whether a grouping set can be listed with all its rows."""
    rows = int(is_part.sum())
    if len(keys) >= _LINES:
        sizes = [len(verdict.table.labels[key]) for key in keys.tolist()]
        count = int(np.prod(sizes))
        return rows == count and is_filled(rows, count)
    return not len(keys) or 2 * int(is_enough[is_part].sum()) >= rows
