"""The requests for access that policies grant: who asked reads there what holds."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from policy_engine.errors import ServiceError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.store.access import AccessRequest

_PROPOSED, _GRANTED, _REVOKED = "proposed", "granted", "revoked"
_ANSWERED = _PROPOSED, _GRANTED


def check_no_grant(session: Session, policy_id: str) -> None:
    """Raise ServiceError (N004) for a policy that grants a request for access, or is to: its text
    is what was asked for."""
    grants = select(AccessRequest.id).where(
        AccessRequest.policy_id == policy_id, AccessRequest.state.in_(_ANSWERED)
    )
    if session.scalar(grants.limit(1)) is not None:
        message = "The policy grants a request for access, and stays as it is."
        raise ServiceError.of("N004", message, "Revoke the grant, and write another policy.")


def check_no_requester(session: Session, policy_id: str, actor: Actor) -> None:
    """Raise ServiceError (N002) for who asked for the access that a policy grants, and for who is
    called by the same party: nobody is the second person for what they have asked for."""
    rows = select(AccessRequest.requester_id, AccessRequest.assignee).where(
        AccessRequest.policy_id == policy_id
    )
    if any(actor.id == asker or actor.party == party for asker, party in session.execute(rows)):
        message = "A grant is approved by another person than who asked for it."
        raise ServiceError.of("N002", message)


def note_granted(session: Session, policy_id: str) -> None:
    """Note that a request is granted by a policy that has been approved."""
    _note(session, policy_id, (_PROPOSED,), _GRANTED)


def note_revoked(session: Session, policy_id: str) -> None:
    """Note that a request is not granted any more by a policy that was withdrawn."""
    _note(session, policy_id, _ANSWERED, _REVOKED)


def _note(session: Session, policy_id: str, states: tuple[str, ...], state: str) -> None:
    answered = update(AccessRequest).where(
        AccessRequest.policy_id == policy_id, AccessRequest.state.in_(states)
    )
    session.execute(answered.values(state=state, revision=AccessRequest.revision + 1))
