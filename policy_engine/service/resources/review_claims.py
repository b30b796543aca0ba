"""One person at a time decides about a review, in however many processes the service runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.identity.authorising import nothing_there
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.reviews import StoredReview

_SLACK = 120.0
"""Seconds that a decision takes at most besides its query: to wait for locks, and to write."""


@dataclass(frozen=True)
class ReviewClaims:
    """Who is deciding about which review, as rows of the database have it."""

    database: Database
    seconds: float
    """How long a query takes at most. A claim that is older by far is of a process that ended."""

    @contextmanager
    def claimed(
        self, review_id: str, person_id: str, check: Callable[[StoredReview], None]
    ) -> Iterator[StoredReview]:
        """Return a review that nobody else decides about meanwhile, and that passes a check.

        Raises ServiceError: N003 where there is none, N004 where somebody else is deciding.
        """
        row, since = self._claim(review_id, person_id, check)
        try:
            yield row
        finally:
            self._give_up(review_id, person_id, since)

    def end_abandoned(self, settle: Callable[[str], object]) -> None:
        """End the claims of processes that ended, each after its review was settled: what was
        decided may be in its log alone. One that cannot be settled is left as it is."""
        with self.database.reading() as session:
            rows = select(StoredReview.id, StoredReview.deciding_by, StoredReview.deciding_since)
            claims = session.execute(rows.where(StoredReview.deciding_since.is_not(None))).all()
        for review_id, person_id, since in claims:
            if since is not None and person_id is not None and now() >= self._end(since):
                with suppress(PolicyEngineError):
                    settle(review_id)
                    self._give_up(review_id, person_id, since)

    def _claim(
        self, review_id: str, person_id: str, check: Callable[[StoredReview], None]
    ) -> tuple[StoredReview, datetime]:
        with self.database.writing() as session:
            row = session.get(StoredReview, review_id)
            if row is None:
                raise nothing_there()
            check(row)
            since = now()
            if row.deciding_since is not None and since < self._end(row.deciding_since):
                message = "Somebody is deciding about this review just now."
                raise ServiceError.of("N004", message, "Read it again in a minute.")
            row.deciding_by, row.deciding_since = person_id, since
        return row, since

    def _end(self, since: datetime) -> datetime:
        return since + timedelta(seconds=self.seconds + _SLACK)

    def _give_up(self, review_id: str, person_id: str, since: datetime) -> None:
        """End a claim, unless it had run out and somebody else has one."""
        with self.database.writing() as session:
            row = session.get(StoredReview, review_id)
            if row is not None and (row.deciding_by, row.deciding_since) == (person_id, since):
                row.deciding_by = row.deciding_since = None
