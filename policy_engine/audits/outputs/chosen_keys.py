"""Keys of a table by which its rows were chosen, as all of one region are."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from policy_engine.audits.outputs.microdata import CodedColumn, Microdata, coded
from policy_engine.audits.outputs.model import Counts


def settled_keys(
    keys: Sequence[Any], coded_keys: Sequence[CodedColumn], rows: Microdata
) -> frozenset[int]:
    """Return the numbers of the keys, names of columns or values, by which rows were chosen.

    That rows which were chosen otherwise are all of one region would tell something of each; that
    all those of one region are of it tells nothing.
    """
    whole = rows.whole
    if whole is None:
        return frozenset()
    chosen = np.sort(rows.numbers[rows.numbers >= 0])
    return frozenset(
        number
        for number, (key, own) in enumerate(zip(keys, coded_keys, strict=True))
        if isinstance(key, str)
        and key in whole.table.column_names
        and len(own.labels) == 1
        and np.array_equal(_rows_with(whole, key, own.labels[0]), chosen)
    )


def _rows_with(whole: Microdata, name: str, label: Any) -> Counts:
    """Return the numbers of the rows of the data that have a value in a column, in order."""
    every = coded(name, whole.column(name))
    codes = [code for code, one in enumerate(every.labels) if one == label]
    return np.flatnonzero(np.isin(every.codes, codes) & (whole.units >= 0))
