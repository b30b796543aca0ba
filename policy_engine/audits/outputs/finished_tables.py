"""Finished tables: what can be judged of them without the microdata, and whether they are what a
recipe makes of it."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.finding_totals import NOBODY
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
from policy_engine.audits.outputs.reading_tables import FinishedTable, TableKind
from policy_engine.audits.outputs.tabulating import ShownAggregate, Tabulation
from policy_engine.errors import DataError, PolicyEngineError

_ROUNDING, _NEAR = 1e-6, 1e-9


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
        check_totals(table)
    beside = table if kind == "counts" else counts
    units = np.zeros(len(table.values), np.int64)
    if beside is not None:
        if beside is not table:
            check_totals(beside)
        units = _whole(beside, table)
    shares, rests = known_shares(beside or table, units)
    evidence = CellEvidence(units=units, group_share=shares, rest_of_line=rests)
    statistics = [ShownStatistic(Statbarn.FREQUENCIES, evidence)] if beside is not None else []
    if kind != "counts" or not is_of_units or table.doubt:
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


def known_shares(table: FinishedTable, units: Counts) -> tuple[Figures, Figures]:
    """Return the most of a line that a reader knows each cell to have, and the fewest units that
    the line has besides, both (cells,): NaN where a cell of the line is withheld, and its total is
    not shown."""
    shares, rests = np.full(len(units), np.nan), np.full(len(units), np.nan)
    for key in range(len(table.keys)):
        families = _Families.of(table, key)
        is_part = table.codes[:, key] != TOTAL
        count = families.count
        blanks = np.bincount(families.own, is_part & table.is_blank, minlength=count)
        sums = np.where(
            blanks > 0, np.nan, np.bincount(families.own, units * is_part, minlength=count)
        )
        is_sum = (families.below >= 0) & ~table.is_blank
        sums[families.below[is_sum]] = units[is_sum]
        whole = sums[families.own]
        is_known = is_part & ~table.is_blank & (whole > 0)
        shares = np.fmax(shares, np.where(is_known, units / np.where(whole > 0, whole, 1), np.nan))
        rests = np.fmin(rests, np.where(is_known, whole - units, np.nan))
    return shares, rests


class _Families:
    """The totals along a key with their parts: of each cell the family that it is a part of,
    `own`, and the one that it is the total of, `below`, -1 for none; both (cells,)."""

    def __init__(self, own: Counts, below: Counts) -> None:
        self.own, self.below = own, below
        self.count = int(max(own.max(initial=-1), below.max(initial=-1))) + 1

    @classmethod
    def of(cls, table: FinishedTable, key: int) -> "_Families":
        parents = np.array([*table.parents[key], NOBODY - 1], np.int64)
        codes = table.codes[:, key]
        # A total of all is in a family of its own.
        upper = np.where(codes == TOTAL, NOBODY - 1, parents[codes])
        others = np.delete(table.codes, key, axis=1)
        both = np.concatenate([np.column_stack([others, upper]), np.column_stack([others, codes])])
        numbers = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        own, below = numbers[: len(codes)], numbers[len(codes) :]
        return cls(own, np.where(np.isin(below, own), below, -1))


def _for_a_person(units: Counts, has_counts: bool) -> ShownStatistic:
    # Without counts nobody knows of how few a figure is: that is for a person, too, and no rule
    # of few units may say more than is known.
    known_units = units if has_counts else np.full(len(units), np.iinfo(np.int64).max)
    return ShownStatistic(Statbarn.OTHER, CellEvidence(known_units))


def check_totals(table: FinishedTable) -> None:
    """Raise DataError (K026) for totals that are not the sums of the cells shown with them."""
    count = 0
    for key in range(len(table.keys)):
        families = _Families.of(table, key)
        sizes = np.bincount(np.array([*table.parents[key]], np.int64) + 1, minlength=1)
        figures = np.nan_to_num(table.values)
        width = families.count
        parts = np.bincount(families.own, ~table.is_blank, minlength=width)
        sums = np.bincount(families.own, figures, minlength=width)
        slack = np.bincount(families.own, table.slack, minlength=width)
        large = np.bincount(families.own, np.abs(figures), minlength=width)
        is_total = (families.below >= 0) & ~table.is_blank
        below, codes = families.below[is_total], table.codes[is_total, key]
        padded = np.zeros(len(table.labels[key]) + 1, np.int64)
        padded[: len(sizes)] = sizes
        is_whole = parts[below] == padded[codes + 1]
        reach = slack[below] + table.slack[is_total] + _NEAR * large[below]
        is_off = np.abs(sums[below] - table.values[is_total]) > reach
        count += int((is_whole & is_off).sum())
    if count:
        noun = "1 total is" if count == 1 else f"{count} totals are"
        message = f"{noun} not the sum of the cells shown with it."
        hint = "Give the table as it was computed; means are not added up (kind means)."
        raise DataError.of("K026", message, hint, table.name)


def _whole(counts: FinishedTable, table: FinishedTable) -> Counts:
    """Return the counts of each cell of a table; withheld ones are of nobody in the table itself,
    and of one in another: how few there are is not said."""
    if counts.words != table.words:
        message = "The counts are not those of the table: their labels differ."
        raise DataError.of("C010", message, source=counts.name)
    figures = np.nan_to_num(counts.values)
    if (figures < 0).any() or (figures != np.rint(figures)).any() or (figures >= 2**53).any():
        message = "Counts are whole numbers from 0 on, below 2**53."
        raise DataError.of("C010", message, "Of other figures, say the kind.", counts.name)
    if counts is not table:
        figures = np.where(counts.is_blank, 1, figures)
    return figures.astype(np.int64)


# -- with microdata ----------------------------------------------------------------------------


def matched_cells(table: FinishedTable, made: Tabulation) -> Counts:
    """Return for each cell of a finished table which row and measure of those that a recipe makes
    of microdata it is, (cells, 2): -1 for a blank cell that the recipe does not give.

    Raises DataError (K029) where the table shows what the recipe does not give.
    """
    result = made.table
    is_across = len(result.keys) == len(table.keys)
    columns = 1 if is_across else len(table.labels[-1])
    if columns != len(result.measures) or len(table.keys) - len(result.keys) not in (0, 1):
        raise _unlike_error(table, "The recipe gives other columns.")
    rows = {tuple(result.key_values(row).items()): row for row in range(len(result.codes))}
    texts = {tuple((key, str(label)) for key, label in one): row for one, row in rows.items()}
    matches = np.full((len(table.values), 2), -1, np.int64)
    for cell, codes in enumerate(table.codes.tolist()):
        keys = result.keys if is_across else result.keys[: len(codes) - 1]
        parts = zip(keys, table.labels, codes, strict=False)
        key = tuple((name, labels[code]) for name, labels, code in parts if code != TOTAL)
        row, number = texts.get(key), 0 if is_across else codes[-1]
        if row is not None and number != TOTAL:
            matches[cell] = row, number
    _check_figures(table, result.values, matches)
    return matches


def _check_figures(table: FinishedTable, figures: Figures, matches: Counts) -> None:
    """Raise DataError (K029) for a cell that is shown and not among the figures, or another one."""
    is_shown = ~table.is_blank
    if (matches[is_shown] < 0).any():
        raise _unlike_error(table, "It has a cell that the recipe does not give.")
    own = figures[tuple(matches[is_shown].T)]
    slack = table.slack[is_shown] * (1 + _ROUNDING) + _NEAR + 1e-9 * np.abs(own)
    if not (np.abs(own - table.values[is_shown]) <= slack).all():
        raise _unlike_error(table, "A figure is not what the recipe makes of the data.")


def withheld_cells(table: FinishedTable, matches: Counts, made: Tabulation) -> NDArray[np.bool_]:
    """Return which cells that a recipe makes of microdata are withheld in a finished table whose
    cells they match: (rows, measures)."""
    is_withheld = np.ones(made.table.values.shape, np.bool_)
    is_withheld[tuple(matches[~table.is_blank].T)] = False
    return is_withheld


def _unlike_error(table: FinishedTable, message: str) -> PolicyEngineError:
    hint = "Give the columns, in order, and the measure that the table was made by."
    return DataError.of("K029", message, hint, table.name)
