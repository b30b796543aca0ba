"""Finished tables as they are read: which columns are labels, and which lines are totals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, isnan, log10
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.finding_totals import (
    MOST_TERMS,
    NOBODY,
    FoundTotals,
    Lines,
    find_totals,
)
from policy_engine.audits.outputs.finished_files import (
    BLANKS,
    FileCells,
    decimals_of,
    is_blank,
    is_marked_number,
    number_of,
    read_cells,
    with_points,
    without_row_numbers,
)
from policy_engine.audits.outputs.label_words import is_total_word
from policy_engine.audits.outputs.model import TOTAL, Counts, Figures
from policy_engine.audits.outputs.odd_labels import odd_columns, odd_labels
from policy_engine.audits.outputs.share_columns import ShareColumn, find_shares, without_shares
from policy_engine.errors import DataError, PolicyEngineError, join_names
from policy_engine.kernels.output_checks.table_system import (
    LatticeDimension,
    TableLayout,
    lattice_of,
    lay_out,
)

TableKind = Literal["counts", "totals", "means"]
ACROSS = "column"
"""The key on top of a table, which has no name."""
ALONE = -2
"""The parent of a label that is not even part of the total of all."""
_MOST_CELLS = 100_000
_MOST_DECIMALS = 300
_LEAST_BASE, _LEAST_ROUNDED = 3, 8


@dataclass(frozen=True, eq=False)
class FinishedTable:
    """A table as it was made elsewhere: a cell for each row of labels and each column of figures.

    `codes` (cells, keys) are those of `labels`, `TOTAL` in totals; a last key that is called
    `ACROSS` is on top, where there are several columns of figures. `parents` say of each label
    which one it is a part of, `NOBODY` for those that only the total has, `ALONE` for others.
    `values` (cells,) are NaN where a figure is withheld; they are rounded by `slack` (cells,) at
    most. `totals` are what the total of each key is called, and `words` the labels of each cell as
    they are. The cells are those of the figures of what was `written`, row by row; `head` is what
    the only column of figures is called. What is in `doubt` a person has to look at.
    """

    name: str
    keys: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    codes: Counts
    values: Figures
    slack: Figures
    totals: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    written: FileCells
    head: str = ""
    doubt: tuple[str, ...] = ()
    shares: tuple[ShareColumn, ...] = ()

    @property
    def is_blank(self) -> NDArray[np.bool_]:
        """Which cells are withheld, (cells,)."""
        return np.isnan(self.values)

    @property
    def left(self) -> int:
        """How many keys are to the left."""
        return len(self.keys) - (self.keys[-1] == ACROSS)

    @property
    def has_totals(self) -> bool:
        """Whether any cell is a total."""
        return bool((self.codes == TOTAL).any())

    @property
    def total(self) -> str:
        """What totals are called."""
        return next((one for one in self.totals if one), "All")

    @property
    def size(self) -> int:
        """How many cells the layout has, absent ones included."""
        size = 1
        for some in self.labels:
            size *= len(some) + 1
        return size

    @property
    def dimensions(self) -> tuple[LatticeDimension, ...]:
        """The labels of each key, and their total, with what they are summed up in."""
        dimensions = []
        for parents in self.parents:
            top = len(parents)
            uppers = {NOBODY: top, ALONE: NOBODY}
            own = [uppers.get(parent, parent) for parent in parents]
            dimensions.append(lattice_of(np.array([*own, NOBODY], np.int64)))
        return tuple(dimensions)

    @property
    def layout(self) -> TableLayout:
        """The equations between the cells and all totals, shown or not."""
        return lay_out(self.dimensions)

    @property
    def places(self) -> Counts:
        """The number of each cell in the layout, (cells,)."""
        sizes = np.array([len(some) for some in self.labels])
        filled = np.where(self.codes == TOTAL, sizes, self.codes)
        return np.asarray(np.ravel_multi_index(tuple(filled.T), tuple(sizes + 1)), np.int64)


def read_finished(
    path: Path,
    keys: int = 0,
    total: str = "",
    *,
    kind: TableKind = "counts",
    has_measures: bool = False,
) -> FinishedTable:
    """Return the only table of a file, as `read_tables`. Raises the same, and (C010) for more."""
    tables = read_tables(path, keys, total, kind=kind, has_measures=has_measures)
    if len(tables) > 1:
        names = join_names([one.name for one in tables])
        message = f"One table is needed. There are {len(tables)}, {names}."
        raise DataError.of("C010", message, "Give each in a file of its own.", str(path))
    return tables[0]


def read_tables(
    path: Path,
    keys: int = 0,
    total: str = "",
    *,
    kind: TableKind = "counts",
    has_measures: bool = False,
) -> list[FinishedTable]:
    """Return the tables of a file: those of a workbook's sheets. Their first columns, or as many as
    `keys` says, are labels; where one `has_measures` on top, none of these is a total.

    A line that is the sum of others is a total, whatever it is called; means are not added up.
    Raises DataError as `read_cells` does, and (C010) for a cell that is neither a figure nor blank,
    a column of which it is not clear whether it is of labels, or labels that are there twice.
    """
    tables = read_cells(path)
    sources = {one: path if len(tables) == 1 else Path(f"{path}#{one}") for one in tables}
    return [
        _finished((name, cells), sources[name], (keys, total), kind, has_measures=has_measures)
        for name, cells in tables.items()
    ]


def _finished(
    named: tuple[str, FileCells],
    path: Path,
    options: tuple[int, str],
    kind: TableKind,
    *,
    has_measures: bool,
) -> FinishedTable:
    """Return a table under its name, and how many columns of its are labels and what totals are
    called; `path` is where it is said to lie."""
    name, (keys, total) = named[0], options
    cells, keys = without_row_numbers(_checked(named[1], path), keys)
    plain = with_points(cells, path)
    left = keys or _left_columns(plain, path)
    if not 0 < left < len(cells.head):
        message = (
            f"A table has columns of labels and of figures. Of {len(cells.head)}, {left} have "
        )
        raise DataError.of("C010", f"{message}labels.", source=str(path))
    shares = find_shares(cells, plain, left, total) if kind == "counts" else ()
    cells, plain = (without_shares(one, left, shares) for one in (cells, plain))
    raw = _raw_cells(cells, plain, left, path)
    if kind == "counts":
        raw = replace(raw, slack=_count_slack(raw.values, raw.slack))
    doubt = odd_labels(cells, left)
    if kind == "counts":
        figures = raw.values.reshape(len(cells.rows), -1)
        doubt += odd_columns(cells.head[left:], raw.labels[:left], figures)
    width = left if len(cells.head) == left + 1 else left + 1
    uppers, labels, codes, names = [], [], raw.codes[:, :width].copy(), []
    for key in range(width):
        own = raw.labels[key]
        is_named = np.array([_is_total(one, total) for one in own], np.bool_)
        adds_up = kind != "means"
        if key == left and has_measures:
            is_named, adds_up = np.zeros(len(own), np.bool_), False
        one = find_totals(raw.lines(key, is_named, width)) if adds_up else _named_only(is_named)
        is_unnamed = "" in own and own[one.top] != "" and bool(np.isnan(raw.values).any())
        if one.is_doubtful or is_unnamed:
            place = cells.head[key] if key < left else ACROSS
            doubt.append(f"A line of {place!r} may be the total of others.")
        kept = [number for number in range(len(own)) if number != one.top]
        new = np.full(len(own) + 1, TOTAL)
        new[kept] = np.arange(len(kept))
        codes[:, key] = new[codes[:, key]]
        labels.append(tuple(own[number] for number in kept))
        parents = [new[parent] if parent != NOBODY else NOBODY for parent in one.parents]
        uppers.append(tuple(int(parents[n]) for n in kept))
        names.append(own[one.top] if one.top != NOBODY else "")
    _check_distinct(codes.tolist(), path)
    return FinishedTable(
        name=name,
        keys=(*cells.head[:left], ACROSS)[:width],
        labels=tuple(labels),
        parents=tuple(uppers),
        codes=codes,
        values=raw.values,
        slack=raw.slack,
        totals=tuple(names),
        words=tuple(one[:width] for one in raw.words),
        head=cells.head[left] if width == left else "",
        written=cells,
        doubt=tuple(doubt),
        shares=shares,
    )


def _checked(cells: FileCells, path: Path) -> FileCells:
    count = len(cells.rows) * len(cells.head)
    if count > _MOST_CELLS:
        message = f"A table of results has at most {_MOST_CELLS:,} cells. It has {count:,}."
        raise DataError.of("C010", message, "Give a coarser table, or parts of it.", str(path))
    return cells


def _is_total(text: str, total: str) -> bool:
    return text.lower() == total.lower() if total else is_total_word(text)


def _named_only(is_named: NDArray[np.bool_]) -> FoundTotals:
    """Return the totals of what is not added up: those that are called so."""
    named = np.flatnonzero(is_named).tolist()
    return FoundTotals((NOBODY,) * len(is_named), named[0] if len(named) == 1 else NOBODY)


# -- cells -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _RawCells:
    """The cells of a table: codes of all labels, those of totals too; `TOTAL` for none."""

    labels: tuple[tuple[str, ...], ...]
    codes: Counts
    values: Figures
    slack: Figures
    words: tuple[tuple[str, ...], ...]

    def lines(self, key: int, is_named: NDArray[np.bool_], width: int) -> Lines:
        """Return the lines along a key, each with a figure for all labels of the other keys."""
        count = len(self.labels[key])
        others = np.delete(self.codes[:, :width], key, axis=1)
        places = np.unique(others, axis=0, return_inverse=True)[1].ravel()
        width = int(places.max(initial=-1)) + 1
        if count * width > MOST_TERMS:
            return Lines(np.zeros((count, MOST_TERMS // max(count, 1) + 1)), np.zeros(0), is_named)
        own = self.codes[:, key]
        is_line = own != TOTAL
        figures, slack = np.full((count, width), np.nan), np.zeros((count, width))
        figures[own[is_line], places[is_line]] = self.values[is_line]
        slack[own[is_line], places[is_line]] = self.slack[is_line]
        whole = np.flatnonzero((others == TOTAL).all(axis=1))
        if others.shape[1] and len(whole):
            _fill(figures[:, places[whole[0]]], self.values, own, (others != TOTAL).all(axis=1))
        return Lines(figures, slack, is_named)


def _fill(wholes: Figures, values: Figures, own: Counts, is_part: NDArray[np.bool_]) -> None:
    """Set the totals over all other keys that are not there to the sums of their parts."""
    for line in np.flatnonzero(np.isnan(wholes)).tolist():
        parts = values[(own == line) & is_part]
        if len(parts):
            wholes[line] = parts.sum()


def _raw_cells(cells: FileCells, plain: FileCells, left: int, path: Path) -> _RawCells:
    rows = _filled_down([row[:left] for row in cells.rows])
    columns = zip(*rows, strict=True)
    labels = [tuple(dict.fromkeys(one for one in own if one is not None)) for own in columns]
    top = tuple(dict.fromkeys(cells.head[left:]))
    if len(top) < len(cells.head) - left:
        raise _twice_error(path)
    codes, values, slack, words = [], [], [], []
    places = [{text: place for place, text in enumerate(some)} for some in (*labels, top)]
    for row, texts in zip(rows, plain.rows, strict=True):
        own = [TOTAL if one is None else places[key][one] for key, one in enumerate(row)]
        for name, text in zip(cells.head[left:], texts[left:], strict=True):
            codes.append([*own, places[-1][name]])
            figure = _value(text, path)
            values.append(figure)
            slack.append(0.5 * 10.0 ** -_decimals(text, figure))
            words.append((*("" if one is None else one for one in row), name))
    return _RawCells(
        (*labels, top),
        np.array(codes, np.int64),
        np.array(values, np.float64),
        np.array(slack, np.float64),
        tuple(words),
    )


def _filled_down(rows: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """Return labels with those of merged cells: one that is empty before another one is that
    above. Those that are empty after another one are totals, None."""
    result: list[list[str | None]] = []
    for row in rows:
        filled: list[str | None] = list(row)
        last = max((place for place, one in enumerate(row) if one), default=-1)
        for place, one in enumerate(row):
            if place < last and not one and result:
                filled[place] = result[-1][place]
            elif place > last >= 0:
                filled[place] = None
        result.append(filled)
    return result


def _decimals(text: str, figure: float) -> int:
    if isnan(figure):
        return 0
    decimals = decimals_of(text)
    # Nothing is written with fewer digits than are before its point.
    least = 0 if figure == 0 else -floor(log10(abs(figure)))
    return min(max(decimals, least, -_MOST_DECIMALS), _MOST_DECIMALS)


def _count_slack(values: Figures, slack: Figures) -> Figures:
    """Return how far counts are off: not at all, unless all are multiples of a base of rounding."""
    figures = values[~np.isnan(values)]
    is_whole = bool((figures == np.rint(figures)).all()) and bool((np.abs(figures) < 2**53).all())
    if not is_whole or len(figures) < _LEAST_ROUNDED:
        return np.where(np.full(len(slack), is_whole), 0.0, slack)
    base = int(np.gcd.reduce(np.abs(figures).astype(np.int64)))
    return np.full(len(slack), base - 1.0 if base >= _LEAST_BASE else 0.0)


# -- labels ------------------------------------------------------------------------------------


def _left_columns(cells: FileCells, path: Path) -> int:
    """Return how many of the first columns are labels: at least one, and all of words alone.

    Raises DataError (C010) for a column that mixes words and figures: read as labels, its
    figures would be judged by no rule.
    """
    left = 1
    while left < len(cells.head) - 1:
        texts = [row[left] for row in cells.rows]
        words = [one for one in texts if number_of(one) is None and not is_blank(one, BLANKS)]
        if not words:
            break
        figures = [one for one in texts if number_of(one) is not None]
        odd = words if figures else [one for one in words if is_marked_number(one)]
        if odd:
            raise _mixed_error(cells.head[left], texts.index(odd[0]) + 1, odd[0], path)
        left += 1
    return left


def _mixed_error(column: str, row: int, text: str, path: Path) -> PolicyEngineError:
    message = f"Column {column!r} may be of labels or of figures: row {row} has {text!r:.40}."
    hint = "Write figures without marks or spaces, or say how many columns are labels (--keys)."
    return DataError.of("C010", message, hint, str(path))


def _value(text: str, path: Path) -> float:
    figure = number_of(text)
    if figure is not None:
        return figure
    if is_blank(text, BLANKS):
        return float("nan")
    message = f"A cell is neither a figure nor blank: {text!r:.40}."
    raise DataError.of("C010", message, "Withheld cells are empty, or a full stop.", str(path))


def _check_distinct(codes: Sequence[Sequence[int]], path: Path) -> None:
    if len({tuple(one) for one in codes}) < len(codes):
        raise _twice_error(path)


def _twice_error(path: Path) -> PolicyEngineError:
    message = "Two cells of the table have the same labels."
    hint = "If figures of several kinds are beside each other, give each a file of its own."
    return DataError.of("C010", message, hint, str(path))
