"""The kinds of rows that tables tell apart: by the values of keys, and which tables have them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.filled_keys import MOST_FILLED
from policy_engine.audits.outputs.model import TOTAL, Counts
from policy_engine.audits.outputs.tabulating import Tabulation
from policy_engine.kernels.distinct_numbers import distinct_numbers
from policy_engine.release.count_readings import CountReading
from policy_engine.release.near_combinations import (
    OpenCells,
    can_be_numbered,
    near_combinations,
    numbered,
)

Cells = NDArray[np.bool_]
MOST_COMBINATIONS = 300_000
"""Of more combinations of keys, some are chosen; more that rows have are not compared."""


@dataclass(frozen=True, eq=False)
class CellLayer:
    """In which cell of a table each combination is, by one set of its keys, (combinations,): -1 for
    none, and from `first_absent` on, combinations of these keys that the table does not have.
    `lines` are the lines along each of these keys, by their numbers, (combinations,) each, -1 for
    none."""

    reading: int
    number: int
    cells: Counts
    first_absent: int
    lines: dict[int, Counts]


@dataclass(frozen=True, eq=False)
class KeyCombinations:
    """All combinations of keys, and of tables that rows are in together: which tables each is in,
    (readings, combinations), and which of them hierarchies between keys do not exclude, such as a
    district of another region, or by what rows were chosen: a reader knows them. The usual ones are
    those that rows have. Where it is not
    `is_whole`, these are some combinations alone."""

    layers: tuple[CellLayer, ...]
    is_in: Cells
    is_possible: Cells
    is_usual: Cells
    is_whole: bool


def key_combinations(
    readings: Sequence[CountReading], rows: int, own: Tabulation
) -> KeyCombinations | None:
    """Return the combinations of what tables read of so many rows, the last of them the `own` one;
    None for too many that rows have."""
    keys = _Keys(rows)
    for one in readings:
        keys.add(one)
    labels = keys.labels
    patterns, pattern_of = _patterns(readings, rows)
    sizes = [len(patterns), *map(len, labels.values())]
    if not can_be_numbered(sizes):
        return None
    is_whole = math.prod(sizes) <= MOST_COMBINATIONS
    columns = [np.maximum(one, 0) for one in keys.codes.values()]
    kinds = np.column_stack([pattern_of, *columns])
    numbers = distinct_numbers(numbered(kinds, sizes))
    if len(numbers) > MOST_COMBINATIONS:
        return None
    if is_whole:
        places = np.indices(sizes).reshape(len(sizes), -1)
    else:
        cells = [*_open_cells(readings, own, patterns, keys)]
        near = near_combinations(kinds, cells, sizes)
        more = numbered(_with_repaired(near, [*labels], keys.codes), sizes)
        near_numbers = np.concatenate([numbers, np.setdiff1d(more, numbers)])
        places = np.array(np.unravel_index(near_numbers, sizes), np.int64)
        numbers = np.arange(len(numbers))
    is_usual = np.zeros(len(places[0]), np.bool_)
    is_usual[numbers] = True
    codes = dict(zip(labels, places[1:], strict=True))
    is_in = patterns[places[0]].T
    layers = [
        CellLayer(number, *layer)
        for number, one in enumerate(readings)
        for layer in _layers(one.table.made, is_in[number], codes, keys)
    ]
    own_codes = keys.codes
    is_possible = _possible(codes, own_codes, len(places[0])) & _chosen(
        codes, own_codes, is_in, patterns[pattern_of].T
    )
    # What rows have is possible, whatever is put for keys of tables that they are not in.
    is_possible |= is_usual & ~np.bool_(is_whole)
    return KeyCombinations(tuple(layers), is_in, is_possible, is_usual, is_whole)


def _open_cells(
    readings: Sequence[CountReading], last: Tabulation, patterns: Cells, keys: "_Keys"
) -> Iterator[OpenCells]:
    """Yield the cells of tables with secrets that are not told, and all of the last one: before it,
    none was."""
    places = {key: number + 1 for number, key in enumerate(keys.labels)}
    for number, one in enumerate(readings):
        made = one.table.made
        if not (one.has_secrets or made is last):
            continue
        for part, rows, own in _parts(made, keys):
            columns = tuple(places[keys.names[id(made)][place]] for place in own)
            are_others = made is last or one.most_absent(part) > 0
            is_listed = one.shown[rows] if are_others else ~one.shown[rows]
            is_listed &= made is not last
            values = np.array([*own.values()], np.int64).reshape(len(own), len(rows)).T
            secret = values[np.isin(rows, [*one.goals])]
            if one.are_zeros_secret and one.most_absent(part) > 0:
                own_sizes = [len(keys.labels[keys.names[id(made)][place]]) for place in own]
                secret = np.concatenate([secret, _absent(values, own_sizes)])
            yield OpenCells(columns, values[is_listed], are_others, secret, patterns[:, number])


def _absent(listed: Counts, sizes: Sequence[int]) -> Counts:
    """Return the combinations that are not listed, (combinations, keys), if there are not many."""
    count = math.prod(sizes)
    numbers = np.arange(count if count <= MOST_FILLED else 0)
    absent = np.setdiff1d(numbers, numbered(listed, sizes))
    return np.array(np.unravel_index(absent, sizes), np.int64).reshape(len(sizes), -1).T


class _Keys:
    """The keys of tables by name: their `labels`, and the `codes` of the values that rows have,
    (rows,), -1 where no table tells. One that has other values in some row is another key."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self.labels: dict[str, dict[object, int]] = {}
        self.codes: dict[str, Counts] = {}
        self.names: dict[int, list[str]] = {}

    def add(self, one: CountReading) -> None:
        """Add the keys of a table, as one of its measures has them."""
        table, members = one.table.made.table, one.table.made.members[one.number]
        names = []
        for place, key in enumerate(table.keys):
            own = table.codes[members.rows, place]
            is_known = own != TOTAL
            values = np.full(self._rows, -1)
            values[members.numbers[is_known]] = own[is_known]
            names.append(self._add(key, table.labels[place], values))
        self.names.setdefault(id(one.table.made), names)

    def _add(self, key: str, own: Sequence[object], values: Counts) -> str:
        number = 1
        while True:
            name = key if number == 1 else f"{key} #{number}"
            some = self.labels.get(name, {})
            labels = some | {label: len(some) + n for n, label in
                             enumerate(label for label in own if label not in some)}  # fmt: skip
            codes = np.array([*(labels[label] for label in own), -1])[values]
            former = self.codes.get(name, np.full(self._rows, -1))
            if (codes == former)[(codes >= 0) & (former >= 0)].all():
                self.labels[name] = labels
                self.codes[name] = np.where(former >= 0, former, codes)
                return name
            number += 1


