"""How many reviews wait of one person, and of one answer."""

from sqlalchemy.orm import Session

from policy_engine.errors import ServiceError
from policy_engine.service.resources.review_records import ReviewRecords
from policy_engine.service.store.reviews import StoredReview, alike_reviews, open_count

_MOST_OPEN = 50
"""So many reviews of one person may be open at once."""


def check_open(session: Session, person_id: str) -> None:
    """Raise ServiceError (N004) where too many reviews of somebody are open."""
    if open_count(session, person_id) >= _MOST_OPEN:
        message = f"{_MOST_OPEN} reviews that you asked for are open."
        raise ServiceError.of("N004", message, "Wait until some are decided.")


def waiting_review(
    session: Session, row: StoredReview, records: ReviewRecords, *, is_exception: bool
) -> tuple[str | None, bool]:
    """Return the review of the same answer that waits, if any, and whether too many do."""
    for one in alike_reviews(session, row):
        earlier = records.read(one.id).submission.question
        if earlier is not None and earlier.is_exception == is_exception:
            return one.id, False
    return None, open_count(session, row.submitter_id) >= _MOST_OPEN
