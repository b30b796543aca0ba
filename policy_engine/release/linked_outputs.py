"""Outputs as answers to an output ledger: tables that share persons are checked as one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import Figures, TableVerdict
from policy_engine.audits.outputs.reasons import LEDGER_REASONS, CheckOutcome, Reason
from policy_engine.audits.outputs.tabulating import COUNTS, Tabulation
from policy_engine.release.output_ledger.answers import (
    COUNT,
    OutputAnswer,
    OutputCell,
    Protection,
)
from policy_engine.release.output_ledger.ledger import OutputLedger
from policy_engine.release.output_ledger.populations import Populations

_SHARE = 0.1
"""How closely, of its value, a suppressed total may be known where the profile has no p%."""
_ROWS = "sum:(rows)"


@dataclass(frozen=True)
class LinkedScope:
    """What outputs are about: the dataset, its digest, how many units it has, and the scopes under
    which earlier outputs about it count."""

    dataset: str
    data: str
    units: int
    scopes: tuple[str, ...]


def link_output(
    verdict: TableVerdict, made: Tabulation, scope: LinkedScope, ledger: OutputLedger, name: str
) -> TableVerdict:
    """Return the verdict on an output after all that are in a ledger, where it is recorded.

    Cells that would reveal others, of this output or an earlier one, are withheld. Raises
    LedgerError for a ledger that cannot be used (K030 to K036).
    """
    if not verdict.released.any():
        return verdict
    cells = [*_cells(verdict, made)]
    answer = OutputAnswer(
        dataset=scope.dataset,
        data=scope.data,
        scopes=scope.scopes,
        populations=_populations(made, scope.units),
        cells=tuple(cell for _, cell in cells),
        bounds=_bounds(made),
        name=name,
    )
    outcome = ledger.check_and_record(answer, partly=verdict.check.mitigation != "deny")
    # What is withheld with cells at fault is so for their reason, unless the policy denies all.
    others = () if verdict.check.mitigation == "deny" else outcome.codes
    reasons = verdict.reasons.copy()
    for (place, cell), after in zip(cells, outcome.cells, strict=True):
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


def _cells(verdict: TableVerdict, made: Tabulation) -> Iterator[tuple[tuple[int, int], OutputCell]]:
    """Yield the cells of an output by row and measure; suppressed ones have their protection."""
    check, rows, released = verdict.check, len(made.table.codes), verdict.released
    for number, aggregate in enumerate(made.aggregates):
        statistic = made.table.measures[number].statistics[0]
        is_single = _is_single(made, number)
        measure = _measure(made, number, is_single=is_single)
        values = _values(made, number, is_single=is_single)
        is_count = aggregate.function in COUNTS
        protection = _protection(verdict, is_count=is_count)
        for row in range(rows):
            # What hides a zero only is not secret: it is the sum of cells that are somebody's.
            is_cover = int(verdict.reasons[row, number]) == Reason.REVEALS_SUPPRESSED.bit
            if not released[row, number] and (check.secondary == "none" or is_cover):
                continue
            value = float(values[row]) if np.isfinite(values[row]) else None
            yield (
                (row, number),
                OutputCell(
                    population=number * rows + row,
                    measure=measure,
                    value=value,
                    threshold=check.profile.min_units,
                    is_released=bool(released[row, number]),
                    protection=protection if statistic.evidence.units[row] else Protection(),
                ),
            )


def _is_single(made: Tabulation, number: int) -> bool:
    """Return whether no unit has several rows in a cell of a measure."""
    evidence = made.table.measures[number].statistics[0].evidence
    present = np.bincount(made.members[number].rows, minlength=len(made.table.codes))
    return evidence.rows is None or bool((evidence.rows == present).all())


def _measure(made: Tabulation, number: int, *, is_single: bool) -> str:
    """Return what the ledger calls a measure. Where units have several rows, a count of rows is a
    total of them, and a mean counts as that total, as if everybody knew the rows."""
    one = made.aggregates[number]
    if one.function in COUNTS:
        return COUNT if is_single else f"{_ROWS}{one.column}"
    if one.function == "mean" and not is_single:
        return f"sum:{one.column}"
    return one.measure


def _values(made: Tabulation, number: int, *, is_single: bool) -> Figures:
    values = made.table.values[:, number]
    evidence = made.table.measures[number].statistics[0].evidence
    if made.aggregates[number].function == "mean" and not is_single and evidence.rows is not None:
        totals: Figures = values * evidence.rows
        return totals
    return values


def _protection(verdict: TableVerdict, *, is_count: bool) -> Protection:
    if verdict.check.secondary != "interval":
        return Protection()
    if is_count:
        return Protection(below=1.0, above=1.0)
    return Protection(share=verdict.check.profile.p_percent or _SHARE)


def _populations(made: Tabulation, units: int) -> Populations:
    """Return who is in each cell: measure by measure, in each the rows of the table."""
    whole = Populations(units)
    for members in made.members:
        for number in range(int(made.sets.max(initial=0)) + 1):
            rows = np.flatnonzero(made.sets == number)
            is_in = _between(members.rows, rows)
            own = (members.units[is_in], members.rows[is_in] - rows[0])
            whole = whole.joined(Populations.of_pairs(*own, units, len(rows)))
    return whole


def _between(numbers: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray((numbers >= rows[0]) & (numbers <= rows[-1]), np.bool_)


def _bounds(made: Tabulation) -> dict[str, tuple[float, float]]:
    """Return that totals have no negative contributions, of columns of which that is true."""
    bounds = {}
    for measure, one in zip(made.table.measures, made.aggregates, strict=True):
        negatives = measure.statistics[0].evidence.negatives
        if one.function in ("sum", "mean") and negatives is not None and not negatives.any():
            bounds[one.column] = (0.0, float("inf"))
    return bounds
