"""Columns of few values of which some tables show totals, and others are counts by their values.

A total of a yes or no is a count of those who say yes, and a mean is their share. Beside a table by
the same column, it tells what a withheld cell of that has. Such tables are not compared.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.few_values import LEAST_RANKED
from policy_engine.audits.outputs.model import TOTAL
from policy_engine.audits.outputs.tabulating import COUNTS, Tabulation

MOST_LABELS = 20
"""Keys of more values are not looked at, as in queries."""

_Codes = NDArray[np.int64]


class KeyedValues:
    """The keys of tables, and the columns of few values of which they show other figures than
    counts: by the code of each row of the data, (rows,), -1 for none."""

    def __init__(self, rows: int) -> None:
        """Begin without tables of so many rows of data."""
        self._rows = rows
        self._keys: list[_Codes] = []
        self._values: list[_Codes] = []

    def add(self, made: Tabulation) -> bool:
        """Add a table, and return whether its keys, or those of an earlier one, decide about the
        values of a column of which this table, or an earlier one, shows more than counts."""
        keys, values = [*self._keys_of(made)], [*self._values_of(made)]
        is_decided = _decide(keys, [*self._values, *values]) or _decide(self._keys, values)
        self._keys += keys
        self._values += values
        return is_decided

    def _keys_of(self, made: Tabulation) -> Iterator[_Codes]:
        if not made.members:
            return
        own = made.members[0]
        for key, labels in enumerate(made.table.labels):
            codes = made.table.codes[own.rows, key]
            if len(labels) <= MOST_LABELS:
                yield self._of_rows(own.numbers[codes != TOTAL], codes[codes != TOTAL])

    def _values_of(self, made: Tabulation) -> Iterator[_Codes]:
        for one, own in zip(made.aggregates, made.members, strict=False):
            if one.function in COUNTS or own.values is None:
                continue
            is_there = ~np.isnan(own.values)
            different, codes = np.unique(own.values[is_there], return_inverse=True)
            if 1 < len(different) < LEAST_RANKED:
                yield self._of_rows(own.numbers[is_there], codes.reshape(-1))

    def _of_rows(self, numbers: _Codes, codes: _Codes) -> _Codes:
        column = np.full(self._rows, -1)
        column[numbers[numbers >= 0]] = codes[numbers >= 0]
        return column


def _decide(keys: Sequence[_Codes], values: Sequence[_Codes]) -> bool:
    return any(_decides(key, one) for key in keys for one in values)


def _decides(key: _Codes, values: _Codes) -> bool:
    """Return whether all rows with a code of a key have the same value, and some another one."""
    is_both = (key >= 0) & (values >= 0)
    pairs = np.unique(np.column_stack([key[is_both], values[is_both]]), axis=0)
    return len(np.unique(pairs[:, 0])) == len(pairs) and len(np.unique(pairs[:, 1])) > 1
