"""What tables tell of how many rows there are: the cells that are shown, and those withheld."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.lines import line_rests, line_shares
from policy_engine.audits.outputs.listing import is_listed_whole
from policy_engine.audits.outputs.model import Counts, Figures
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.audits.outputs.tabulating import COUNTS
from policy_engine.kernels.output_checks.world_sums import SumReach
from policy_engine.methods.output_checks.profile import NEARLY_ALL
from policy_engine.release.judged_tables import JudgedTable

Cells = NDArray[np.bool_]
ROWS = "rows"
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
    the row of the cell that has nearly all of it.
    """

    table: JudgedTable
    number: int
    system: str
    shown: Cells
    figures: Figures
    goals: dict[int, tuple[CellGoal, ...]]
    rests: dict[int, dict[int, RestGoals]] = field(default_factory=dict)

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
            goals, rests = _goals(one, number), _rests(one, number)
            yield CountReading(one, number, name, own, figures, goals, rests)
        elif aggregate.function == "mean":
            counts = present.astype(np.float64)
            yield CountReading(one, number, name, own & (present > 0), counts, {})
        elif aggregate.function == "sum":
            # What is shown of nobody says so.
            is_nobody, none = own & (made.row_counts == 0), np.zeros(len(own))
            yield CountReading(one, number, ROWS, is_nobody, none, {})
            negatives = measure.statistics[0].evidence.negatives
            if negatives is None or not negatives.any():
                goals = _zero_goals(one, number)
                yield CountReading(one, number, f"sum:{aggregate.column}", own, figures, goals)


def _is_primary(one: JudgedTable, number: int) -> Cells:
    reasons, is_shown = one.verdict.reasons[:, number], one.verdict.released[:, number]
    return np.asarray(((reasons & np.uint32(_PRIMARY)) != 0) & ~is_shown, np.bool_)


def _zero_goals(one: JudgedTable, number: int) -> dict[int, tuple[CellGoal, ...]]:
    if not one.verdict.check.profile.zeros_disclosive:
        return {}
    is_zero = _is_primary(one, number) & (one.made.table.values[:, number] == 0)
    return {row: (CellGoal(0.0, 1.0),) for row in np.flatnonzero(is_zero).tolist()}


def _goals(one: JudgedTable, number: int) -> dict[int, tuple[CellGoal, ...]]:
    """Return what must stay possible of the cells of a count that the rules withhold: one less and
    one more, or two less of what is all of a line.

    Of a table of which nothing is shown, how many are in a cell of enough tells of no group: only
    that nobody else is in its line would.
    """
    values, reasons = one.made.table.values[:, number], one.verdict.reasons[:, number]
    is_few = (reasons & np.uint32(Reason.FEW_UNITS.bit)) != 0
    is_meant = _is_primary(one, number) & (is_few | one.verdict.released.any())
    goals: dict[int, tuple[CellGoal, ...]] = {}
    for row in np.flatnonzero(is_meant).tolist():
        value = float(values[row])
        low = max(value - 1, 0.0)
        if one.verdict.check.secondary == "exact":
            goals[row] = CellGoal(low, -np.inf), CellGoal(np.inf, value + 1)
            goals[row] = goals[row] if value else goals[row][1:]
        elif value and reasons[row] & np.uint32(Reason.GROUP_DISCLOSURE.bit):
            low = max(value - _WIDTH, 0.0)
            goals[row] = (CellGoal(low, max(value, low + _WIDTH)),)
        else:
            goals[row] = (CellGoal(low, value + 1),)
    return goals


def _rests(one: JudgedTable, number: int) -> dict[int, dict[int, RestGoals]]:
    """Return by key and row what must stay possible of the rest of lines of which a cell has nearly
    all, or more than the profile allows."""
    codes, profile = one.made.table.codes, one.verdict.check.profile
    units = one.made.table.measures[number].statistics[0].evidence.units
    bit = np.uint32(Reason.GROUP_DISCLOSURE.bit)
    is_group = (
        _is_primary(one, number) & ((one.verdict.reasons[:, number] & bit) != 0) & (units > 0)
    )
    most = NEARLY_ALL if profile.max_group_share is None else profile.max_group_share
    result: dict[int, dict[int, RestGoals]] = {}
    for key in range(codes.shape[1]):
        settled = [place for place in range(codes.shape[1]) if place != key]
        shares, rests = line_shares(codes, units, settled), line_rests(codes, units, settled)
        is_most = is_group & (shares > max(most, _HALF))
        if profile.max_group_share is None:
            is_most &= rests < profile.min_units
        enough = profile.min_units if profile.max_group_share is None else 0
        for row in np.flatnonzero(is_most).tolist():
            result.setdefault(key, {})[row] = RestGoals(enough, round(most * _THOUSAND))
    return result


_HALF, _THOUSAND = 0.5, 1000
