"""What a checker may let out must not reveal what nobody lets out: cells under review stay blank
where others that are withheld might follow from them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import Counts, TableVerdict
from policy_engine.audits.outputs.reasons import CheckOutcome, Reason
from policy_engine.audits.outputs.tabulating import Tabulation
from policy_engine.release.output_folder.prepared import PreparedOutput

Cells = NDArray[np.bool_]


def protect_withheld(outputs: Sequence[PreparedOutput]) -> list[PreparedOutput]:
    """Return the judged outputs of a session with further cells of tables withheld (K044): those
    under review that are linked with a cell that is withheld.

    Cells are linked that share a unit, or are both linked with a third, of whichever output and
    measure: a cell follows from others only if some of these are linked with it.
    """
    tables = [some for one in outputs if (some := _cells_of(one)) is not None]
    if not any(one.is_withheld.any() for one in tables):
        return [*outputs]
    sets = _set_numbers(tables)
    withheld = np.concatenate([one.is_withheld for one in tables])
    is_linked = np.isin(sets, sets[withheld])
    starts = np.cumsum([0, *(len(one.is_withheld) for one in tables)])
    linked = iter(np.split(is_linked, starts[1:-1]))
    return [one if _cells_of(one) is None else _without(one, next(linked)) for one in outputs]


@dataclass(frozen=True, eq=False)
class _TableCells:
    """The cells of a table, measure by measure: which are withheld, and who is in them, pair by
    pair of cell and unit."""

    is_withheld: Cells
    cells: Counts
    units: Counts


def _cells_of(one: PreparedOutput) -> _TableCells | None:
    """Return the cells of a table made of microdata, None for anything else."""
    if one.made is None or one.verdict is None or one.model is not None or not one.made.members:
        return None
    is_withheld = (_outcomes(one.verdict, CheckOutcome.SUPPRESSED)).ravel(order="F")
    cells, units = _members(one.made)
    if (is_withheld & (np.bincount(cells, minlength=len(is_withheld)) == 0)).any():
        # That nobody is in a cell follows from all the others: they are linked.
        first = np.full(len(is_withheld), units[0] if len(units) else 0)
        cells, units = np.append(cells, np.arange(len(first))), np.append(units, first)
    return _TableCells(is_withheld, cells, units)


def _members(made: Tabulation) -> tuple[Counts, Counts]:
    rows = len(made.table.codes)
    cells = [number * rows + one.rows for number, one in enumerate(made.members)]
    return np.concatenate(cells), np.concatenate([one.units for one in made.members])


def _outcomes(verdict: TableVerdict, worst: CheckOutcome) -> Cells:
    """Return of which cells that are not released the outcome is so bad, or worse."""
    order = list(CheckOutcome)
    masks, numbers = np.unique(verdict.reasons, return_inverse=True)
    ranks = [order.index(verdict.outcome_of(mask)) if mask else len(order) for mask in masks]
    bad = np.array(ranks, np.int64)[numbers].reshape(verdict.reasons.shape) <= order.index(worst)
    return np.asarray(bad, np.bool_)


def _set_numbers(tables: Sequence[_TableCells]) -> Counts:
    """Return the number of the linked set that each cell is in, one table after the other."""
    from policy_engine.audits.outputs.linked_sets import linked_sets  # noqa: PLC0415 (slow)

    starts = np.cumsum([0, *(len(one.is_withheld) for one in tables)])
    cells = [one.cells + at for one, at in zip(tables, starts[:-1], strict=True)]
    units = [one.units for one in tables]
    return linked_sets(np.concatenate(cells), np.concatenate(units), int(starts[-1]))


def _without(one: PreparedOutput, is_linked: Cells) -> PreparedOutput:
    """Return a table whose cells under review are withheld where they are linked."""
    assert one.verdict is not None  # noqa: S101 (of a table)
    reasons = one.verdict.reasons.copy()
    is_open = _outcomes(one.verdict, CheckOutcome.REVIEW) & (reasons != 0)
    reasons[is_open & is_linked.reshape(reasons.shape, order="F")] |= Reason.REVEALS_SUPPRESSED.bit
    return replace(one, verdict=replace(one.verdict, reasons=reasons))
