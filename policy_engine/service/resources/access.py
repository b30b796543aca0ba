"""Requests for access: asked by consumers, answered by owners, granted as policies.

What is granted is a policy like any other: it is in force, is decided by, and is withdrawn when
the grant is revoked. No second rule lets anybody read data.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import uuid4

from pydantic import BaseModel, Field
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from policy_engine import terms
from policy_engine.decision import read_request
from policy_engine.errors import ServiceError
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.revisions import check_revision
from policy_engine.service.calls.timestamps import AwareMoment
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise, nothing_there
from policy_engine.service.identity.roles import Verb, Whose
from policy_engine.service.resources.ownership import OwnedAssets, party_of
from policy_engine.service.resources.policies import Policies
from policy_engine.service.resources.publishing import Candidate, publishing
from policy_engine.service.store.access import AccessRequest
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.people import Person
from policy_engine.service.store.policies import StoredPolicy


class AccessState(StrEnum):
    """What became of a request."""

    OPEN = "open"
    PROPOSED = "proposed"
    """Granted by its owner, and waits for a second person, where two publish."""
    GRANTED = "granted"
    REJECTED = "rejected"
    REVOKED = "revoked"


class AccessView(BaseModel):
    """A request for access; `policy` is the one by which it was granted."""

    id: str
    requester: str
    owner: str
    assignee: str
    targets: list[str]
    purpose: str
    until: datetime
    reason: str
    state: AccessState
    decided_by: str | None = None
    decided: datetime | None = None
    note: str
    policy: str | None = None
    created: datetime
    revision: int


class NewAccessRequest(BaseModel):
    """Assets that are to be read together, for a purpose, until a moment, and why."""

    targets: Annotated[list[str], Field(max_length=50)]
    purpose: str = ""
    until: AwareMoment
    reason: Annotated[str, Field(max_length=2000)] = ""


@dataclass(frozen=True)
class Access:
    """The requests for access, each to the owner of what is asked for."""

    database: Database
    policies: Policies
    ownership: OwnedAssets

    def page(self, actor: Actor, cursor: Cursor) -> PageOf[AccessView]:
        """Return a page of the requests that somebody made, or has to answer."""
        rows = select(AccessRequest)
        if authorise(actor, Verb.READ_ACCESS) is Whose.OWN:
            rows = rows.where(
                or_(AccessRequest.requester_id == actor.id, AccessRequest.owner_id == actor.id)
            )
        order = AccessRequest.created, AccessRequest.id
        with self.database.reading() as session:
            return cursor.page(session, rows, order, _access_view)

    def ask(self, actor: Actor, wanted: NewAccessRequest) -> AccessView:
        """Return a new request to the owner of what is asked for.

        Raises ServiceError: N004 for who has no party, for a moment that is past, and for assets of
        several owners, N003 for what nobody owns here; RequestError (D001) for names that stand for
        nothing.
        """
        authorise(actor, Verb.ASK_FOR_ACCESS)
        if not actor.party:
            message = "You have no IRI that policies call you by."
            raise ServiceError.of("N004", message, "Ask an administrator to give you one.")
        if wanted.until <= now():
            message = "Access ends at a moment that is still to come."
            raise ServiceError.of("N004", f"{message} Given: {wanted.until.isoformat()}.")
        request = read_request(actor.party, "read", wanted.targets, wanted.purpose)
        owners = set(map(self.ownership.ruling().owner_of(), request.targets))
        if None in owners:
            raise nothing_there()
        if len(owners) > 1:
            message = "The assets belong to several owners."
            raise ServiceError.of("N004", message, "Ask for those of each by itself.")
        with self.database.writing() as session:
            row = AccessRequest(
                requester_id=actor.id,
                owner_id=owners.pop(),
                assignee=actor.party,
                targets=list(request.targets),
                purpose=request.purpose,
                until=wanted.until,
                reason=wanted.reason,
                state=AccessState.OPEN.value,
            )
            session.add(row)
            session.flush()
            return _access_view(row)

    def grant(self, actor: Actor, request_id: str, tag: str, note: str) -> AccessView:
        """Return a request that its owner grants: a policy that says so is in force from now on or,
        where two persons publish, once another owner approves it.

        Raises ServiceError: N003, N005, and N004 where it was answered, or its end is past.
        """
        uid = f"urn:uuid:{uuid4()}"

        def find(session: Session) -> tuple[tuple[AccessRequest, Candidate], Candidate]:
            row = self._grantable(session, actor, request_id, tag)
            candidate = _granting(session, row, uid)
            return (row, candidate), candidate

        with publishing(self.database, find, self.policies.limits) as (session, pair, _):
            row, candidate = pair
            policy = self.policies.add_published(session, actor, candidate, uid)
            row.policy_id = policy.id
            is_proposed = self.policies.two_persons
            state = AccessState.PROPOSED if is_proposed else AccessState.GRANTED
            return self._answer(session, actor, row, state, note)

    def _grantable(
        self, session: Session, actor: Actor, request_id: str, tag: str
    ) -> AccessRequest:
        row = self._answerable(session, actor, request_id, tag, AccessState.OPEN)
        if row.until <= now():
            raise ServiceError.of("N004", "The moment until which access was asked is past.")
        requester = session.get(Person, row.requester_id)
        if requester is None or not requester.is_active or requester.party != row.assignee:
            message = "Who asked is no longer active, or policies call them otherwise."
            raise ServiceError.of("N004", message, "Reject the request.")
        return row

    def reject(self, actor: Actor, request_id: str, tag: str, note: str) -> AccessView:
        """Return a request that its owner rejects. Raises as `grant`."""
        with self.database.writing() as session:
            row = self._answerable(session, actor, request_id, tag, AccessState.OPEN)
            return self._answer(session, actor, row, AccessState.REJECTED, note)

    def revoke(self, actor: Actor, request_id: str, tag: str, note: str) -> AccessView:
        """Return a request whose grant its owner takes back: its policy is no longer in force."""
        with self.database.writing() as session:
            states = AccessState.GRANTED, AccessState.PROPOSED
            row = self._answerable(session, actor, request_id, tag, *states)
            policy = session.get(StoredPolicy, row.policy_id)
            if policy is not None:
                self.policies.end(policy, actor.id, note)
            return self._answer(session, actor, row, AccessState.REVOKED, note)

    def _answerable(
        self, session: Session, actor: Actor, request_id: str, tag: str, *states: AccessState
    ) -> AccessRequest:
        authorise(actor, Verb.GRANT_ACCESS)
        row = session.get(AccessRequest, request_id)
        if row is None or row.owner_id != actor.id:
            raise nothing_there()
        check_revision(row.revision, tag)
        if row.state not in states:
            raise ServiceError.of("N004", f"The request is {row.state}, not {states[0].value}.")
        if row.requester_id == actor.id:
            raise ServiceError.of("N002", "A request is answered by another person than it is of.")
        return row

    def _answer(
        self, session: Session, actor: Actor, row: AccessRequest, state: AccessState, note: str
    ) -> AccessView:
        row.state, row.note = state.value, note
        row.decided_by, row.decided = actor.id, now()
        row.revision += 1
        session.flush()
        return _access_view(row)


def _granting(session: Session, row: AccessRequest, uid: str) -> Candidate:
    """Return the policy that grants a request."""
    until = {"@value": row.until.isoformat(), "@type": "xsd:dateTime"}
    permission = {
        "uid": f"{uid}:read",
        "assignee": row.assignee,
        "target": row.targets,
        "action": "read",
        "constraint": [{"leftOperand": "dateTime", "operator": "lteq", "rightOperand": until}],
        "assigner": party_of(session, row.owner_id),
        **({"purpose": row.purpose} if row.purpose else {}),
    }
    document = {
        "@context": [
            "http://www.w3.org/ns/odrl.jsonld",
            "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
        ],
        "@type": "Set",
        "uid": uid,
        "profile": terms.MOSAICROWN,
        "permission": [permission],
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return Candidate(f"Access of {row.assignee}", text, row.owner_id)


def _access_view(row: AccessRequest) -> AccessView:
    return AccessView(
        id=row.id,
        requester=row.requester_id,
        owner=row.owner_id,
        assignee=row.assignee,
        targets=row.targets,
        purpose=row.purpose,
        until=row.until,
        reason=row.reason,
        state=AccessState(row.state),
        decided_by=row.decided_by,
        decided=row.decided,
        note=row.note,
        policy=row.policy_id,
        created=row.created,
        revision=row.revision,
    )