def _patterns(readings: Sequence[CountReading], rows: int) -> tuple[Cells, Counts]:
    """Return in which tables rows are together, (patterns, readings), each that occurs, once, and
    that of each row, (rows,)."""
    is_in = np.zeros((rows, len(readings)), np.bool_)
    for number, one in enumerate(readings):
        is_in[one.members, number] = True
    patterns, pattern_of = np.unique(is_in, axis=0, return_inverse=True)
    return np.asarray(patterns, np.bool_), np.asarray(pattern_of, np.int64).ravel()


def _layers(
    made: Tabulation, is_in: Cells, codes: dict[str, Counts], keys: _Keys
) -> Iterator[tuple[int, Counts, int, dict[int, Counts]]]:
    count, names, labels = len(made.table.codes), keys.names[id(made)], keys.labels
    for number, rows, own in _parts(made, keys):
        sizes = {place: len(labels[names[place]]) for place in own}
        of_keys = {place: codes[names[place]] for place in own}
        wanted = _numbered(of_keys, sizes, len(is_in))
        cells = _rows_of(wanted, _numbered(own, sizes, len(rows)), rows)
        cells[cells < 0] = count + _compact(wanted[cells < 0])
        lines = {
            key: np.where(is_in, _compact(_numbered(_without(of_keys, key), sizes, len(is_in))), -1)
            for key in own
        }
        yield number, np.where(is_in, cells, -1), count, lines


def _parts(made: Tabulation, keys: _Keys) -> Iterator[tuple[int, Counts, dict[int, Counts]]]:
    """Yield the sets of keys of a table: the number of each, its rows, and their codes of each of
    its keys, by place, (rows,), as all tables have them."""
    table = made.table
    names, labels = keys.names[id(made)], keys.labels
    for number in range(int(made.sets.max(initial=-1)) + 1):
        rows = np.flatnonzero(made.sets == number)
        own = {}
        for place, key in enumerate(names):
            if len(rows) and table.codes[rows[0], place] != TOTAL:
                whole = np.array([labels[key][one] for one in table.labels[place]])
                own[place] = whole[table.codes[rows, place]]
        yield number, rows, own


def _rows_of(wanted: Counts, listed: Counts, rows: Counts) -> Counts:
    """Return for each number that is wanted the row that has it, -1 where none has."""
    if not len(rows):
        return np.full(len(wanted), -1)
    in_order = np.argsort(listed)
    places = np.minimum(np.searchsorted(listed[in_order], wanted), len(rows) - 1)
    nearest = in_order[places]
    return np.where(listed[nearest] == wanted, rows[nearest], -1)


def _compact(numbers: Counts) -> Counts:
    """Return smaller numbers, equal where these are."""
    return np.asarray(np.unique(numbers, return_inverse=True)[1], np.int64).ravel()


def _without(columns: dict[int, Counts], key: int) -> dict[int, Counts]:
    return {place: column for place, column in columns.items() if place != key}


