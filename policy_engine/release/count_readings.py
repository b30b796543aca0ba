"""What tables tell of how many rows there are: the cells that are shown, and those withheld."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.contributions import Contributions
from policy_engine.audits.outputs.judging import judge_statistic
from policy_engine.audits.outputs.lines import line_rests, line_shares
from policy_engine.audits.outputs.listing import is_listed_whole
from policy_engine.audits.outputs.model import (
    CellEvidence,
    Counts,
    Figures,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.audits.outputs.tabulating import COUNTS
from policy_engine.kernels.output_checks.world_sums import SumReach
from policy_engine.methods.output_checks.profile import NEARLY_ALL
from policy_engine.release.judged_tables import JudgedTable

Cells = NDArray[np.bool_]
ROWS = "rows"
TELLING = ("mean", "median", "quantile", "std", "var", "sem", "skew")
"""Aggregates that may tell, alone or together, how many rows they are of: a total and a mean do, a
deviation and a standard error, and fractions of whole numbers."""
_NEAR = 1e-6
_PRIMARY = Reason.FEW_UNITS.bit | Reason.GROUP_DISCLOSURE.bit
_WIDTH = 2.0
"""By how much at least what is known of a withheld count must be open: one less and one more."""


@dataclass(frozen=True)
class CellGoal:
    """Between what must be possible to lie what is to stay unknown: down to `low`, up to `high`."""

    low: float
    high: float

    def is_missed(self, reach: SumReach) -> bool:
        """Return whether less is possible by what is known."""
        return reach.low > self.low + _NEAR or reach.high < self.high - _NEAR


@dataclass(frozen=True)
class RestGoals:
    """What must stay possible of those who are in a line, and not in the cell that has nearly all
    of it: one of that they are `enough`, and that the cell has no more than a share of the line,
    in thousandths; 0 for what is not asked."""

    enough: int
    thousandths: int


@dataclass(frozen=True, eq=False)
class CountReading:
    """What one measure of a table tells of how much something is: cells that are `shown`, with
    their `figures`, both (rows,), and what must stay possible of those withheld, one of the `goals`
    for each of their rows.

    `table` is the table, `number` that of the measure, and `system` what is counted or added up.
    `rests` say, by the number of a key, what must stay possible of the rest of a line along it, by
    the row of the cell that has nearly all of it. Counts that `are_inferred` are not shown, but may
    follow from what is.
    """

    table: JudgedTable
    number: int
    system: str
    shown: Cells
    figures: Figures
    goals: dict[int, tuple[CellGoal, ...]]
    rests: dict[int, dict[int, RestGoals]] = field(default_factory=dict)
    are_inferred: bool = False
    are_zeros_secret: bool = False

    @property
    def has_secrets(self) -> bool:
        """Whether something of it must stay unknown."""
        parts = range(int(self.table.made.sets.max(initial=-1)) + 1)
        is_open = self.are_zeros_secret and any(self.most_absent(part) > 0 for part in parts)
        return bool(self.goals or self.rests) or is_open

    @property
    def are_counts(self) -> bool:
        """Whether rows are counted, or rows with a value."""
        return not self.system.startswith("sum:")

    @property
    def members(self) -> Counts:
        """The rows of the data that are in the table, by their numbers, (members,)."""
        numbers: Counts = self.table.made.members[self.number].numbers
        return numbers

    @property
    def total(self) -> int:
        """How many rows are in the table."""
        return len(np.unique(self.members))

    def most_absent(self, number: int) -> float:
        """Return how many rows a combination of keys may have that one of the sets of keys of the
        table does not list: none where it lists all that somebody has, else anything."""
        made, verdict = self.table.made, self.table.verdict
        if not verdict.released.any():
            return np.inf
        is_whole = is_listed_whole(verdict, made.sets, made.units, number)
        return 0.0 if is_whole else np.inf


@dataclass(frozen=True, eq=False)
class _CountCells:
    """The cells of a measure that are counts, all arrays (rows,): how many rows and units are in
    each, whether it is shown, and the reasons against showing counts of it. `is_any_shown` tells
    whether any cell of the table is."""

    table: JudgedTable
    values: Figures
    units: Counts
    shown: Cells
    reasons: NDArray[np.uint32]
    is_any_shown: bool

    @property
    def is_primary(self) -> Cells:
        """Which cells are withheld for themselves."""
        return np.asarray(((self.reasons & np.uint32(_PRIMARY)) != 0) & ~self.shown, np.bool_)

    def is_for(self, reason: Reason) -> Cells:
        """Return which cells a reason is against."""
        return np.asarray((self.reasons & np.uint32(reason.bit)) != 0, np.bool_)

    def reading(self, number: int, system: str, *, are_inferred: bool = False) -> CountReading:
        """Return what a measure tells of these counts, by its number."""
        is_known = self.shown & (self.values > 0) if are_inferred else self.shown
        figures = number, system, is_known, self.values
        is_secret = self.table.verdict.check.profile.zeros_disclosive
        return CountReading(
            self.table, *figures, _goals(self), _rests(self), are_inferred, is_secret
        )


def count_readings(one: JudgedTable) -> Iterator[CountReading]:
    """Yield what a table tells of numbers of rows, and of totals without negative parts."""
    made, released = one.made, one.verdict.released
    for number, (measure, aggregate) in enumerate(
        zip(made.table.measures, made.aggregates, strict=True)
    ):
        own, figures = released[:, number], made.table.values[:, number]
        present = np.bincount(made.members[number].rows, minlength=len(own))
        name = ROWS if np.array_equal(present, made.row_counts) else f"count:{aggregate.column}"
        if aggregate.function in COUNTS:
            yield _shown_counts(one, number).reading(number, name)
        if aggregate.function in TELLING or number in one.telling:
            yield _inferred_counts(one, number).reading(number, name, are_inferred=True)
        if aggregate.function == "sum":
            # What is shown of nobody says so: that all of a line are in a cell, too.
            is_nobody, none = own & (made.row_counts == 0), np.zeros(len(own))
            rests = _rests_beside_nobody(one, number)
            yield CountReading(one, number, ROWS, is_nobody, none, {}, rests)
            negatives = measure.statistics[0].evidence.negatives
            if negatives is None or not negatives.any():
                goals = _zero_goals(_shown_counts(one, number))
                some = {key: dict.fromkeys(rows, _ANYBODY) for key, rows in rests.items()}
                name = f"sum:{aggregate.column}"
                yield CountReading(one, number, name, own, figures, goals, some)


def _shown_counts(one: JudgedTable, number: int) -> _CountCells:
    verdict, table = one.verdict, one.made.table
    return _CountCells(
        one,
        table.values[:, number],
        table.measures[number].statistics[0].evidence.units,
        verdict.released[:, number],
        verdict.reasons[:, number],
        bool(verdict.released.any()),
    )


def _inferred_counts(one: JudgedTable, number: int) -> _CountCells:
    """Return how many rows a measure is of: where they are of few units, judged as a table of
    counts is. That a figure is of nearly all of a line is no reason against it."""
    cells = _implied_counts(one, number)
    is_few = cells.is_for(Reason.FEW_UNITS)
    return replace(cells, reasons=np.where(is_few, cells.reasons, np.uint32(0)))


def _implied_counts(one: JudgedTable, number: int) -> _CountCells:
    """Return how many rows a measure is of, judged as a table of counts is."""
    verdict, codes = one.verdict, one.made.table.codes
    members = one.made.members[number]
    units = Contributions(members.rows, members.units, len(codes)).units_in
    about = codes, units, one.made.settled, one.made.nested
    shares, rests = line_shares(*about), line_rests(*about)
    evidence = CellEvidence(units=units, group_share=shares, rest_of_line=rests)
    statistic = ShownStatistic(Statbarn.FREQUENCIES, evidence)
    return _CountCells(
        one,
        np.bincount(members.rows, minlength=len(codes)).astype(np.float64),
        units,
        verdict.released[:, number],
        judge_statistic(statistic, verdict.check.profile) & np.uint32(_PRIMARY),
        bool(verdict.released.any()),
    )


def _zero_goals(cells: _CountCells) -> dict[int, tuple[CellGoal, ...]]:
    if not cells.table.verdict.check.profile.zeros_disclosive:
        return {}
    is_zero = cells.is_primary & (cells.values == 0)
    return {row: (CellGoal(0.0, 1.0),) for row in np.flatnonzero(is_zero).tolist()}


def _goals(cells: _CountCells) -> dict[int, tuple[CellGoal, ...]]:
    """Return what must stay possible of the cells of a count that the rules withhold: one less and
    one more, or two less of what is all of a line.

    Of a table of which nothing is shown, how many are in a cell of enough tells of no group: only
    that nobody else is in its line would.
    """
    is_group = cells.is_for(Reason.GROUP_DISCLOSURE)
    is_meant = cells.is_primary & (cells.is_for(Reason.FEW_UNITS) | cells.is_any_shown)
    goals: dict[int, tuple[CellGoal, ...]] = {}
    for row in np.flatnonzero(is_meant).tolist():
        value = float(cells.values[row])
        low = max(value - 1, 0.0)
        if cells.table.verdict.check.secondary == "exact":
            goals[row] = CellGoal(low, -np.inf), CellGoal(np.inf, value + 1)
            goals[row] = goals[row] if value else goals[row][1:]
        elif value and is_group[row]:
            low = max(value - _WIDTH, 0.0)
            goals[row] = (CellGoal(low, max(value, low + _WIDTH)),)
        else:
            goals[row] = (CellGoal(low, value + 1),)
    return goals


def _rests_beside_nobody(one: JudgedTable, number: int) -> dict[int, dict[int, RestGoals]]:
    """Return what must stay possible beside a total of nobody: as of counts, for how many are in
    the cells is not shown."""
    if (one.made.row_counts > 0).all():
        return {}
    cells = _implied_counts(one, number)
    return _rests(replace(cells, shown=np.zeros_like(cells.shown)))


def _rests(cells: _CountCells) -> dict[int, dict[int, RestGoals]]:
    """Return by key and row what must stay possible of the rest of lines of which a cell has nearly
    all, or more than the profile allows."""
    codes, profile = cells.table.made.table.codes, cells.table.verdict.check.profile
    units = cells.units
    is_group = cells.is_primary & cells.is_for(Reason.GROUP_DISCLOSURE) & (units > 0)
    most = NEARLY_ALL if profile.max_group_share is None else profile.max_group_share
    result: dict[int, dict[int, RestGoals]] = {}
    for key in (one for one in range(codes.shape[1]) if one not in cells.table.made.settled):
        settled = [place for place in range(codes.shape[1]) if place != key]
        about = codes, units, settled, cells.table.made.nested
        shares, rests = line_shares(*about), line_rests(*about)
        is_most = is_group & (shares > max(most, _HALF))
        if profile.max_group_share is None:
            is_most &= rests < profile.min_units
        enough = profile.min_units if profile.max_group_share is None else 0
        for row in np.flatnonzero(is_most).tolist():
            result.setdefault(key, {})[row] = RestGoals(enough, round(most * _THOUSAND))
    return result


_HALF, _THOUSAND = 0.5, 1000
_ANYBODY = RestGoals(1, 0)
"""That somebody is in the rest, as far as their total tells."""
