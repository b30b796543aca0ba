"""Under which conditions rows of the data are in the cells of outputs: chosen rows, and keys.

Two cells that happen to be about the same rows tell of these what they do not say of others: of ten
persons without pay, ten have a low income. Only where the one condition follows from the other
whichever values a cell is of, as a district's region does, is nothing told.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import TOTAL, Counts
from policy_engine.audits.outputs.tabulating import Tabulation

Rows = NDArray[np.bool_]
_EVERYBODY = ""


class CellConditions:
    """The conditions of the cells of some outputs about so many rows of data.

    `missing` says which columns of the data each row lacks, (rows, columns): whoever reads of rows
    that have values knows which ones they are.
    """

    def __init__(self, rows: int, missing: Rows, outputs: Iterable[Tabulation]) -> None:
        """Collect the rows that outputs chose, and the values of their keys."""
        self._rows, self._missing = rows, missing
        self._parts: dict[str, Rows] = {_EVERYBODY: np.ones(rows, np.bool_)}
        self._columns: dict[str, Counts] = {}
        self._labels: dict[str, dict[str, int]] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        for one in outputs:
            self._names[id(one)] = (self._add_part(one), *self._add_columns(one))
        self._follows = lru_cache(None)(self._evaluated)

    def texts(self, made: Tabulation) -> list[str]:
        """Return the condition of each row of an output that was collected, (rows,)."""
        part, *names = self._names[id(made)]
        texts = []
        for codes in made.table.codes.tolist():
            keys = {
                name: repr(labels[code])
                for name, labels, code in zip(names, made.table.labels, codes, strict=True)
                if code != TOTAL
            }
            texts.append(json.dumps([part, keys], sort_keys=True))
        return texts

    def is_of_all(self, made: Tabulation) -> bool:
        """Return whether an output that was collected is about all rows that have values in its
        columns: nobody chose them."""
        return self._names[id(made)][0] == _EVERYBODY

    def are_same(self, one: str, other: str) -> bool:
        """Return whether two conditions follow from each other, whichever values cells are of."""
        (part, keys), (other_part, other_keys) = json.loads(one), json.loads(other)
        first, second = (part, *sorted(keys)), (other_part, *sorted(other_keys))
        return self._follows(first, second) and self._follows(second, first)

    def _evaluated(self, own: Sequence[str], others: Sequence[str]) -> bool:
        """Return whether, among the rows of a condition, its keys decide about another one."""
        if own[0] not in self._parts or others[0] not in self._parts:
            return False
        if not {*own[1:], *others[1:]} <= self._columns.keys():
            return False
        is_in = self._parts[own[0]].copy()
        for name in own[1:]:
            is_in &= self._columns[name] >= 0
        groups = np.zeros(int(is_in.sum()), np.int64)
        for name in own[1:]:
            codes = self._columns[name][is_in]
            groups = np.unique(groups * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
        decided = [self._parts[others[0]].astype(np.int64)]
        decided += [self._columns[name] for name in others[1:]]
        return all(_is_decided(groups, codes[is_in]) for codes in decided)

    # -- what outputs are about ----------------------------------------------------------------

    def _add_part(self, made: Tabulation) -> str:
        """Return the name of the rows that an output chose, empty for those that have values."""
        is_in = np.zeros(self._rows, np.bool_)
        is_in[made.chosen] = True
        lacks = self._missing[:, ~self._missing[is_in].any(axis=0)].any(axis=1)
        if np.array_equal(is_in, ~lacks):
            return _EVERYBODY
        name = hashlib.sha256(np.packbits(is_in).tobytes()).hexdigest()[:32]
        self._parts[name] = is_in
        return name

    def _add_columns(self, made: Tabulation) -> list[str]:
        names = []
        for place, key in enumerate(made.table.keys):
            labels = self._labels.setdefault(key, {})
            own = [labels.setdefault(repr(one), len(labels)) for one in made.table.labels[place]]
            column = np.full(self._rows, -1, np.int64)
            for members in made.members:
                codes = made.table.codes[members.rows, place]
                is_known = codes != TOTAL
                column[members.numbers[is_known]] = np.array([*own, -1])[codes[is_known]]
            names.append(self._add_column(key, column))
        return names

    def _add_column(self, key: str, column: Counts) -> str:
        """Return the name of a key's column: another one where it has other values in some row."""
        number = 1
        while True:
            name = key if number == 1 else f"{key} #{number}"
            earlier = self._columns.get(name)
            if earlier is None:
                self._columns[name] = column
                return name
            is_both = (earlier >= 0) & (column >= 0)
            if np.array_equal(earlier[is_both], column[is_both]):
                self._columns[name] = np.where(earlier >= 0, earlier, column)
                return name
            number += 1


def _is_decided(groups: Counts, codes: Counts) -> bool:
    """Return whether all rows of each group have one code, of those that have any."""
    is_known = codes >= 0
    pairs = np.unique(np.column_stack([groups[is_known], codes[is_known]]), axis=0)
    return len(np.unique(pairs[:, 0])) == len(pairs)
