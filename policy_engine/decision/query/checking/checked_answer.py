"""An answer that passes output checks: computed with its evidence, judged, and shown in part."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from policy_engine.audits.outputs.explaining import CONDITIONAL
from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.model import TOTAL, TableVerdict
from policy_engine.audits.outputs.reasons import CheckOutcome, Reason
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.decision.query.checking.answer_populations import DatasetRows
from policy_engine.decision.query.checking.checkable_query import CheckableQuery, check_joins
from policy_engine.decision.query.checking.condition_counts import ConditionCounts
from policy_engine.decision.query.checking.folded_keys import FoldedKeys, fold_keys
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer, gather_answer
from policy_engine.decision.query.checking.joint_keys import with_joint_keys
from policy_engine.decision.query.checking.ledger_checks import (
    RECORDING,
    AnswerLedger,
    LedgerUse,
    RecordedAnswer,
    check_lifted,
)
from policy_engine.decision.query.checking.lone_units import with_lone_units
from policy_engine.decision.query.checking.measured_columns import (
    check_identifiers,
)
from policy_engine.decision.query.checking.owned_rows import RowOwners
from policy_engine.decision.query.checking.possible_worlds import telling_cells
from policy_engine.decision.query.checking.protecting import (
    AnswerProtection,
    ProtectionInputs,
    check_protection,
)
from policy_engine.decision.query.checking.reviewed_cells import (
    AcceptedAnswer,
    AnswerReview,
    OfferedAnswer,
    check_same,
    is_for_review,
    opened,
    with_accepted,
)
from policy_engine.decision.query.checking.showing_released import (
    SuppressedCell,
    show_released,
)
from policy_engine.decision.query.checking.whole_columns import (
    check_addable,
    check_distinct,
    check_ranked,
    unruled_figures,
)

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class CheckedAnswer:
    """What a checked answer shows: its rows, and why some cells are missing in them.

    `verdict` has the figures, for owners and auditors alone; it is about the aggregates that
    the answer is computed from, each of which is a measure. It `is_released` if any figure is
    shown, or any row of an answer of keys alone. An answer `is_shortened` where rows of which
    nothing is released cannot be listed, whether there are any or not. `protection` says what
    was done to the figures that are shown, and `judged` is the verdict on the exact ones;
    `conditions` has the numbers by which conditions were judged, for owners and auditors, too, and
    `has_condition` whether the query asks of anybody whether a condition holds. `recorded` is
    the entry of the ledger, and `aggregates` are the texts of the measures. What a person may let
    out besides is `offered`, where that was asked for and there is anything.
    """

    table: "pa.Table"
    suppressed: tuple[SuppressedCell, ...]
    verdict: TableVerdict
    is_released: bool
    recorded: RecordedAnswer
    aggregates: tuple[str, ...]
    is_shortened: bool = False
    protection: str = ""
    has_condition: bool = False
    judged: TableVerdict | None = field(default=None, repr=False)
    conditions: ConditionCounts | None = field(default=None, repr=False)
    offered: OfferedAnswer | None = None

    @property
    def outcome(self) -> CheckOutcome:
        """What was decided about the answer."""
        outcome = self.verdict.outcome
        is_hidden = outcome is CheckOutcome.RELEASED and not self.is_released
        return CheckOutcome.SUPPRESSED if is_hidden else outcome

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the reasons for which cells are not shown, each once.

        An answer without any row has one, too, where rows may be missing.
        """
        codes = {code for cell in self.suppressed for code in cell.codes}
        if self.is_shortened and not self.table.num_rows:
            codes.add(Reason.WITHHELD.value)
        return tuple(sorted(codes))

    @property
    def advice(self) -> str:
        """What would pass of an answer that has conditions, where cells of it are withheld; empty
        otherwise. It follows from the query: that a condition is what withholds a cell is not told,
        for it would tell of those few who do not satisfy it."""
        return CONDITIONAL if self.has_condition and Reason.WITHHELD.value in self.codes else ""

    @property
    def profile(self) -> str:
        """The profile that the answer passed, and its version."""
        return self.verdict.check.profile.title


