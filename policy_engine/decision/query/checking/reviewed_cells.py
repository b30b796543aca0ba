"""Cells of a checked answer that a person may let out, where the rules do not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.reasons import CheckOutcome, Reason
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.methods.output_checks.parameters import OutputCheck

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_NEAR = 1e-9
"""The share of a figure that the order in which its rows are added up may change."""


@dataclass(frozen=True, eq=False)
class AcceptedAnswer:
    """What somebody accepted of an answer: its `cells`, (rows, aggregates), and its `table`.

    `data` is the digest of the data that it is of, and `check` what it was judged by. `confirm` is
    called just before it is recorded: what that raises keeps it from being recorded.
    """

    by: str
    cells: Sequence[Sequence[bool]]
    table: "pa.Table"
    data: str
    check: OutputCheck
    confirm: Callable[[], None] = lambda: None


@dataclass(frozen=True, eq=False)
class AnswerReview:
    """What a person is to decide about an answer, or has decided.

    Asked for are the cells that the rules leave to a person or, where it `is_exception`, all that
    are computed. What somebody has `accepted` is given, and nothing else.
    """

    is_exception: bool = False
    accepted: AcceptedAnswer | None = None


@dataclass(frozen=True, eq=False)
class OfferedAnswer:
    """What a person may let out of an answer: its rows, and which cells are in them.

    `cells` are (rows, aggregates) of the verdict. A cell that the ledger has something against is
    not among them, whatever a person thinks of it. It `is_more` where the rules show less.
    `aggregates` are what people read for those of the verdict. `head` is that of the ledger which
    it was judged against.
    """

    table: "pa.Table"
    cells: "NDArray[np.bool_]"
    head: str
    is_more: bool = True
    aggregates: tuple[str, ...] = ()


def is_for_review(verdict: TableVerdict) -> bool:
    """Return whether the rules leave any cell of an answer to a person."""
    return bool(_open_cells(verdict, is_exception=False).any())


def opened(verdict: TableVerdict, *, is_exception: bool) -> TableVerdict:
    """Return the verdict without what a person may lift; what the policy refuses stays.

    Cells are then released one by one, though the policy shows all of an answer or nothing.
    """
    is_open = _open_cells(verdict, is_exception=is_exception)
    reasons = np.where(is_open, np.uint32(0), verdict.reasons).astype(np.uint32)
    check = verdict.check
    if check.mitigation == "review":
        check = check.model_copy(update={"mitigation": "suppress"})
    return replace(verdict, check=check, reasons=reasons)


def _open_cells(verdict: TableVerdict, *, is_exception: bool) -> "NDArray[np.bool_]":
    """Return the cells that are not released and that a person may let out."""
    if verdict.check.mitigation == "deny":
        return np.zeros_like(verdict.reasons, np.bool_)
    if is_exception:
        is_computed = (verdict.reasons & np.uint32(Reason.EXTREME.bit)) == 0
        return np.asarray((verdict.reasons != 0) & is_computed, np.bool_)
    masks, numbers = np.unique(verdict.reasons, return_inverse=True)
    is_open = [
        mask != 0 and verdict.outcome_of(mask) is CheckOutcome.REVIEW for mask in masks.tolist()
    ]
    return np.array(is_open, np.bool_)[numbers].reshape(verdict.reasons.shape)


def with_accepted(
    verdict: TableVerdict, accepted: AcceptedAnswer, check: OutputCheck, data: str
) -> TableVerdict:
    """Return an opened verdict by which just the accepted cells are released.

    Raises NotCheckableError (K028) where the `check` that is asked for or the digest of the data is
    another one than that of what was reviewed.
    """
    cells = np.array(accepted.cells, np.bool_)
    is_same = (data, check) == (accepted.data, accepted.check)
    if not is_same or cells.shape != verdict.reasons.shape or (cells & ~verdict.released).any():
        raise other_answer("the policy or its data have changed")
    is_left = ~cells & (verdict.reasons == 0)
    more = np.where(is_left, np.uint32(Reason.COMPLEMENTARY.bit), np.uint32(0))
    return replace(verdict, reasons=verdict.reasons | more)


def check_same(table: "pa.Table", accepted: AcceptedAnswer) -> None:
    """Raise NotCheckableError (K028) unless an answer is the one that was accepted.

    Of floats, the last digits are those of the order in which rows are added up.
    """
    if not table.schema.equals(accepted.table.schema) or table.num_rows != accepted.table.num_rows:
        raise other_answer("its columns or rows are others")
    for own, other in zip(table.columns, accepted.table.columns, strict=True):
        if not _are_near(own.combine_chunks(), other.combine_chunks()):
            raise other_answer("its figures are others")


def _are_near(own: "pa.Array", other: "pa.Array") -> bool:
    if own.equals(other):
        return True
    if not pa.types.is_floating(own.type) or not own.is_null().equals(other.is_null()):
        return False
    one, two = (some.drop_null().to_numpy(zero_copy_only=False) for some in (own, other))
    return bool(np.allclose(one, two, rtol=_NEAR, atol=0.0, equal_nan=True))


def other_answer(why: str) -> NotCheckableError:
    """Return the error of an answer that is not the one that was reviewed."""
    message = f"The answer is not what was reviewed: {why}."
    return NotCheckableError("K028", message, "Ask again, and have that reviewed.")
