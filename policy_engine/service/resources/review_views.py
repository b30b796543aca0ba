"""What is told of reviews: to who submitted outputs, and to who decides about them."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from policy_engine.release.output_folder.folder import OutputFolder
from policy_engine.release.output_folder.model import StoredFile
from policy_engine.release.output_folder.standings import OutputStanding
from policy_engine.service.store.reviews import StoredReview


class ReviewState(StrEnum):
    """What became of a review."""

    OPEN = "open"
    ACCEPTED = "accepted"
    """All of it is decided, and something of it may leave."""
    REJECTED = "rejected"


class ReviewSummary(BaseModel):
    """A review: of an answer to a query, or of outputs that were made elsewhere; who asked for it,
    and who decides."""

    id: str
    kind: Literal["answer", "outputs"]
    submitter: str
    owner: str
    assignee: str
    dataset: str
    request: str
    """The query, or the names of the outputs."""
    purpose: str
    state: ReviewState
    decided_by: str | None = None
    decided: datetime | None = None
    created: datetime
    revision: int
    may_decide: bool
    """Whether the caller may decide about it just now."""
    may_see_evidence: bool
    """Whether the caller may see the figures."""
    is_unseen: bool
    """Whether it is the caller's and was decided since they looked at it."""


class OutputView(BaseModel):
    """An output as who submitted it may see it: what the rules and the checker say, in codes and
    words. `files` may leave, once the review is decided."""

    name: str
    kind: str
    request: str
    status: str
    standing: str
    reasons: dict[str, str]
    suppressed: list[dict[str, Any]]
    comments: list[str]
    exception: str
    decided_by: str | None = None
    reason: str = ""
    files: list[str] = []


class ReviewView(ReviewSummary):
    """A review with its outputs, and the head of its log, which is worth keeping elsewhere."""

    outputs: list[OutputView]
    head: str


class FiguresView(BaseModel):
    """The first rows and columns of a table; what is missing in it is withheld. `file` has all of
    it, and is to be looked at where the table `is_unreadable`: it cannot be shown."""

    name: str
    file: str
    columns: list[str]
    rows: list[list[str | None]]
    is_cut: bool = False
    is_unreadable: bool = False


class OutputEvidenceView(BaseModel):
    """What is known of an output, with figures: as it is `shown` by the rules, and as it would be
    let out, `held`."""

    name: str
    verdict: dict[str, Any]
    known: dict[str, Any]
    shown: list[FiguresView]
    held: list[FiguresView]
    files: list[str]


class EvidenceView(BaseModel):
    """The evidence of a review, with the thresholds: for owners, their stewards and auditors."""

    check: dict[str, Any]
    outputs: list[OutputEvidenceView]


class ReviewedAnswer(BaseModel):
    """The rows of an answer just as they were accepted."""

    columns: list[str]
    rows: list[dict[str, Any]]
    is_cut: bool = False


def state_of(standings: tuple[OutputStanding, ...]) -> ReviewState:
    """Return what became of a review: open while any output is, accepted if any leaves."""
    words = {one.word for one in standings}
    if "open" in words:
        return ReviewState.OPEN
    return ReviewState.ACCEPTED if words & {"accepted", "released"} else ReviewState.REJECTED


def summary_of_review(
    row: StoredReview, *, may_decide: bool, may_see_evidence: bool, is_unseen: bool
) -> ReviewSummary:
    """Return a review as lists have it, and what the caller may do with it."""
    return ReviewSummary(
        id=row.id,
        kind="answer" if row.kind == "answer" else "outputs",
        submitter=row.submitter_id,
        owner=row.owner_id,
        assignee=row.assignee,
        dataset=row.dataset,
        request=row.request,
        purpose=row.purpose,
        state=ReviewState(row.state),
        decided_by=row.decided_by,
        decided=row.decided,
        created=row.created,
        revision=row.revision,
        may_decide=may_decide,
        may_see_evidence=may_see_evidence,
        is_unseen=is_unseen,
    )


def output_view(one: OutputStanding) -> OutputView:
    """Return an output as who submitted it may see it."""
    output, step = one.output, one.decision
    decided = step.decided if step is not None else None
    return OutputView(
        name=output.name,
        kind=output.kind,
        request=output.request,
        status=output.status,
        standing=one.word,
        reasons=_sentences(output.verdict.get("reasons")),
        suppressed=_cells(output.verdict.get("suppressed")),
        comments=list(output.comments),
        exception=output.exception,
        decided_by=step.by if step is not None else None,
        reason=decided.reason if decided is not None else "",
        files=[Path(file.path).name for file in one.files] if one.word != "rejected" else [],
    )


def _sentences(reasons: object) -> dict[str, str]:
    """Return reasons by their codes; nothing of what a folder from elsewhere has in their place."""
    if not isinstance(reasons, dict):
        return {}
    return {str(code): str(sentence) for code, sentence in reasons.items()}


def _cells(suppressed: object) -> list[dict[str, Any]]:
    """Return the cells that are not shown, of what a folder says."""
    cells = suppressed if isinstance(suppressed, list) else []
    return [one for one in cells if isinstance(one, dict)]


def table_views(read: OutputFolder, files: tuple[StoredFile, ...]) -> Iterator[FiguresView]:
    """Yield the tables among some files of a folder."""
    from policy_engine.api.receiving_outputs import preview_tables  # noqa: PLC0415 (slow to import)

    for one in preview_tables(read, files):
        yield FiguresView(
            name=one.name,
            file=one.path,
            columns=list(one.columns),
            rows=[list(row) for row in one.rows],
            is_cut=one.is_cut,
            is_unreadable=one.is_unreadable,
        )
