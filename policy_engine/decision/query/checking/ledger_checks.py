"""Checked answers against all that was released before, and against themselves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.reasons import (
    LEDGER_REASONS,
    SENTENCES,
    WHOLE_ANSWER,
    Reason,
    reasons_in,
)
from policy_engine.decision.query.checking.answer_populations import (
    AnswerScope,
    DatasetRows,
    cell_members,
    ledger_answer,
)
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.held_cells import with_held_cells
from policy_engine.decision.query.checking.protecting import NearCounts
from policy_engine.decision.query.checking.rank_marks import with_rank_marks
from policy_engine.decision.query.checking.value_marks import with_value_marks
from policy_engine.errors import LedgerError, Problem
from policy_engine.methods.output_checks.parameters import LedgerScope
from policy_engine.policy import Hierarchy
from policy_engine.release.output_ledger import (
    COUNT,
    PERSONS,
    PERSONS_AND_ROWS,
    ROUNDED_COUNT,
    CellOutcome,
    LedgerOutcome,
    OutputAnswer,
    OutputLedger,
    is_held,
    near_held_measure,
    near_measure,
)

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class RecordedAnswer:
    """The entry of the ledger that an answer is recorded in; `number` 0 if nothing could leave.

    `head` is that of the ledger afterwards, empty if it was not used, and `is_begun` says that
    there was no ledger before: then no earlier answer counts. What the ledger `found` against
    figures, by their numbers in the table of cells, is for owners and auditors alone.
    """

    scope: AnswerScope
    number: int = 0
    hash: str = ""
    head: str = ""
    is_begun: bool = False
    found: Mapping[int, tuple[CellOutcome, ...]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class LedgerUse:
    """How the ledger is used for an answer: whether the answer `is_recorded`, who `accepted` it, if
    a person did, and whether it `is_whole`: released in full or not at all. `confirm` raises what
    keeps it from being recorded, and is called just before."""

    is_recorded: bool = True
    accepted: str = ""
    is_whole: bool = False
    confirm: Callable[[], None] = lambda: None


RECORDING = LedgerUse()
SCOPES: tuple[LedgerScope, ...] = get_args(LedgerScope)
"""All kinds of scopes: an answer counts under each, whichever it was judged under."""


@dataclass(frozen=True)
class AnswerLedger:
    """The ledger that an answer is checked against and recorded in, under its scope.

    `verify_data` raises an error if the data is no longer that of the scope, once all is read.
    """

    ledger: OutputLedger
    scope: AnswerScope
    verify_data: Callable[[], None] = lambda: None

    def check(
        self,
        gathered: GatheredAnswer,
        verdict: TableVerdict,
        rows: Callable[[], DatasetRows],
        tables: "Mapping[str, pa.Table]",
        near: NearCounts,
        use: LedgerUse = RECORDING,
    ) -> tuple[TableVerdict, RecordedAnswer]:
        """Return the verdict with what the ledger has against cells; what is left is recorded, if
        that is the `use` of the ledger. Counts that are shown in another form are `near`.

        Raises LedgerError (K030 to K037) if the ledger cannot be used: then nothing is shown.
        """
        # What does not pass may be shown all the same, in another form, and is then recorded too.
        is_protected = verdict.check.is_changing_figures
        if not (is_protected or verdict.released.any()):
            return verdict, RecordedAnswer(self.scope)
        members = [*cell_members(gathered, rows(), tables)]
        answer = ledger_answer(gathered, verdict, rows(), members, self.scope)
        answer = with_value_marks(answer, gathered, verdict, rows(), members)
        more = gathered, _with_small(verdict, near), rows(), tables, members
        held = with_held_cells(answer, *more, is_accepted=bool(use.accepted))
        answer = _with_near_held(answer, held, near)
        unfiltered = rows().unfiltered
        if unfiltered is not None:
            answer = with_rank_marks(answer, gathered, verdict, unfiltered)
        answer = _with_near_counts(answer, near, verdict.reasons.size)
        self.verify_data()
        use.confirm()
        answer = replace(answer, accepted=use.accepted)
        partly = not (verdict.check.is_all_or_nothing or use.is_whole)
        outcome = (
            self.ledger.check_and_record(answer, partly=partly)
            if use.is_recorded
            else self.ledger.would_record(answer, partly=partly)
        )
        reasons, masks = verdict.reasons.copy(), np.zeros(len(answer.cells), np.uint32)
        for place, cell in enumerate(outcome.cells):
            if answer.cells[place].is_released and cell.state != "released":
                masks[place] = LEDGER_REASONS.get(cell.code, Reason.DENIED_WITH_OTHERS).bit
            elif outcome.state == "review":
                # Of an answer of which nothing is shown, it is not told what else is against it.
                masks[place] = _of_answer(outcome).bit
            elif answer.cells[place].is_released and not outcome.may_leave:
                masks[place] = Reason.DENIED_WITH_OTHERS.bit
        if is_protected and not outcome.may_leave:
            reasons |= np.uint32(Reason.DENIED_WITH_OTHERS.bit)
        figures = np.array([cell.figure % reasons.size for cell in answer.cells], np.int64)
        np.bitwise_or.at(reasons.reshape(-1), figures, masks)
        recorded = RecordedAnswer(
            self.scope,
            outcome.number,
            outcome.hash,
            outcome.head,
            outcome.is_begun,
            _found(answer, outcome, reasons.size),
        )
        return replace(verdict, reasons=reasons), recorded


def _with_small(verdict: TableVerdict, near: NearCounts) -> TableVerdict:
    """Return a verdict by which small counts that may be shown in another form are released."""
    reasons = verdict.reasons.copy()
    reasons.reshape(-1)[sorted(near.small)] = 0
    return replace(verdict, reasons=reasons)


def _with_near_held(answer: OutputAnswer, held: OutputAnswer, near: NearCounts) -> OutputAnswer:
    """Return an answer with cells of how many are some holders, of which small counts in another
    form tell it nearly: marks of what exact ones tell are left out of these."""
    cells = [*answer.cells]
    for cell in held.cells[len(cells) :]:
        if cell.figure not in near.small:
            cells.append(cell)
        elif is_held(cell.measure):
            cells.append(replace(cell, measure=near_held_measure(cell.measure), value=None))
    return replace(held, cells=tuple(cells))


def _with_near_counts(answer: OutputAnswer, near: NearCounts, figures: int) -> OutputAnswer:
    """Return an answer whose counts are known to be rounded, with marks of between what those lie
    that are shown, as figures of their own: they are numbered from the number of all `figures` on.
    """
    # Where nobody has several rows, a number of persons is one of rows.
    counts = (COUNT,) if answer.owners is not None else (COUNT, PERSONS, PERSONS_AND_ROWS)
    cells, marks = [], []
    for cell in answer.cells:
        is_rounded = cell.measure in counts and cell.figure in near.ends
        is_shown = cell.is_released or cell.figure in near.small
        cells.append(replace(cell, measure=ROUNDED_COUNT) if is_rounded else cell)
        if is_rounded and is_shown:
            mark = replace(cell, measure=near_measure(*near.ends[cell.figure]), value=None)
            marks.append(replace(mark, figure=figures + cell.figure, is_released=True))
    return replace(answer, cells=(*cells, *marks))


def _found(
    answer: OutputAnswer, outcome: LedgerOutcome, figures: int
) -> dict[int, tuple[CellOutcome, ...]]:
    """Return what the ledger has against figures, each reason with what would be told once."""
    outcomes: dict[int, list[CellOutcome]] = {}
    for cell, own in zip(answer.cells, outcome.cells, strict=True):
        others = outcomes.setdefault(cell.figure % figures, []) if own.code else []
        if own.code and not any((one.code, one.told) == (own.code, own.told) for one in others):
            others.append(own)
    return {figure: tuple(several) for figure, several in outcomes.items()}


def check_lifted(accepted: TableVerdict, verdict: TableVerdict) -> None:
    """Raise LedgerError where a cell that a person accepted is at fault, with the codes of what the
    ledger has against it."""
    masks = verdict.reasons[accepted.released & ~verdict.released]
    if not len(masks):
        return
    codes = sorted({one.value for mask in np.unique(masks).tolist() for one in reasons_in(mask)})
    own = [code for code in codes if code in LEDGER_REASONS] or codes
    hint = "Reject it. What was answered since it was sent for review counts, too."
    raise LedgerError(*(Problem(code, SENTENCES[Reason(code)], hint) for code in own))


def _of_answer(outcome: LedgerOutcome) -> Reason:
    """Return the reason for which a person has to decide about an answer."""
    reasons = [LEDGER_REASONS[code] for code in outcome.codes if code in LEDGER_REASONS]
    return next((one for one in reasons if one in WHOLE_ANSWER), Reason.BEYOND_LEDGER)


def scope_keys(
    kind: LedgerScope, assignee: str, purpose: str, dataset: str, hierarchy: Hierarchy
) -> tuple[str, ...]:
    """Return the keys under which an answer counts: those whose earlier answers it is added to.

    An organisation is whatever a party belongs to, however indirectly, and the party itself. Who
    asks for no purpose that is a project is one of their own.
    """
    if kind == "dataset":
        return (f"dataset:{dataset}",)
    if kind == "project" and purpose:
        return (f"project:{purpose}",)
    if kind == "organisation":
        groups = sorted(hierarchy.wider("party", assignee))
        return tuple(f"organisation:{group}" for group in groups)
    return (f"assignee:{assignee}",)