def judge_answer(
    checkable: CheckableQuery,
    gathered: GatheredAnswer,
    tables: "Mapping[str, pa.Table]",
    rows: Callable[[], DatasetRows],
) -> tuple[TableVerdict, ConditionCounts]:
    """Return the verdict on each cell by itself, with cells suppressed that are about nobody, or
    whose conditions hold of too few, or too few not, of those of whom they tell something; and of
    how many they do.

    Otherwise a condition about one person would be answered by whether its cell is shown. Raises
    NotCheckableError: K017 for a condition that cannot be read, K022 if the query fails.
    """
    verdict = judge(gathered.table, checkable.check)
    has_keys = (gathered.table.codes != TOTAL).any(axis=1)
    is_absent = (gathered.units == 0) & has_keys
    is_empty = np.repeat(is_absent[:, None], len(gathered.table.measures), axis=1)
    for number, measure in enumerate(gathered.table.measures):
        for evidence in (one.evidence for one in measure.statistics):
            is_empty[:, number] |= evidence.units == 0
    few = np.where(is_empty, np.uint32(Reason.FEW_UNITS.bit), np.uint32(0))
    units = checkable.check.profile.min_units
    telling = telling_cells(
        gathered,
        checkable.unfiltered,
        tables,
        lambda: rows().least_rows(units),
        _owners(checkable, rows),
    )
    query, cells = gathered.queries.query, len(gathered.sets)
    unruled = unruled_figures(query, cells, checkable.unfiltered, tables)
    reasons = verdict.reasons | few | telling.reasons | unruled
    return replace(verdict, reasons=reasons), telling


def _owners(checkable: CheckableQuery, rows: Callable[[], DatasetRows]) -> RowOwners | None:
    """Return whose rows conditions are asked of; None where each is somebody else's."""
    if not checkable.check.unit or rows().row_counts.max(initial=1) <= 1:
        return None
    row = checkable.unfiltered.resolved(checkable.row)
    least = rows().least_owners(checkable.check.profile.min_units)
    return RowOwners(least, row, lambda numbers: rows().owners(numbers))


def answer_checked(
    checkable: CheckableQuery,
    tables: "Mapping[str, pa.Table]",
    rows: Callable[[], DatasetRows],
    ledger: AnswerLedger,
    noise_key: bytes | None = None,
    review: AnswerReview | None = None,
) -> CheckedAnswer:
    """Return what may be shown of the answer to a query over the rows of its views.

    It is recorded in the ledger before it is returned: with exact figures where they pass, and as
    suppressed where they do not, whatever is shown. With a `review`, it has what a person may let
    out or, where somebody accepted that, it is what they accepted: all of it, or the LedgerError of
    what the ledger has against it (K040 to K045, K050). Raises NotCheckableError: K019 if joins
    give rows several rows, K022 if the query fails, K028 for what was not offered, and what
    `check_protection` does; LedgerError if the ledger cannot be used; DataError (C011) for totals
    without highspy.
    """
    check = checkable.check
    rows = cache(rows)
    check_protection(check, noise_key)
    check_identifiers(checkable.query.aggregates, tables)
    check_joins(checkable, tables, rows)
    check_distinct(checkable.query, checkable.unfiltered, checkable.unit if check.unit else None)
    check_ranked(checkable.query, checkable.unfiltered, tables)
    check_addable(checkable.query, checkable.unfiltered, tables)
    folded = fold_keys(checkable.query, checkable.nested, checkable.unfiltered, tables)
    checkable = replace(checkable, query=folded.judged)
    gathered = gather(checkable, tables)
    judged, conditions = judge_answer(checkable, gathered, tables, rows)
    task = _AnswerTask(checkable, folded, gathered, conditions, rows, tables, ledger, noise_key)
    if review is None:
        return task.answer(judged, suppress_totals(judged))
    if review.accepted is not None:
        return task.accepted(judged, review.accepted, is_exception=review.is_exception)
    checked = task.answer(judged, suppress_totals(judged))
    return task.reviewed(judged, review, checked)


