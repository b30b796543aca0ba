"""Finished tables: what can be judged of them without the microdata, and whether they are what a
recipe makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.finished_files import (
    FileCells,
    decimals_of,
    is_blank,
    is_marked_number,
    number_of,
    read_cells,
)
from policy_engine.audits.outputs.model import (
    TOTAL,
    CellEvidence,
    Counts,
    Figures,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.tabulating import ShownAggregate, Tabulation
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.kernels.output_checks.table_system import (
    TableLayout,
    broken_equations,
    flat_dimension,
    lay_out,
)

TableKind = Literal["counts", "totals", "means"]
TOTALS = ("all", "total", "totals", "insgesamt", "gesamt")
"""What totals are called, in lower case."""
BLANKS = frozenset(
    {"", ".", "..", "...", "x", "*", "-", "\u2013", "c", "s", "na", "nan", "n/a", "null", "none"}
    | {"suppressed", "confidential"}
)
"""What cells say that are withheld, in lower case."""
ACROSS = "column"
"""The key on top of a table, which has no name."""
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class FinishedTable:
    """A table as it was made elsewhere: a cell for each row of labels and each column of figures.

    `codes` (cells, keys) are those of `labels`, `TOTAL` in totals; a last key that is called
    `ACROSS` is on top, where there are several columns of figures. `values` (cells,) are NaN where
    a figure is withheld, `decimals` (cells,) how many are shown.
    """

    name: str
    keys: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: Counts
    values: Figures
    decimals: Counts
    total: str

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
    def layout(self) -> TableLayout:
        """The equations between the cells and all totals, shown or not."""
        return lay_out([flat_dimension(len(some)) for some in self.labels])

    @property
    def places(self) -> Counts:
        """The number of each cell in the layout, (cells,)."""
        sizes = np.array([len(some) for some in self.labels])
        filled = np.where(self.codes == TOTAL, sizes, self.codes)
        return np.asarray(np.ravel_multi_index(tuple(filled.T), tuple(sizes + 1)), np.int64)


def read_finished(
    path: Path, keys: int = 0, total: str = "", *, has_measures: bool = False
) -> FinishedTable:
    """Return a table from a file. Its first columns, or as many as `keys` says, are labels; where
    it `has_measures` on top, none of these is a total.

    Raises DataError as `read_cells` does, and (C010) for a cell that is neither a figure nor blank,
    a column of which it is not clear whether it is of labels, or labels that are there twice.
    """
    cells = read_cells(path)
    left = keys or _left_columns(cells, path)
    if not 0 < left < len(cells.head):
        message = (
            f"A table has columns of labels and of figures. Of {len(cells.head)}, {left} have "
        )
        raise DataError.of("C010", f"{message}labels.", source=str(path))
    names = {total.lower()} if total else set(TOTALS)
    over = set() if has_measures else names
    top = [name for name in cells.head[left:] if name.lower() not in over]
    labels = [_labels([row[key] for row in cells.rows], names) for key in range(left)]
    labels.append({name: place for place, name in enumerate(dict.fromkeys(top))})
    codes, texts = [], []
    for row in cells.rows:
        own = [_code(text, some, names) for text, some in zip(row[:left], labels, strict=False)]
        own = [TOTAL] * left if own[0] == TOTAL and not any(row[1:left]) else own
        for name, text in zip(cells.head[left:], row[left:], strict=True):
            codes.append([*own, _code(name, labels[-1], over)])
            texts.append(text)
    _check_distinct(codes, path)
    values = [_value(text, path) for text in texts]
    width = left if len(cells.head) == left + 1 else left + 1
    return FinishedTable(
        name=path.stem,
        keys=(*cells.head[:left], ACROSS)[:width],
        labels=tuple(tuple(some) for some in labels[:width]),
        codes=np.array(codes, np.int64)[:, :width],
        values=np.array(values, np.float64),
        decimals=np.array([decimals_of(one) if number_of(one) is not None else 0 for one in texts]),
        total=next((one for one in _words(cells) if one.lower() in names), "All"),
    )


def _words(cells: FileCells) -> list[str]:
    head, rows = cells
    return [*head, *(text for row in rows for text in row)]


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


def _labels(texts: Sequence[str], totals: set[str]) -> dict[str, int]:
    distinct = dict.fromkeys(text for text in texts if text and text.lower() not in totals)
    return {text: place for place, text in enumerate(distinct)}


def _code(text: str, labels: dict[str, int], totals: set[str]) -> int:
    return TOTAL if text.lower() in totals else labels.get(text, TOTAL)


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
        message = "Two cells of the table have the same labels."
        hint = "If figures of several kinds are beside each other, give each a file of its own."
        raise DataError.of("C010", message, hint, str(path))


# -- without microdata -------------------------------------------------------------------------


def judged_alone(
    table: FinishedTable, kind: TableKind, counts: FinishedTable | None, *, is_of_units: bool
) -> Tabulation:
    """Return a finished table with what is known of it: its counts, or those beside it.

    What no rule can be applied to without microdata is for a person: who dominates totals and
    means, and how many units there are where counts are of rows. Raises DataError (K026) for
    totals that are not the sums of their cells, (C010) for counts of another table or that are
    not whole numbers.
    """
    if kind == "counts":
        _whole(table, table)
    if kind != "means":
        check_totals(table, is_count=kind == "counts")
    beside = table if kind == "counts" else counts
    units = np.zeros(len(table.values), np.int64)
    if beside is not None:
        if beside is not table:
            check_totals(beside, is_count=True)
        units = _whole(beside, table)
    evidence = CellEvidence(units=units, group_share=known_shares(beside or table, units))
    statistics = [ShownStatistic(Statbarn.FREQUENCIES, evidence)] if beside is not None else []
    if kind != "counts" or not is_of_units:
        statistics.append(_for_a_person(units, beside is not None))
    result = ResultTable(
        keys=table.keys,
        labels=table.labels,
        codes=table.codes,
        measures=(Measure(kind, tuple(statistics)),),
        values=table.values[:, np.newaxis],
    )
    aggregate = ShownAggregate(kind, "size" if kind == "counts" else "mean", kind)
    sets = np.unique(table.codes == TOTAL, axis=0, return_inverse=True)[1].ravel()
    return Tabulation(result, sets, units, (), (aggregate,))


def known_shares(table: FinishedTable, units: Counts) -> Figures:
    """Return the most of a line that a reader knows each cell to have, (cells,): NaN where a cell
    of the line is withheld, and its total is not shown."""
    shares = np.full(len(units), np.nan)
    for key in range(len(table.keys)):
        others = np.delete(table.codes, key, axis=1)
        lines = np.unique(others, axis=0, return_inverse=True)[1].ravel()
        is_part = table.codes[:, key] != TOTAL
        count = int(lines.max(initial=-1)) + 1
        blanks = np.bincount(lines, is_part & table.is_blank, minlength=count)
        sums = np.where(blanks > 0, np.nan, np.bincount(lines, units * is_part, minlength=count))
        is_sum = ~is_part & ~table.is_blank
        sums[lines[is_sum]] = units[is_sum]
        whole = sums[lines]
        is_known = is_part & ~table.is_blank & (whole > 0)
        shares = np.fmax(shares, np.where(is_known, units / np.where(whole > 0, whole, 1), np.nan))
    return shares


def _for_a_person(units: Counts, has_counts: bool) -> ShownStatistic:
    # Without counts nobody knows of how few a figure is: that is for a person, too, and no rule
    # of few units may say more than is known.
    known_units = units if has_counts else np.full(len(units), np.iinfo(np.int64).max)
    return ShownStatistic(Statbarn.CLUSTERS, CellEvidence(known_units))


def check_totals(table: FinishedTable, *, is_count: bool) -> None:
    """Raise DataError (K026) for totals that are not the sums of the cells shown with them."""
    layout, places = table.layout, table.places
    is_there = np.zeros(layout.cells, np.bool_)
    is_there[places[~table.is_blank]] = True
    values = np.zeros(layout.cells)
    values[places] = np.nan_to_num(table.values)
    numbers = np.flatnonzero(is_there)
    equations = layout.equations.among(numbers)
    if not is_count:
        sums = np.abs(equations.sums(values[numbers]))
        sizes = np.bincount(
            equations.rows, np.abs(values[numbers][equations.cells]), minlength=equations.count
        )
        slack = 10.0 ** -int(table.decimals.min(initial=0)) * np.diff(equations.starts)
        is_broken = sums > np.maximum(_ROUNDING * sizes, slack)
        count = int(is_broken.sum())
    else:
        count = len(broken_equations(equations, np.rint(values[numbers]).astype(np.int64)))
    if count:
        noun = "1 total is" if count == 1 else f"{count} totals are"
        message = f"{noun} not the sum of the cells shown with it."
        hint = "Give the table as it was computed; means are not added up (kind means)."
        raise DataError.of("K026", message, hint, table.name)


def _whole(counts: FinishedTable, table: FinishedTable) -> Counts:
    """Return the counts of each cell of a table; withheld ones are of nobody."""
    if counts.labels != table.labels or not np.array_equal(counts.codes, table.codes):
        message = "The counts are not those of the table: their labels differ."
        raise DataError.of("C010", message, source=counts.name)
    figures = np.nan_to_num(counts.values)
    if (figures < 0).any() or (figures != np.rint(figures)).any() or (figures >= 2**53).any():
        message = "Counts are whole numbers from 0 on, below 2**53."
        raise DataError.of("C010", message, "Of other figures, say the kind.", counts.name)
    return figures.astype(np.int64)


# -- with microdata ----------------------------------------------------------------------------


def withheld_cells(table: FinishedTable, made: Tabulation) -> NDArray[np.bool_]:
    """Return which cells that a recipe makes of microdata are withheld in a finished table.

    Both are (rows, measures). Raises DataError (K029) where the table shows what the recipe does
    not give.
    """
    result = made.table
    is_across = len(result.keys) == len(table.keys)
    columns = 1 if is_across else len(table.labels[-1])
    if columns != len(result.measures) or len(table.keys) - len(result.keys) not in (0, 1):
        raise _unlike_error(table, "The recipe gives other columns.")
    rows = {tuple(result.key_values(row).items()): row for row in range(len(result.codes))}
    texts = {tuple((key, str(label)) for key, label in one): row for one, row in rows.items()}
    is_shown = np.zeros(result.values.shape, np.bool_)
    for cell, codes in enumerate(table.codes.tolist()):
        if np.isnan(table.values[cell]):
            continue
        keys = result.keys if is_across else result.keys[: len(codes) - 1]
        parts = zip(keys, table.labels, codes, strict=False)
        key = tuple((name, labels[code]) for name, labels, code in parts if code != TOTAL)
        row, number = texts.get(key), 0 if is_across else codes[-1]
        if row is None or number == TOTAL:
            raise _unlike_error(table, "It has a cell that the recipe does not give.")
        slack = 0.5 * 10.0 ** -int(table.decimals[cell]) * (1 + _ROUNDING) + 1e-9
        figure = result.values[row, number]
        if not abs(figure - table.values[cell]) <= slack + 1e-9 * abs(figure):
            raise _unlike_error(table, "A figure is not what the recipe makes of the data.")
        is_shown[row, number] = True
    return ~is_shown


def _unlike_error(table: FinishedTable, message: str) -> PolicyEngineError:
    hint = "Give the columns, in order, and the measure that the table was made by."
    return DataError.of("K029", message, hint, table.name)
