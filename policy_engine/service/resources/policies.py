"""Policies, their drafts, and the versions that were published."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel
from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session, selectinload

from policy_engine.api.converting import convert_policy
from policy_engine.authoring.diff import compare_policies
from policy_engine.authoring.diff.model import Difference
from policy_engine.authoring.validating import Checked, check_text
from policy_engine.errors import ServiceError
from policy_engine.policy import InForce, Policy, PolicyText, Reading
from policy_engine.policy.syntax import Syntax
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.revisions import check_revision
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import (
    authorise,
    authorise_on,
    nothing_there,
    owners_of,
    reach_of,
)
from policy_engine.service.identity.roles import Verb, Whose
from policy_engine.service.resources.policy_grants import (
    check_no_grant,
    check_no_requester,
    note_granted,
    note_revoked,
)
from policy_engine.service.resources.publishing import (
    USUAL_LIMITS,
    Candidate,
    TextLimits,
    publishing,
)
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.policies import PolicyVersion, StoredPolicy


class VersionState(StrEnum):
    """What becomes of a version: a draft changes, all others stay as they are."""

    DRAFT = "draft"
    PROPOSED = "proposed"
    PUBLISHED = "published"
    REPLACED = "replaced"
    WITHDRAWN = "withdrawn"


class VersionView(BaseModel):
    """A version of a policy, without its text."""

    number: int
    state: VersionState
    digest: str
    author: str
    approver: str | None = None
    created: datetime
    published: datetime | None = None
    withdrawn_by: str | None = None
    reason: str = ""
    """Why it was withdrawn."""
    revision: int


class VersionText(VersionView):
    """A version of a policy with its text."""

    policy: str
    text: str
    signature: str | None = None
    """The credential by which somebody signed it (`policy-engine sign`)."""


class PolicyView(BaseModel):
    """A policy and its versions, the oldest first."""

    id: str
    name: str
    owner: str
    uid: str | None = None
    published_version: int | None = None
    versions: list[VersionView]
    created: datetime
    revision: int


@dataclass(frozen=True)
class Policies:
    """The policies of all owners. What is published never changes: a new version follows it."""

    database: Database
    two_persons: bool = False
    limits: TextLimits = USUAL_LIMITS

    def page(self, actor: Actor, cursor: Cursor) -> PageOf[PolicyView]:
        """Return a page of the policies that somebody may read."""
        rows = select(StoredPolicy).options(selectinload(StoredPolicy.versions))
        if authorise(actor, Verb.READ_POLICIES) is Whose.OWN:
            is_own = StoredPolicy.owner_id.in_(owners_of(actor, Verb.READ_POLICIES))
            rows = rows.where(or_(is_own, _waiting()) if self._approves(actor) else is_own)
        order = StoredPolicy.created, StoredPolicy.id
        with self.database.reading() as session:
            return cursor.page(session, rows, order, _policy_view)

    def read(self, actor: Actor, policy_id: str) -> PolicyView:
        """Return a policy. Raises ServiceError (N003) if it is not there, or not for the caller."""
        with self.database.reading() as session:
            return _policy_view(self._readable(session, actor, policy_id))

    def version(self, actor: Actor, policy_id: str, number: int) -> VersionText:
        """Return a version with its text. Raises as `read`."""
        with self.database.reading() as session:
            return _text_view(_version(self._readable(session, actor, policy_id), number))

    def _readable(self, session: Session, actor: Actor, policy_id: str) -> StoredPolicy:
        """Return a policy that somebody may read: theirs, or one that they are to approve."""
        authorise(actor, Verb.READ_POLICIES)
        policy = session.get(StoredPolicy, policy_id)
        if policy and policy.versions[-1].state == VersionState.PROPOSED and self._approves(actor):
            return policy
        return _policy(session, actor, policy_id, Verb.READ_POLICIES)

    def _approves(self, actor: Actor) -> bool:
        """Tell whether somebody is one of two persons who publish."""
        return self.two_persons and reach_of(actor, Verb.PUBLISH_POLICIES) is not None

    def create(
        self, actor: Actor, name: str, text: str, signature: str | None = None
    ) -> PolicyView:
        """Return a new policy with a draft, whose text need not be valid yet, nor its signature."""
        authorise(actor, Verb.WRITE_POLICIES)
        with self.database.writing() as session:
            policy = StoredPolicy(name=name, owner_id=actor.id)
            policy.versions.append(_draft(1, text, actor, signature))
            session.add(policy)
            session.flush()
            return _policy_view(policy)

    def draft(
        self, actor: Actor, policy_id: str, text: str, tag: str, signature: str | None = None
    ) -> VersionText:
        """Return the draft of a policy with a new text: the last version, or one after it.

        A version that waits to be approved is a draft again. A `signature` of another text is lost:
        it comes with the text that it is of.

        The tag is that of the last version. Raises ServiceError: N003, N005, N004 for a policy that
        grants what somebody asked for: it says just that.
        """
        with self.database.writing() as session:
            policy = _policy(session, actor, policy_id, Verb.WRITE_POLICIES)
            last = policy.versions[-1]
            check_revision(last.revision, tag)
            check_no_grant(session, policy.id)
            if last.state in (VersionState.DRAFT, VersionState.PROPOSED):
                last.state = VersionState.DRAFT.value
                last.text, last.digest, last.author_id = text, digest_of(text), actor.id
                last.signature = signature
                last.revision += 1
            else:
                last = _draft(last.number + 1, text, actor, signature)
                policy.versions.append(last)
            session.flush()
            return _text_view(last)

    def publish(self, actor: Actor, policy_id: str, tag: str) -> VersionText:
        """Return the last version of a policy, published or, with two persons, proposed.

        Raises PolicyError for a text with problems, all of them, those of what is not its owner's
        among them; ServiceError: N003, N005, and N004 where nothing is to be published, or another
        policy has its uid.
        """

        def find(session: Session) -> tuple[StoredPolicy, Candidate]:
            policy = _policy(session, actor, policy_id, Verb.PUBLISH_POLICIES)
            last = policy.versions[-1]
            check_revision(last.revision, tag)
            if last.state != VersionState.DRAFT:
                raise ServiceError.of("N004", f"Version {last.number} is no draft any more.")
            return policy, _candidate(policy)

        with publishing(self.database, find, self.limits) as (session, policy, uid):
            last = policy.versions[-1]
            if self.two_persons:
                last.state = VersionState.PROPOSED
                last.revision += 1
            else:
                _put_in_force(policy, last, uid)
            session.flush()
            return _text_view(last)

    def approve(self, actor: Actor, policy_id: str, tag: str) -> VersionText:
        """Return the version that was proposed, published by a second owner.

        Raises ServiceError: N002 for who proposed it, or asked for the access that it grants, N003
        for a policy that is another's, unless it waits to be approved, N004 where nothing of the
        caller's own is proposed, N005.
        """

        def find(session: Session) -> tuple[StoredPolicy, Candidate]:
            policy = self._approvable(session, actor, policy_id)
            check_revision(policy.versions[-1].revision, tag)
            return policy, _candidate(policy)

        with publishing(self.database, find, self.limits) as (session, policy, uid):
            last = policy.versions[-1]
            last.approver_id = actor.id
            _put_in_force(policy, last, uid)
            note_granted(session, policy.id)
            session.flush()
            return _text_view(last)

    def _approvable(self, session: Session, actor: Actor, policy_id: str) -> StoredPolicy:
        """Return a policy that somebody is the second person for."""
        authorise(actor, Verb.PUBLISH_POLICIES)
        policy = session.get(StoredPolicy, policy_id)
        if policy is None:
            raise nothing_there()
        last = policy.versions[-1]
        if last.state != VersionState.PROPOSED:
            authorise_on(actor, Verb.PUBLISH_POLICIES, policy.owner_id)
            raise ServiceError.of("N004", "No version of this policy waits to be approved.")
        if actor.id in (last.author_id, policy.owner_id):
            message = "A version is approved by another person than its author and owner."
            raise ServiceError.of("N002", message)
        check_no_requester(session, policy.id, actor)
        return policy

    def withdraw(self, actor: Actor, policy_id: str, reason: str) -> PolicyView:
        """Return a policy of which no version is in force any more, nor waits to be approved.

        An administrator may do so with that of any owner. Raises ServiceError: N003, N004 where
        none is in force or waits.
        """
        with self.database.writing() as session:
            policy = _policy(session, actor, policy_id, Verb.WITHDRAW_POLICIES)
            if not self.end(policy, actor.id, reason):
                raise ServiceError.of("N004", "No version of this policy is in force, or waits.")
            note_revoked(session, policy.id)
            session.flush()
            return _policy_view(policy)

    def add_published(
        self, session: Session, actor: Actor, candidate: Candidate, uid: str
    ) -> StoredPolicy:
        """Return a new policy of somebody in a transaction in which it may be in force: it is or,
        with two persons, proposed."""
        policy = StoredPolicy(name=candidate.name, owner_id=actor.id)
        version = _draft(1, candidate.text, actor)
        policy.versions.append(version)
        session.add(policy)
        session.flush()
        if self.two_persons:
            version.state = VersionState.PROPOSED.value
        else:
            _put_in_force(policy, version, uid)
        return policy

    def end(self, policy: StoredPolicy, person_id: str, reason: str) -> bool:
        """Let no version of a policy be in force any more, in the caller's transaction; tell
        whether one was, or waited to be."""
        ending = [
            one
            for one in policy.versions
            if one.state in (VersionState.PUBLISHED, VersionState.PROPOSED)
        ]
        for version in ending:
            version.state = VersionState.WITHDRAWN.value
            version.withdrawn_by, version.reason = person_id, reason
            version.revision += 1
        policy.published = None
        policy.revision += 1
        return bool(ending)

    def difference(self, actor: Actor, policy_id: str, old: int, new: int) -> Difference:
        """Return what changes from one version of a policy to another. Raises as `read`."""
        texts = [self.version(actor, policy_id, number) for number in (old, new)]
        before, after = (Reading().policies(_named(one.text)) for one in texts)
        return compare_policies(before, after)


def check(text: bytes, limits: Limits = DEFAULT_LIMITS) -> Checked:
    """Return the problems and hints of a text of a policy, as the validator has them."""
    return check_text(PolicyText(text, "policy"), Reading(limits=limits))


def policies_of(text: str, limits: Limits = DEFAULT_LIMITS) -> InForce:
    """Return the policies of a text. Raises PolicyError with all its problems."""
    return Reading(limits=limits).policies(_named(text))


def policy_of(text: str) -> Policy:
    """Return the one policy of a text. Raises PolicyError with all its problems."""
    return Reading().policy(_named(text))


def text_in(text: str, syntax: Syntax, limits: Limits = DEFAULT_LIMITS) -> str:
    """Return a text in another syntax, of the same meaning. Raises PolicyError as the engine."""
    return convert_policy(_named(text), syntax, limits=limits)


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _named(text: str, name: str = "policy") -> PolicyText:
    return PolicyText(text.encode(), name)


def _policy(session: Session, actor: Actor, policy_id: str, verb: Verb) -> StoredPolicy:
    authorise(actor, verb)
    policy = session.get(StoredPolicy, policy_id)
    if policy is None:
        raise nothing_there()
    authorise_on(actor, verb, policy.owner_id)
    return policy


def _waiting() -> ColumnElement[bool]:
    """Return the condition of policies of which a version waits to be approved."""
    return StoredPolicy.versions.any(PolicyVersion.state == VersionState.PROPOSED.value)


def _version(policy: StoredPolicy, number: int) -> PolicyVersion:
    version = next((one for one in policy.versions if one.number == number), None)
    if version is None:
        raise nothing_there()
    return version


def _draft(number: int, text: str, actor: Actor, signature: str | None = None) -> PolicyVersion:
    return PolicyVersion(
        number=number,
        text=text,
        digest=digest_of(text),
        signature=signature,
        state=VersionState.DRAFT.value,
        author_id=actor.id,
    )


def _candidate(policy: StoredPolicy) -> Candidate:
    """Return the last version of a policy as what is to be in force."""
    last = policy.versions[-1]
    return Candidate(policy.name, last.text, policy.owner_id, policy.id, last.signature)


def _put_in_force(policy: StoredPolicy, version: PolicyVersion, uid: str) -> None:
    """Publish a version in the place of the one in force."""
    for one in policy.versions:
        if one.state == VersionState.PUBLISHED:
            one.state = VersionState.REPLACED.value
            one.revision += 1
    version.state, version.published = VersionState.PUBLISHED.value, now()
    version.revision += 1
    policy.published, policy.uid = version.number, uid
    policy.revision += 1


def _policy_view(row: StoredPolicy) -> PolicyView:
    return PolicyView(
        id=row.id,
        name=row.name,
        owner=row.owner_id,
        uid=row.uid,
        published_version=row.published,
        versions=[_version_view(one) for one in row.versions],
        created=row.created,
        revision=row.revision,
    )


def _version_view(row: PolicyVersion) -> VersionView:
    return VersionView(
        number=row.number,
        state=VersionState(row.state),
        digest=row.digest,
        author=row.author_id,
        approver=row.approver_id,
        created=row.created,
        published=row.published,
        withdrawn_by=row.withdrawn_by,
        reason=row.reason,
        revision=row.revision,
    )


def _text_view(row: PolicyVersion) -> VersionText:
    view = _version_view(row)
    about = {"policy": row.policy_id, "text": row.text, "signature": row.signature}
    return VersionText(**view.model_dump(), **about)