def _numbered(columns: dict[int, Counts], sizes: dict[int, int], count: int) -> Counts:
    """Return one number for the codes of several keys, (count,)."""
    numbers = np.zeros(count, np.int64)
    for place, column in columns.items():
        numbers = numbers * sizes[place] + column
    return numbers


def _possible(codes: dict[str, Counts], row_codes: dict[str, Counts], count: int) -> Cells:
    """Return the combinations that hierarchies do not exclude."""
    result = np.ones(count, np.bool_)
    for lower, upper, parent in _hierarchies(row_codes):
        own = parent[np.minimum(codes[lower], len(parent) - 1)]
        result &= (own < 0) | (codes[lower] >= len(parent)) | (own == codes[upper])
    return result


def _hierarchies(row_codes: dict[str, Counts]) -> Iterator[tuple[str, str, Counts]]:
    """Yield pairs of keys of which the first decides about the other, and the value of that for
    each of its own, (values,), -1 where nobody has one."""
    for lower, upper in permutations(row_codes, 2):
        is_both = (row_codes[lower] >= 0) & (row_codes[upper] >= 0)
        pairs = np.unique(np.column_stack([row_codes[lower], row_codes[upper]])[is_both], axis=0)
        # As many of either are one key under two names.
        if len(np.unique(pairs[:, 0])) == len(pairs) >= len(np.unique(pairs[:, 1])) > 1:
            parent = np.full(int(pairs[:, 0].max()) + 1, -1)
            parent[pairs[:, 0]] = pairs[:, 1]
            yield lower, upper, parent


def _with_repaired(kinds: Counts, keys: Sequence[str], row_codes: dict[str, Counts]) -> Counts:
    """Return combinations, (combinations, columns), and behind them those that are put right where
    hierarchies exclude them: by another district of the region, and by the district's region."""
    by_lower, by_upper = kinds.copy(), kinds.copy()
    for lower, upper, parent in _hierarchies(row_codes):
        below, above = keys.index(lower) + 1, keys.index(upper) + 1
        own = parent[np.minimum(by_lower[:, below], len(parent) - 1)]
        is_known = (own >= 0) & (by_lower[:, below] < len(parent))
        by_lower[is_known, above] = own[is_known]
        child = np.full(max(int(parent.max()), int(kinds[:, above].max(initial=0))) + 1, -1)
        child[parent[parent >= 0]] = np.flatnonzero(parent >= 0)
        one = by_upper[:, below]
        own = np.where(one < len(parent), parent[np.minimum(one, len(parent) - 1)], -1)
        is_off = (own >= 0) & (own != by_upper[:, above]) & (child[by_upper[:, above]] >= 0)
        by_upper[is_off, below] = child[by_upper[is_off, above]]
    return np.concatenate([kinds, by_lower, by_upper])


def _chosen(
    codes: dict[str, Counts], row_codes: dict[str, Counts], is_in: Cells, are_in: Cells
) -> Cells:
    """Return the combinations that are not excluded by what rows tables chose: those of one value
    of a key, or of several, or of pairs of values of two keys.

    `is_in` (readings, combinations) says which tables combinations are in, `are_in` (readings,
    rows) which the rows of the data are in.
    """
    result = np.ones(is_in.shape[1], np.bool_)
    tables: dict[bytes, int] = {}
    for number, rows in enumerate(are_in):
        tables.setdefault(rows.tobytes(), number)
    for number in tables.values():
        own, rows = is_in[number], are_in[number]
        deciding = []
        for key, line in codes.items():
            if len(values := np.unique(row_codes[key][rows & (row_codes[key] >= 0)])) == 1:
                result &= ~own | (line == values[0])
            if (decided := _decided(row_codes[key], rows)) is not None:
                deciding.append((line, decided))
        for one, other in combinations(codes, 2) if not deciding else ():
            width = int(codes[other].max(initial=0)) + 1
            is_known = (row_codes[one] >= 0) & (row_codes[other] >= 0)
            pairs = np.where(is_known, row_codes[one] * width + row_codes[other], -1)
            if (decided := _decided(pairs, rows)) is not None:
                deciding.append((codes[one] * width + codes[other], decided))
        for line, decided in deciding:
            side = decided[np.minimum(line, len(decided) - 1)]
            result &= (side < 0) | (line >= len(decided)) | (side == own)
    return result


def _decided(values: Counts, rows: Cells) -> Counts | None:
    """Return whether rows of each value are chosen, (values,), -1 where nobody has it; None where
    the value does not decide about it."""
    is_known = values >= 0
    own, chosen = values[is_known], rows[is_known]
    size = int(own.max(initial=-1)) + 1
    of_those = np.bincount(own, chosen, minlength=size)
    counts = np.bincount(own, minlength=size)
    if not ((of_those == 0) | (of_those == counts)).all() or chosen.all() or not chosen.any():
        return None
    return np.where(counts > 0, (of_those > 0).astype(np.int64), -1)