@dataclass(frozen=True, eq=False)
class _AnswerTask:
    """A computed answer with all that is needed to check and release it."""

    checkable: CheckableQuery
    folded: FoldedKeys
    gathered: GatheredAnswer
    conditions: ConditionCounts
    rows: Callable[[], DatasetRows]
    tables: "Mapping[str, pa.Table]"
    ledger: AnswerLedger
    noise_key: bytes | None

    def answer(
        self, before: TableVerdict, proposed: TableVerdict, use: LedgerUse = RECORDING
    ) -> CheckedAnswer:
        """Return the answer by the verdict that is `proposed`, once the ledger has seen it; what
        was judged `before` any cell protects another says which figures may be in another form."""
        checkable, gathered = self.checkable, self.gathered
        inputs = ProtectionInputs(checkable.is_plain, self.rows, self.tables, self.noise_key)
        protection = AnswerProtection(gathered, before, inputs)
        more = self.rows, self.tables, protection.near_counts(proposed)
        verdict, recorded = self.ledger.check(gathered, proposed, *more, use)
        if use.is_whole:
            check_lifted(proposed, verdict)
        is_listed = gathered.is_listable | verdict.released.any(axis=1)
        protected = protection.protect(verdict)
        released = show_released(self.folded, protected.gathered, protected.verdict, is_listed)
        return CheckedAnswer(
            released.table,
            released.suppressed,
            protected.verdict,
            released.is_anything,
            recorded,
            tuple(one.text for one in checkable.query.aggregates),
            is_shortened=not gathered.are_all_listed,
            protection=protected.protection,
            has_condition=_has_condition(checkable),
            judged=verdict,
            conditions=self.conditions,
        )

    def reviewed(
        self, judged: TableVerdict, review: AnswerReview, checked: CheckedAnswer
    ) -> CheckedAnswer:
        """Return an answer with what a person may let out, unless nothing is left to one, and the
        head of the ledger that this was judged against, which is made if there was none.

        That there is nothing more than is shown, is for the person alone: it follows from what the
        ledger has against cells.
        """
        is_left = is_for_review(checked.judged or checked.verdict)
        if judged.check.mitigation == "deny" or not (review.is_exception or is_left):
            return checked
        is_begun = self.ledger.ledger.begin() or checked.recorded.is_begun
        head = str(self.ledger.ledger.summary().head)
        before = opened(judged, is_exception=review.is_exception)
        use = LedgerUse(is_recorded=False, accepted="nobody yet")
        offer = self.answer(before, suppress_totals(before), use)
        assert offer.judged is not None  # noqa: S101 (it was made here)
        is_more = len(offer.suppressed) < len(checked.suppressed)
        names = tuple(one.words for one in self.checkable.query.aggregates)
        offered = OfferedAnswer(offer.table, offer.judged.released, head, is_more, names)
        recorded = replace(checked.recorded, head=head, is_begun=is_begun)
        return replace(checked, offered=offered, recorded=recorded)

    def accepted(
        self, judged: TableVerdict, accepted: AcceptedAnswer, *, is_exception: bool
    ) -> CheckedAnswer:
        """Return just what was accepted, recorded as a whole, and first that it is the same."""
        before = opened(judged, is_exception=is_exception)
        check, data = self.checkable.check, self.ledger.scope.data
        proposed = with_accepted(before, accepted, check, data)
        use = LedgerUse(is_recorded=False, accepted=accepted.by, is_whole=True)
        check_same(self.answer(before, proposed, use).table, accepted)
        recording = replace(use, is_recorded=True, confirm=accepted.confirm)
        return self.answer(before, proposed, recording)


def _has_condition(checkable: CheckableQuery) -> bool:
    """Return whether a query has a condition: in WHERE, a subquery, or an aggregate of its own."""
    own = (one.kind == "binary" or one.is_group for one in checkable.query.aggregates)
    return checkable.unfiltered.condition is not None or any(own)


def gather(checkable: CheckableQuery, tables: "Mapping[str, pa.Table]") -> GatheredAnswer:
    """Return the aggregates of a query with their evidence. Raises NotCheckableError (K022)."""
    unit = checkable.unit if checkable.check.unit else None
    least = checkable.check.profile.min_units
    gathered = gather_answer(checkable.query, unit, tables, least, checkable.unfiltered)
    if checkable.check.secondary == "none":
        return gathered
    alone = with_lone_units(gathered, tables)
    return with_joint_keys(alone, tables, checkable.unfiltered)
