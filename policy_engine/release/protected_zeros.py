"""Cells of nobody that are withheld: the tables of a session together must not tell that they are.

Where a profile holds that a zero discloses, a cell of nobody is withheld as a small one is. No unit
is in it, so a ledger of who was counted has nothing to protect. Here cells are known by their keys:
what the tables show are equations over all combinations of the values of all keys, and a withheld
zero must have a value above 0, too, by them and by counts not being negative.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import TOTAL, Counts, Measure, TableVerdict
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.audits.outputs.tabulating import COUNTS, Tabulation
from policy_engine.kernels.output_checks.released_bounds import KnownSums, can_solve, intervals
from policy_engine.release.judged_tables import JudgedTable

Cells = NDArray[np.bool_]
Cell = tuple[int, int]
"""A part of the tables that are compared, and a row of it."""
MOST_COMBINATIONS = 300_000
"""Tables with more combinations of their keys are compared by a person."""
_MOST_TERMS = 20_000_000
_SECONDS = 20.0
_PRIMARY = Reason.FEW_UNITS.bit | Reason.GROUP_DISCLOSURE.bit


def protect_zeros(own: JudgedTable, earlier: Sequence[JudgedTable], rows: int) -> TableVerdict:
    """Return the verdict on a table without cells that would tell, with what it and earlier tables
    about some of so many `rows` show, that a withheld cell is one of nobody (K044).

    Where that cannot be computed, all of the table is for a person (K046).
    """
    verdict = own.verdict
    profile = verdict.check.profile
    if not profile.zeros_disclosive or verdict.check.secondary == "none":
        return verdict
    reasons = verdict.reasons.copy()
    for system in dict.fromkeys(_systems(own)):
        parts = [_Part(one.made, one.verdict.released, number, one.verdict.reasons)
                 for one in (*earlier, own)
                 for number in _numbers(one, system)]  # fmt: skip
        if not any(part.zeros.any() for part in parts):
            continue
        for number in _numbers(own, system):
            place = next(n for n, one in enumerate(parts) if one.is_of(own.made, number))
            kept = _kept(parts, place, rows)
            if kept is None:
                return replace(verdict, reasons=reasons | np.uint32(Reason.BEYOND_LEDGER.bit))
            hidden = parts[place].released & ~kept
            reasons[hidden, number] |= np.uint32(Reason.REVEALS_SUPPRESSED.bit)
            parts[place] = replace(
                parts[place], shown=_with_column(parts[place].shown, number, kept)
            )
    return replace(verdict, reasons=reasons)


def _with_column(cells: Cells, number: int, kept: Cells) -> Cells:
    changed = cells.copy()
    changed[:, number] = kept
    return changed


def _systems(one: JudgedTable) -> Iterator[str]:
    """Yield of each measure what adds up of it, empty for what does not."""
    for measure, aggregate in zip(one.made.table.measures, one.made.aggregates, strict=True):
        negatives = measure.statistics[0].evidence.negatives
        if aggregate.function == "size" or _counts_all(measure, aggregate.function):
            yield "rows"
        elif aggregate.function in COUNTS or (
            aggregate.function == "sum" and (negatives is None or not negatives.any())
        ):
            yield f"{aggregate.function}:{aggregate.column}"
        else:
            yield ""


def _counts_all(measure: Measure, function: str) -> bool:
    """Return whether a count of values is one of all rows: no unit lacks one, and each has one."""
    evidence = measure.statistics[0].evidence
    if function not in COUNTS or evidence.left_out is None or evidence.rows is None:
        return False
    return not evidence.left_out.any() and bool((evidence.rows == evidence.units).all())


def _numbers(one: JudgedTable, system: str) -> list[int]:
    return [number for number, name in enumerate(_systems(one)) if name == system and name]


@dataclass(frozen=True, eq=False)
class _Part:
    """One measure of a table: which of its cells, (rows, measures), are shown, and why not."""

    made: Tabulation
    shown: Cells
    number: int
    reasons: NDArray[np.uint32]

    def is_of(self, made: Tabulation, number: int) -> bool:
        return self.made is made and self.number == number

    @property
    def released(self) -> Cells:
        column: Cells = self.shown[:, self.number]
        return column

    @property
    def figures(self) -> NDArray[np.float64]:
        column: NDArray[np.float64] = self.made.table.values[:, self.number]
        return column

    @property
    def zeros(self) -> Cells:
        """Which cells are of nobody and withheld for that."""
        own = self.reasons[:, self.number]
        is_primary = np.asarray((own & np.uint32(_PRIMARY)) != 0, np.bool_)
        return np.asarray((self.figures == 0) & is_primary & ~self.released, np.bool_)

    @property
    def numbers(self) -> Counts:
        numbers: Counts = self.made.members[self.number].numbers
        return numbers


def _kept(parts: Sequence[_Part], place: int, rows: int) -> Cells | None:
    """Return which cells of one part may be shown beside the others; None if nobody knows."""
    grid = _grid(parts, rows)
    if grid is None or not can_solve():
        return None
    kept = parts[place].released.copy()
    before: set[Cell] | None = None
    while kept.any():
        exact = _told(_with(parts, place, kept), grid)
        if exact and before is None:
            before = _told(_with(parts, place, np.zeros_like(kept)), grid)
        if exact is None or (exact and before is None):
            return None
        if not (fresh := exact - (before or set())):
            break
        kept[_nearest(parts, place, kept, grid, fresh)] = False
    return kept


def _with(parts: Sequence[_Part], place: int, kept: Cells) -> list[_Part]:
    own = parts[place]
    changed = replace(own, shown=_with_column(own.shown, own.number, kept))
    return [changed if number == place else part for number, part in enumerate(parts)]


def _nearest(
    parts: Sequence[_Part], place: int, kept: Cells, grid: "_Grid", exact: "set[Cell]"
) -> int:
    """Return the smallest cell of a part that has a zero within it, else the smallest of all."""
    is_in = np.zeros(grid.size, np.bool_)
    for number, row in exact:
        is_in |= (grid.columns[number] == row).any(axis=0)
    rows = np.unique(grid.columns[place][:, is_in])
    near = rows[rows >= 0]
    near = near[kept[near]] if kept[near].any() else np.flatnonzero(kept)
    return int(near[np.argmin(parts[place].figures[near])])


# -- combinations of keys ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Grid:
    """All combinations of keys, and which occur: `columns` say for each part the row that each
    combination is in, one line for each set of its keys, -1 for none; `is_possible` says which a
    hierarchy between keys does not exclude."""

    columns: tuple[Counts, ...]
    is_possible: Cells

    @property
    def size(self) -> int:
        return len(self.is_possible)


def _grid(parts: Sequence[_Part], rows: int) -> _Grid | None:
    labels: dict[str, dict[object, int]] = {}
    for part in parts:
        for key, own in zip(part.made.table.keys, part.made.table.labels, strict=True):
            some = labels.setdefault(key, {})
            for label in own:
                some.setdefault(label, len(some))
    patterns = _patterns(parts, rows)
    sizes = [len(patterns), *map(len, labels.values())]
    if math.prod(sizes) > MOST_COMBINATIONS:
        return None
    places = np.indices(sizes).reshape(len(sizes), -1)
    codes = dict(zip(labels, places[1:], strict=True))
    columns = []
    for number, part in enumerate(parts):
        is_in = patterns[places[0], number]
        columns.append(np.where(is_in, _rows_of(part, codes, labels, places.shape[1]), -1))
    return _Grid(tuple(columns), _possible(parts, codes, labels, rows, places.shape[1]))


def _patterns(parts: Sequence[_Part], rows: int) -> Cells:
    """Return of which parts rows are together, (patterns, parts): each that occurs, once."""
    is_in = np.zeros((rows, len(parts)), np.bool_)
    for number, part in enumerate(parts):
        is_in[part.numbers, number] = True
    return np.asarray(np.unique(is_in, axis=0), np.bool_)


def _rows_of(
    part: _Part, codes: dict[str, Counts], labels: dict[str, dict[object, int]], count: int
) -> Counts:
    """Return the row that each combination is in, (sets of keys, combinations), -1 for none."""
    table = part.made.table
    lines = []
    for number in range(int(part.made.sets.max(initial=-1)) + 1):
        rows = np.flatnonzero(part.made.sets == number)
        line = np.zeros(count, np.int64)
        width, own = 1, np.zeros(len(rows), np.int64)
        for place, key in enumerate(table.keys):
            if len(rows) and table.codes[rows[0], place] != TOTAL:
                whole = np.array([labels[key][one] for one in table.labels[place]])
                own = own * len(labels[key]) + whole[table.codes[rows, place]]
                line = line * len(labels[key]) + codes[key]
                width *= len(labels[key])
        row_of = np.full(width, -1)
        row_of[own] = rows
        lines.append(row_of[line])
    return np.array(lines)


def _possible(
    parts: Sequence[_Part],
    codes: dict[str, Counts],
    labels: dict[str, dict[object, int]],
    rows: int,
    count: int,
) -> Cells:
    """Return the combinations that hierarchies do not exclude, such as a district of another
    region: a reader knows them."""
    row_codes = {key: np.full(rows, -1) for key in labels}
    for part in parts:
        table, members = part.made.table, part.made.members[part.number]
        for place, key in enumerate(table.keys):
            own = table.codes[members.rows, place]
            is_known = own != TOTAL
            whole = np.array([*(labels[key][one] for one in table.labels[place]), -1])
            row_codes[key][members.numbers[is_known]] = whole[own[is_known]]
    result = np.ones(count, np.bool_)
    for lower, upper in permutations(labels, 2):
        is_both = (row_codes[lower] >= 0) & (row_codes[upper] >= 0)
        pairs = np.unique(np.column_stack([row_codes[lower], row_codes[upper]])[is_both], axis=0)
        if len(np.unique(pairs[:, 0])) == len(pairs) > len(np.unique(pairs[:, 1])) > 1:
            parent = np.full(len(labels[lower]), -1)
            parent[pairs[:, 0]] = pairs[:, 1]
            own = parent[codes[lower]]
            result &= (own < 0) | (own == codes[upper])
    return result


# -- what is told ------------------------------------------------------------------------------


def _told(parts: Sequence[_Part], grid: _Grid) -> set[Cell] | None:
    """Return the withheld zeros that are known to be 0, None where nobody knows."""
    impossible: list[Cell] = []
    possible: list[Cell] = []
    for number, part in enumerate(parts):
        for row in np.flatnonzero(part.zeros).tolist():
            is_in = (grid.columns[number] == row).any(axis=0)
            (possible if (is_in & grid.is_possible).any() else impossible).append((number, row))
    exact: set[Cell] = set()
    everywhere = np.ones(grid.size, np.bool_)
    for zeros, is_used in ((possible, grid.is_possible), (impossible, everywhere)):
        some = _exact(parts, grid, zeros, is_used)
        if some is None:
            return None
        exact.update(some)
    return exact


def _exact(
    parts: Sequence[_Part], grid: _Grid, zeros: Sequence[Cell], is_used: Cells
) -> list[Cell] | None:
    """Return the zeros that are known to be 0 if only some combinations occur."""
    if not zeros:
        return []
    cells = [
        (n, row) for n, part in enumerate(parts) for row in np.flatnonzero(part.released).tolist()
    ]
    lines = _equations(grid, [*cells, *zeros], is_used)
    if lines is None:
        return None
    values = np.array([parts[n].figures[row] for n, row in cells])
    scale, atoms = max(float(values.max(initial=1.0)), 1.0), lines.shape[1]
    ends = np.zeros(atoms), np.full(atoms, np.inf)
    sums = KnownSums(lines[: len(cells)], values / scale, *ends)
    bounds = [*intervals(sums, lines[len(cells) :], _SECONDS)]
    if len(bounds) < len(zeros):
        return None
    return [zero for zero, one in zip(zeros, bounds, strict=True) if one.high * scale < _ABOVE]


def _equations(grid: _Grid, cells: Sequence[Cell], is_used: Cells) -> NDArray[np.float64] | None:
    """Return of which combinations each cell is the sum, (cells, combinations), those that are in
    the same cells taken together; None for too many."""
    layers = []
    for number, column in enumerate(grid.columns):
        rows = [row for part, row in cells if part == number]
        own = column[:, is_used]
        layers.append(np.where(np.isin(own, rows), own, -1))
    sizes = [len(one) for one in layers]
    distinct = np.unique(np.concatenate(layers), axis=1)
    if distinct.shape[1] * len(cells) > _MOST_TERMS:
        return None
    parts = np.split(distinct, np.cumsum(sizes)[:-1])
    return np.array([(parts[n] == row).any(axis=0) for n, row in cells], np.float64)


_ABOVE = 0.999999
"""A count that may be as large is not known to be 0."""
