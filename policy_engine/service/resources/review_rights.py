"""What somebody may do with a review."""

from dataclasses import dataclass

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise_on
from policy_engine.service.identity.roles import ALLOWED, Verb
from policy_engine.service.identity.signing_in import Identities
from policy_engine.service.resources.review_views import ReviewSummary, summary_of_review
from policy_engine.service.store.reviews import StoredReview, is_unseen


@dataclass(frozen=True)
class ReviewRights:
    """Who decides about reviews, and who sees the figures that are withheld from who asked."""

    identities: Identities
    is_own_allowed: bool = False
    """Whether who submitted outputs may decide about them."""

    def may_decide(self, actor: Actor, row: StoredReview) -> bool:
        """Tell whether somebody may decide about a review just now."""
        is_own = row.submitter_id == actor.id
        is_open = row.state == "open" and (self.is_own_allowed or not is_own)
        return is_open and _is_allowed(actor, Verb.DECIDE_REVIEWS, row)

    def check_decider(self, actor: Actor, row: StoredReview) -> None:
        """Check that somebody may decide about a review by now, whatever they might when they
        called. Raises ServiceError: N010, N002 and N003."""
        authorise_on(self.identities.present(actor), Verb.DECIDE_REVIEWS, row.owner_id)

    def summary(self, actor: Actor, row: StoredReview) -> ReviewSummary:
        """Return what somebody is shown of a review in a list."""
        return summary_of_review(
            row,
            may_decide=self.may_decide(actor, row),
            may_see_evidence=self.may_see_evidence(actor, row),
            is_unseen=is_unseen(row, actor.id),
        )

    def may_see_evidence(self, actor: Actor, row: StoredReview) -> bool:
        """Tell whether somebody may see the figures of a review."""
        try:
            self.check_evidence(actor, row)
        except PolicyEngineError:
            return False
        return True

    def check_evidence(self, actor: Actor, row: StoredReview) -> None:
        """Check that somebody may see the figures of a review: whatever their roles, not those that
        are withheld from them, unless they may decide about their own. Who may query could ask
        what another asked: they see the figures of others only where they decide about them.

        Raises ServiceError: N003, and N002 for what the caller asked for, or could ask for.
        """
        authorise_on(actor, Verb.READ_EVIDENCE, row.owner_id)
        if actor.id != row.submitter_id:
            if not _is_allowed(actor, Verb.DECIDE_REVIEWS, row) and self._may_query(actor):
                message = "You may query: figures that are withheld are for who decides about them."
                raise ServiceError.of("N002", message, "Auditors see them who may not query.")
        elif row.kind == "answer":
            if not self.is_own_allowed:
                message = "You asked for this answer: its figures are for who decides about it."
                raise ServiceError.of("N002", message)
            authorise_on(actor, Verb.DECIDE_REVIEWS, row.owner_id)

    def _may_query(self, actor: Actor) -> bool:
        """Tell whether somebody may query, by another key or sign-in of theirs too."""
        roles = self.identities.roles_of(actor.id) if actor.is_by_key else actor.roles
        return any(one in ALLOWED[Verb.QUERY] for one in roles)


def _is_allowed(actor: Actor, verb: Verb, row: StoredReview) -> bool:
    try:
        authorise_on(actor, verb, row.owner_id)
    except PolicyEngineError:
        return False
    return True
