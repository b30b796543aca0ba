"""Reviews as they are kept: a row of the database, and a folder with a chained log.

What was decided is in the log before it is in the row: where they differ, the log is right.
"""

import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.service.files.keys import key_file
from policy_engine.service.identity.authorising import nothing_there
from policy_engine.service.resources.review_views import state_of
from policy_engine.service.store.database import Database
from policy_engine.service.store.people import Person
from policy_engine.service.store.reviews import StoredReview

if TYPE_CHECKING:
    from policy_engine.methods.output_checks.parameters import OutputCheck
    from policy_engine.release.output_folder.folder import OutputFolder
    from policy_engine.release.output_folder.model import StepEntry
    from policy_engine.release.output_folder.standings import OutputStanding

FAULTS = logging.getLogger("policy_engine.service.faults")
_FOLDERS = "reviews"


@dataclass(frozen=True)
class ReviewRecords:
    """The rows and the folders of all reviews."""

    database: Database
    root: Path
    """The folder of the service."""

    @property
    def key(self) -> Path:
        """The key of the logs. Raises ServiceError (N013) where it is lost, and there are any."""
        begun = next((self.root / _FOLDERS).glob("*/*"), None)
        return key_file(self.root, "reviews", of=begun)

    def place(self, review_id: str) -> Path:
        """Return the folder of a review."""
        return self.root / _FOLDERS / review_id

    def read(self, review_id: str) -> "OutputFolder":
        """Return the outputs of a review and its log, checked. Raises LedgerError (K027) for a
        folder that is not as it was written, or has the log of another one, or a log that was cut.
        """
        read = self._read(review_id)
        if read.log.entries()[0].folder not in (None, review_id):
            raise _log_error(review_id, "is that of another one")
        with self.database.reading() as session:
            row = session.get(StoredReview, review_id)
        _, when = _last_decision(read.standings())
        if row is not None and row.decided is not None and (when is None or when < row.decided):
            raise _log_error(review_id, "lacks what was decided")
        return read

    def _read(self, name: str) -> "OutputFolder":
        from policy_engine.release.output_folder.folder import OutputFolder  # noqa: PLC0415 (slow to import)

        return OutputFolder.read(self.place(name), self.key)

    def check(self, review_id: str) -> "OutputCheck":
        """Return the check that an answer was judged by when it was sent. Raises as `read`."""
        from policy_engine.methods.output_checks.parameters import OutputCheck  # noqa: PLC0415

        return OutputCheck.model_validate(self.read(review_id).evidence.check)

    def row(self, review_id: str) -> StoredReview:
        """Return the row of a review as it is. Raises ServiceError (N003) where there is none."""
        with self.database.reading() as session:
            row = session.get(StoredReview, review_id)
        if row is None:
            raise nothing_there()
        return row

    def forget(self, review_id: str) -> None:
        """Remove the folder of a review that there is no row of."""
        shutil.rmtree(self.place(review_id), ignore_errors=True)

    def sweep(self) -> None:
        """Remove the folders of reviews that there is no row of, while nobody sends any: what a
        process leaves that is killed at that. Where somebody has decided, a folder stays, whatever
        the database says."""
        root = self.root / _FOLDERS
        places = [*root.iterdir()] if root.exists() else []
        with self.database.reading() as session:
            known_names = {*session.scalars(select(StoredReview.id))}
        for place in places:
            if place.name not in known_names and self._is_undecided(place):
                shutil.rmtree(place, ignore_errors=True)

    def _is_undecided(self, place: Path) -> bool:
        """Tell whether nobody has decided about a folder, or it was not written to its end."""
        if place.name.startswith("."):
            return True
        try:
            return all(one.decision is None for one in self._read(place.name).standings())
        except PolicyEngineError as error:
            FAULTS.warning("a folder of a review that is not known stays: %s", error.code)
            return False

    def settle(self, review_id: str) -> StoredReview:
        """Return the row of a review, which says what its log says: a process may have ended
        between the two. Raises as `read`."""
        row, standings = self.row(review_id), self.read(review_id).standings()
        state = state_of(standings).value
        last, when = _last_decision(standings)
        if (row.state, row.decided) == (state, when):
            return row
        with self.database.writing() as session:
            row = session.get_one(StoredReview, review_id)
            if (row.state, row.decided) != (state, when):
                who = session.get(Person, last.by) if last is not None else None
                row.state, row.decided = state, when
                row.decided_by = who.id if who is not None else None
                row.revision += 1
                session.flush()
        return row


def _last_decision(
    standings: "Sequence[OutputStanding]",
) -> tuple["StepEntry | None", datetime | None]:
    """Return the last step that decided about an output, and when it was."""
    steps = [one.decision for one in standings if one.decision is not None]
    last = max(steps, key=lambda one: one.number, default=None)
    return last, None if last is None else datetime.fromisoformat(last.logged).astimezone(UTC)


def _log_error(review_id: str, fault: str) -> PolicyEngineError:
    message = f"The log of the review {review_id} {fault}."
    return LedgerError.of("K027", message, "Restore its folder from a backup.")
