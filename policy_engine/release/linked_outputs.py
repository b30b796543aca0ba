"""Outputs as answers to an output ledger: tables that share persons are checked as one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.dominated_totals import least_contributors
from policy_engine.audits.outputs.model import Figures, TableVerdict
from policy_engine.audits.outputs.reasons import LEDGER_REASONS, CheckOutcome, Reason
from policy_engine.audits.outputs.tabulating import COUNTS, Tabulation
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.release.cell_conditions import CellConditions
from policy_engine.release.judged_tables import JudgedTable
from policy_engine.release.output_ledger.answers import (
    COUNT,
    LedgerOutcome,
    OutputAnswer,
    OutputCell,
    Protection,
    spread_column,
)
from policy_engine.release.output_ledger.known_counts import with_known_counts
from policy_engine.release.output_ledger.ledger import OutputLedger
from policy_engine.release.output_ledger.populations import Populations
from policy_engine.release.output_ledger.unit_owners import UnitOwners
from policy_engine.release.related_columns import ColumnHistory, MeasuredColumns
from policy_engine.release.telling_differences import ToldDifferences

_TOTALS = ("sum:", "mean:")
_SHARE = 0.1
"""How closely, of its value, a suppressed total may be known where the profile has no p%."""


@dataclass(frozen=True)
class LinkedScope:
    """What outputs are about: the dataset, its digest, how many rows it has, and the scopes under
    which earlier outputs about it count. `owners` say whose each row is, None where each is
    somebody else's, and `missing` which columns each row lacks, (rows, columns), None where nothing
    is known of the rows. `columns` are those that outputs about it measure."""

    dataset: str
    data: str
    rows: int
    scopes: tuple[str, ...]
    owners: UnitOwners | None = None
    missing: NDArray[np.bool_] | None = None
    columns: ColumnHistory = field(default_factory=ColumnHistory)

    def least(self, units: int) -> int:
        """Return how many rows are of so many units at least, whosever they are."""
        return units if self.owners is None else self.owners.units_of(units)


def link_output(
    verdict: TableVerdict,
    made: Tabulation,
    scope: LinkedScope,
    ledger: OutputLedger,
    name: str,
    earlier: Sequence[JudgedTable] = (),
    columns: MeasuredColumns | None = None,
) -> TableVerdict:
    """Return the verdict on an output after all that are in a ledger, where it is recorded; the
    `earlier` ones of its session are among them, and `columns` those that all of these measure.

    Cells that would reveal others, of this output or an earlier one, are withheld, and so are those
    that would with the number of all rows of a table: who reads it may know that. What two totals
    differ by is judged as a cell. Of a table of which nothing is shown, totals are recorded that
    the rules withhold, for later outputs could tell them together. Raises
    LedgerError for a ledger that cannot be used (K030 to K036).
    """
    # What hides a zero only is not secret: it is the sum of cells that are somebody's.
    covers = verdict.reasons == np.uint32(Reason.REVEALS_SUPPRESSED.bit)
    made_before = [one.made for one in earlier]
    columns = columns or scope.columns.measured(scope.rows, [*made_before, made])
    verdict = _without_sums(verdict, made, columns, earlier)
    conditions = _conditions(made, scope, made_before)
    table = _LinkedTable(made, scope, covers, columns, conditions, verdict.check)
    if verdict.released.any() and _has_counts(verdict, made):
        verdict = _beside_total(verdict, table, ledger)
    if verdict.released.any():
        cells = [*table.cells(verdict)]
        answer = table.answer([cell for _, cell in cells], name)
        outcome = ledger.check_and_record(answer, partly=verdict.check.mitigation != "deny")
        verdict = _after(verdict, cells, outcome)
    if not verdict.released.any() and (totals := table.secret_totals(verdict)):
        ledger.check_and_record(table.answer(totals, name), partly=True)
    return verdict


_SECRET_TOTALS = (
    *(Reason.FEW_UNITS, Reason.LARGEST_DOMINATES),
    *(Reason.TWO_LARGEST_DOMINATE, Reason.LARGEST_CAN_BE_ESTIMATED),
)
"""Why totals must stay unknown to later outputs even if nothing of a table was shown: they could
tell them together. Of counts, they may tell together what a table would have told of a group alone:
which of its cells are of nobody is not known."""


def _is_of_values(measure: str) -> bool:
    """Return whether two figures of a measure tell something of the values that they differ by."""
    return measure.startswith(_TOTALS) or bool(spread_column(measure))


_PlacedCell = tuple[tuple[int, int], OutputCell]
"""A cell of an output for a ledger, by its row and measure."""


@dataclass(frozen=True, eq=False)
class _LinkedTable:
    """An output, what it is about, which of its cells hide no more than a zero, (rows, measures),
    the columns that it measures, and the conditions of its cells, if they are known."""

    made: Tabulation
    scope: LinkedScope
    covers: NDArray[np.bool_]
    columns: MeasuredColumns
    conditions: CellConditions | None
    check: OutputCheck

    def answer(
        self, cells: Sequence[OutputCell], name: str, more: Populations | None = None
    ) -> OutputAnswer:
        """Return it as a ledger asks for it."""
        own, scope = _populations(self.made, self.scope.rows), self.scope
        # How many rows there are in all is known, whoever has most of them.
        may_tell = self._may_tell(cells) if more is None else None
        answer = OutputAnswer(
            dataset=scope.dataset,
            data=scope.data,
            scopes=scope.scopes,
            also=(f"dataset:{scope.dataset}",),
            populations=own if more is None else own.joined(more),
            cells=tuple(cells),
            bounds=self._bounds(),
            name=name,
            owners=scope.owners,
            is_same_condition=None if self.conditions is None else self.conditions.are_same,
            measured=self.columns.relations.measured,
            may_tell=may_tell,
            contributing=None if may_tell is None else may_tell.contributing,
        )
        if self.check.secondary == "none":
            return answer
        everybody = np.ones(scope.rows, np.bool_)
        return with_known_counts(answer, everybody, self._of_all() if self.is_of_all else ())

    @property
    def is_of_all(self) -> bool:
        """Whether it is about all rows of the data that have values in its columns."""
        return self.conditions is not None and self.conditions.is_of_all(self.made)

    def _of_all(self) -> Iterator[NDArray[np.bool_]]:
        """Yield the rows that each measure is of, and a model counts: (rows,) each."""
        for members in (*self.made.members, *filter(None, (self.made.counted,))):
            is_in = np.zeros(self.scope.rows, np.bool_)
            is_in[members.numbers] = True
            yield is_in

    def _may_tell(self, cells: Sequence[OutputCell]) -> ToldDifferences | None:
        """Return which differences may be told; None where there are only persons to count."""
        owners = self.scope.owners
        is_told = any(_is_of_values(cell.measure) for cell in cells)
        if not is_told and owners is None:
            return None
        units = np.arange(self.scope.rows) if owners is None else owners.numbers
        return ToldDifferences(units.astype(np.int64), self.columns.values, self.check.profile)

    def secret_totals(self, verdict: TableVerdict) -> list[OutputCell]:
        """Return the totals and means of which nothing may be told although nothing is shown."""
        bits = np.uint32(sum(one.bit for one in _SECRET_TOTALS))
        return [
            cell
            for (row, number), cell in self.cells(verdict)
            if cell.measure.startswith(_TOTALS) and verdict.reasons[row, number] & bits
        ]

    @property
    def texts(self) -> list[str]:
        """The condition of each row, empty where it is not known."""
        if self.conditions is None:
            return [""] * len(self.made.table.codes)
        return self.conditions.texts(self.made)

    def cells(self, verdict: TableVerdict) -> Iterator[_PlacedCell]:
        """Yield the cells by row and measure; suppressed ones have their protection. Those of a
        model are released together."""
        made, check, released = self.made, self.check, verdict.released
        rows, threshold = len(made.table.codes), self.scope.least(check.profile.min_units)
        of_values = self.scope.least(least_contributors(check.profile))
        texts = self.texts
        for number, aggregate in enumerate(made.aggregates):
            statistic = made.table.measures[number].statistics[0]
            values: Figures = made.table.values[:, number]
            is_count = aggregate.function in COUNTS
            protection = _protection(verdict, is_count=is_count)
            least = of_values if _is_of_values(aggregate.measure) else threshold
            for row in range(rows):
                is_cover = check.secondary == "none" or self.covers[row, number]
                if not released[row, number] and is_cover:
                    continue
                cell = OutputCell(
                    population=number * rows + row,
                    measure=COUNT if is_count else self._measure(number),
                    value=float(values[row]) if np.isfinite(values[row]) else None,
                    threshold=least,
                    is_released=bool(released[row, number]),
                    protection=protection if statistic.evidence.units[row] else Protection(),
                    # What the rules withhold must stay unknown under any condition.
                    condition=texts[row] * bool(released[row, number]),
                    figure=-1 if made.counted is None else 0,
                )
                yield (row, number), cell
        if made.counted is not None and released[0, 0]:
            count, place = float(len(made.counted.rows)), len(made.aggregates) * rows
            more = OutputCell(place, COUNT, count, threshold, condition=texts[0], figure=0)
            yield (0, 0), more

    def _measure(self, number: int) -> str:
        """Return what the ledger calls a measure."""
        one = self.made.aggregates[number]
        if not _is_of_values(one.measure):
            return one.measure
        label = self.columns.label(self.made, number)
        return replace(one, column=label).measure

    def _bounds(self) -> dict[str, tuple[float, float]]:
        """Return that totals have no negative contributions, of columns of which that is true."""
        bounds = {}
        for number, members in enumerate(self.made.members):
            is_linear = self.columns.of_measure(self.made, number) is not None
            if is_linear and members.values is not None and members.values.min(initial=0) >= 0:
                bounds[self.columns.label(self.made, number)] = (0.0, float("inf"))
        return bounds


def _without_sums(
    verdict: TableVerdict,
    made: Tabulation,
    columns: MeasuredColumns,
    earlier: Sequence[JudgedTable],
) -> TableVerdict:
    """Return the verdict with the cells left to a person (K046) of columns that are sums of others
    of which something is withheld: that could follow from them."""
    withheld = {
        column.name
        for verdict_of, one in [*((e.verdict, e.made) for e in earlier), (verdict, made)]
        for number in range(len(one.aggregates))
        if (column := columns.of_measure(one, number)) is not None
        and not verdict_of.released[:, number].all()
    }
    reasons = verdict.reasons.copy()
    for number in range(len(made.aggregates)):
        column = columns.of_measure(made, number)
        if column is not None and column.parts and withheld & {column.name, *column.parts}:
            reasons[:, number] |= np.uint32(Reason.BEYOND_LEDGER.bit)
    return replace(verdict, reasons=reasons)


def _conditions(
    made: Tabulation, scope: LinkedScope, earlier: Sequence[Tabulation]
) -> CellConditions | None:
    if scope.missing is None:
        return None
    return CellConditions(scope.rows, scope.missing, [*earlier, made])


def _has_counts(verdict: TableVerdict, made: Tabulation) -> bool:
    """Return whether counts of a table are to be protected by withholding others."""
    is_table = any(one.function in COUNTS for one in made.aggregates) and made.counted is None
    return is_table and verdict.check.secondary != "none" and verdict.check.mitigation != "deny"


def _beside_total(verdict: TableVerdict, table: _LinkedTable, ledger: OutputLedger) -> TableVerdict:
    """Return the verdict without cells that would reveal others with the number of all rows."""
    made, cells = table.made, [*table.cells(verdict)]
    totals = []
    for members in made.members:
        is_in = np.zeros(table.scope.rows, np.bool_)
        is_in[members.numbers] = True
        totals.append(is_in)
    place, least = len(made.aggregates) * len(made.table.codes), cells[0][1].threshold
    more = [
        OutputCell(place + number, COUNT, float(totals[number].sum()), least)
        for number, one in enumerate(made.aggregates)
        if one.function in COUNTS
    ]
    every = [*(cell for _, cell in cells), *more]
    answer = table.answer(every, "", Populations.of_masks(np.array(totals)))
    outcome = ledger.would_record(answer, partly=True)
    return _after(verdict, cells, outcome) if outcome.may_leave else verdict


def _after(
    verdict: TableVerdict, cells: Sequence[_PlacedCell], outcome: LedgerOutcome
) -> TableVerdict:
    """Return the verdict with what a ledger has against cells: the first of those that it saw."""
    # What is withheld with cells at fault is so for their reason, unless the policy denies all.
    others = () if verdict.check.mitigation == "deny" else outcome.codes
    reasons = verdict.reasons.copy()
    for (place, cell), after in zip(cells, outcome.cells, strict=False):
        if cell.is_released and (after.state != "released" or not outcome.may_leave):
            code = after.code or next(iter(others), "")
            reasons[place] |= LEDGER_REASONS.get(code, Reason.DENIED_WITH_OTHERS).bit
    return replace(verdict, reasons=reasons)


def with_withheld(verdict: TableVerdict, cells: NDArray[np.bool_]) -> TableVerdict:
    """Return a verdict on a table of one measure without cells that may not be shown beside those
    of other tables: `cells` (rows,) are those that may, if a person lets them or by the rules."""
    reasons = verdict.reasons.copy()
    outcomes = [verdict.outcome_of(mask) for mask in reasons[:, 0].tolist()]
    is_open = np.array([one is CheckOutcome.REVIEW for one in outcomes]) | (reasons[:, 0] == 0)
    reasons[is_open & ~cells, 0] |= Reason.REVEALS_SUPPRESSED.bit
    return replace(verdict, reasons=reasons)


def with_review(verdict: TableVerdict, cells: None) -> TableVerdict:  # noqa: ARG001 (of two)
    """Return a verdict by which a person has to decide about all cells."""
    bit = np.uint32(Reason.NEEDS_CHECKER.bit)
    return replace(verdict, reasons=(verdict.reasons | bit).astype(np.uint32))


def _protection(verdict: TableVerdict, *, is_count: bool) -> Protection:
    if verdict.check.secondary != "interval":
        return Protection()
    if is_count:
        return Protection(below=1.0, above=1.0)
    return Protection(share=verdict.check.profile.p_percent or _SHARE)


def _populations(made: Tabulation, count: int) -> Populations:
    """Return which of so many rows of the data are in each cell: measure by measure, in each the
    rows of the table, and behind them what a model counts."""
    whole = Populations(count)
    for members in (*made.members, *filter(None, (made.counted,))):
        for number in range(int(made.sets.max(initial=0)) + 1):
            rows = np.flatnonzero(made.sets == number)
            is_in = _between(members.rows, rows)
            own = (members.numbers[is_in], members.rows[is_in] - rows[0])
            whole = whole.joined(Populations.of_pairs(*own, count, len(rows)))
    return whole


def _between(numbers: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray((numbers >= rows[0]) & (numbers <= rows[-1]), np.bool_)
