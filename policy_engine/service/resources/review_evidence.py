"""The figures of outputs, for who decides about them."""

from dataclasses import dataclass

from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import nothing_there
from policy_engine.service.resources.review_records import ReviewRecords
from policy_engine.service.resources.review_rights import ReviewRights
from policy_engine.service.resources.review_views import (
    EvidenceView,
    OutputEvidenceView,
    table_views,
)
from policy_engine.service.store.reviews import StoredReview


@dataclass(frozen=True)
class ReviewEvidence:
    """What is known of the outputs of reviews, with figures, and what may be let out of them."""

    records: ReviewRecords
    rights: ReviewRights

    def read(self, actor: Actor, review_id: str) -> EvidenceView:
        """Return the evidence of a review.

        Raises ServiceError: N003, and N002 for what the caller asked for, or could ask for.
        """
        read = self.records.read(self._row(actor, review_id).id)
        facts = {one.name: one for one in read.evidence.outputs}
        outputs = [
            OutputEvidenceView(
                name=one.name,
                verdict=dict(facts[one.name].verdict),
                known=dict(facts[one.name].known),
                shown=[*table_views(read, one.files)],
                held=[*table_views(read, one.whole)],
                files=[file.path for file in (*one.files, *one.whole)],
            )
            for one in read.submission.outputs
        ]
        return EvidenceView(check=dict(read.evidence.check), outputs=outputs)

    def file(self, actor: Actor, review_id: str, part: str, name: str) -> bytes:
        """Return a file of an output as it was submitted. Raises as `read`."""
        read = self.records.read(self._row(actor, review_id).id)
        paths = {file.path for one in read.submission.outputs for file in (*one.files, *one.whole)}
        path = f"{part}/{name}"
        if path not in paths:
            raise nothing_there()
        read.check_files()
        return read.content(path)

    def _row(self, actor: Actor, review_id: str) -> StoredReview:
        row = self.records.row(review_id)
        self.rights.check_evidence(actor, row)
        return row
