"""The table of what people are to review: answers to queries, and folders of outputs."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, ForeignKey, and_, func, or_, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from policy_engine.service.store.base import StoredTable, new_id, now


class StoredReview(StoredTable):
    """Somebody asks the owner of a dataset to let outputs about it leave.

    What the outputs are, and each step with them, is in a folder of the same identifier.
    """

    __tablename__ = "reviews"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    kind: Mapped[str]
    submitter_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    assignee: Mapped[str]
    """The IRI that policies called the submitter by."""
    dataset: Mapped[str]
    request: Mapped[str]
    purpose: Mapped[str]
    data: Mapped[str]
    """The digest of the data that an answer is about."""
    state: Mapped[str]
    decided_by: Mapped[str | None] = mapped_column(ForeignKey("people.id"))
    decided: Mapped[datetime | None]
    seen: Mapped[datetime | None]
    """When the submitter looked at it."""
    deciding_by: Mapped[str | None] = mapped_column(ForeignKey("people.id"))
    """Who is deciding just now, so that nobody else does meanwhile."""
    deciding_since: Mapped[datetime | None]
    created: Mapped[datetime] = mapped_column(default=now)
    revision: Mapped[int] = mapped_column(default=1)


def alike_reviews(session: Session, row: StoredReview) -> Sequence[StoredReview]:
    """Return the reviews of the same answer that wait already."""
    return session.scalars(
        select(StoredReview).where(
            StoredReview.submitter_id == row.submitter_id,
            StoredReview.state == "open",
            StoredReview.request == row.request,
            StoredReview.purpose == row.purpose,
            StoredReview.data == row.data,
            StoredReview.assignee == row.assignee,
        )
    ).all()


def unseen_by(person_id: str) -> ColumnElement[bool]:
    """Return the condition of what somebody asked for, another decided, and they have not seen."""
    return and_(
        StoredReview.submitter_id == person_id,
        StoredReview.state != "open",
        StoredReview.decided.is_not(None),
        StoredReview.decided_by.is_distinct_from(person_id),
        or_(StoredReview.seen.is_(None), StoredReview.seen < StoredReview.decided),
    )


def is_unseen(row: StoredReview, person_id: str) -> bool:
    """Tell of a row what `unseen_by` asks of rows."""
    is_decided = row.state != "open" and row.decided is not None and row.decided_by != person_id
    is_seen = row.seen is not None and row.decided is not None and row.seen >= row.decided
    return row.submitter_id == person_id and is_decided and not is_seen


def open_count(session: Session, person_id: str) -> int:
    """Return how many reviews that somebody asked for wait."""
    is_open = StoredReview.state == "open"
    rows = select(func.count()).where(StoredReview.submitter_id == person_id, is_open)
    return session.scalar(rows) or 0
