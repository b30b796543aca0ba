"""People with their roles, the links by which they sign in, and the keys that call for them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import BaseModel
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from policy_engine.errors import ServiceError
from policy_engine.policy.owners import are_alike
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.revisions import check_revision
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise, nothing_there
from policy_engine.service.identity.roles import Role, Verb
from policy_engine.service.identity.secrets import digest_of, new_key
from policy_engine.service.identity.signing_in import LINK_LIFE, Identities
from policy_engine.service.resources.holdings import HoldingsView
from policy_engine.service.resources.naming import party_name
from policy_engine.service.store.base import now
from policy_engine.service.store.people import ApiKey, Person, SignIn

MOST_DAYS = 366
_MOST_KEYS = 50


class PersonView(BaseModel):
    """A person; `party` is the IRI that policies call them by, `subject` what the provider of
    identities knows them as, by whom they sign in."""

    id: str
    name: str
    roles: list[Role]
    party: str
    subject: str = ""
    is_active: bool
    created: datetime
    revision: int
    leaves: HoldingsView | None = None
    """What belongs to somebody who was just deactivated, and is to be handed over or withdrawn."""


class LinkView(BaseModel):
    """A link by which a person signs in once; it is shown this one time."""

    url: str
    expires: datetime


class KeyView(BaseModel):
    """A key, without what is secret of it."""

    id: str
    name: str
    prefix: str
    roles: list[Role]
    created: datetime
    expires: datetime
    ended: datetime | None = None


class NewKeyView(KeyView):
    """A key that was just made; it is shown this one time."""

    key: str


@dataclass(frozen=True)
class People:
    """Who is known here. Nobody is removed: logs name them."""

    identities: Identities
    address: str
    issuer: str = ""
    """Who vouches for people, if anybody does."""

    def page(self, actor: Actor, cursor: Cursor) -> PageOf[PersonView]:
        """Return a page of the people."""
        authorise(actor, Verb.READ_PEOPLE)
        with self.identities.database.reading() as session:
            order = Person.created, Person.id
            return cursor.page(session, select(Person), order, _person_view)

    def create(
        self, actor: Actor, name: str, roles: list[Role], party: str, subject: str = ""
    ) -> PersonView:
        """Return a new person, who signs in by a link, or as a subject of the provider.

        Raises as `change`.
        """
        authorise(actor, Verb.MANAGE_PEOPLE)
        with self.identities.database.writing() as session:
            party = _free_party(session, party)
            row = Person(name=name, roles=_written(roles), party=party)
            self._note_subject(session, row, subject)
            session.add(row)
            session.flush()
            return _person_view(row)

    def change(
        self,
        actor: Actor,
        person_id: str,
        tag: str,
        *,
        roles: list[Role] | None = None,
        party: str | None = None,
        is_active: bool | None = None,
        subject: str | None = None,
    ) -> PersonView:
        """Return a person after a change, of what is given.

        Raises ServiceError: N003, N005, and N004 where nobody would be left who manages people, or
        a subject is somebody else's, or of no provider;
        RequestError (D001) for a party that is not an IRI.
        """
        authorise(actor, Verb.MANAGE_PEOPLE)
        with self.identities.database.writing() as session:
            row = _person(session, person_id)
            check_revision(row.revision, tag)
            row.roles = row.roles if roles is None else _written(roles)
            row.party = row.party if party is None else _free_party(session, party, row.id)
            row.is_active = row.is_active if is_active is None else is_active
            if subject is not None:
                self._note_subject(session, row, subject)
            row.revision += 1
            if not row.is_active:
                _end_all(session, row.id)
            session.flush()
            _check_managed(session)
            return _person_view(row)

    def invite(self, actor: Actor, person_id: str) -> LinkView:
        """Return a link by which a person signs in once. Raises ServiceError (N003)."""
        authorise(actor, Verb.MANAGE_PEOPLE)
        with self.identities.database.reading() as session:
            if not _person(session, person_id).is_active:
                raise ServiceError.of("N004", "The person is no longer active.")
        secret = self.identities.new_link(person_id)
        url = f"{self.address}/sign-in?token={secret}"
        return LinkView(url=url, expires=now() + LINK_LIFE)

    def _note_subject(self, session: Session, row: Person, subject: str) -> None:
        """Let a person sign in as a subject of the provider from now on; empty for no more."""
        if subject and not self.issuer:
            message = "No provider of identities vouches for people here."
            raise ServiceError.of("N004", message, "Start the service with one, or leave it out.")
        rows = select(Person.id).where(Person.issuer == self.issuer, Person.subject == subject)
        if subject and session.scalar(rows) not in (None, row.id):
            raise ServiceError.of("N004", "Somebody else signs in as this subject.")
        row.issuer, row.subject = (self.issuer, subject) if subject else (None, None)

    def keys(self, actor: Actor) -> list[KeyView]:
        """Return the keys that call for somebody, the newest first."""
        rows = select(ApiKey).where(ApiKey.person_id == actor.id).order_by(ApiKey.created.desc())
        with self.identities.database.reading() as session:
            return [_key_view(one) for one in session.scalars(rows).unique()]

    def new_key(self, actor: Actor, name: str, roles: list[Role], days: int) -> NewKeyView:
        """Return a key that calls for somebody with some of their roles, for so many days.

        Raises ServiceError: N002 for roles that they do not have, or by a key: a key makes no
        other; N004 for too many keys.
        """
        if actor.is_by_key:
            raise ServiceError.of("N002", "A key is made by who is signed in, not by another key.")
        if not set(roles) <= set(actor.roles):
            raise ServiceError.of("N002", "A key has no role that you do not have.")
        prefix, key = new_key()
        with self.identities.database.writing() as session:
            valid = select(ApiKey.id).where(ApiKey.person_id == actor.id, ApiKey.ended.is_(None))
            if len(session.scalars(valid).all()) >= _MOST_KEYS:
                message = f"You have {_MOST_KEYS} keys that have not ended."
                raise ServiceError.of("N004", message, "End one first.")
            row = ApiKey(
                person_id=actor.id,
                name=name,
                prefix=prefix,
                digest=digest_of(key),
                roles=_written(roles),
                expires=now() + timedelta(days=days),
            )
            session.add(row)
            session.flush()
            return NewKeyView(**_key_view(row).model_dump(), key=key)

    def end_key(self, actor: Actor, key_id: str) -> None:
        """End a key of somebody. Raises ServiceError (N003) for another's."""
        with self.identities.database.writing() as session:
            row = session.get(ApiKey, key_id)
            if row is None or row.person_id != actor.id:
                raise nothing_there()
            row.ended = row.ended or now()


def _end_all(session: Session, person_id: str) -> None:
    """End all sign-ins and keys of a person: they do not come back with them."""
    for kind in (SignIn, ApiKey):
        ended = update(kind).where(kind.person_id == person_id, kind.ended.is_(None))
        session.execute(ended.values(ended=now()))


def _person(session: Session, person_id: str) -> Person:
    row = session.get(Person, person_id)
    if row is None:
        raise nothing_there()
    return row


def _written(roles: list[Role]) -> list[str]:
    return [role.value for role in Role if role in roles]


def _free_party(session: Session, party: str, but: str = "") -> str:
    """Return a party by its one spelling, which no person has, but for one of them.

    Raises RequestError (D001) for what is no name of a party, ServiceError (N004) for another's:
    who has it decides and is decided as that person.
    """
    if not party:
        return ""
    name = party_name(party)
    others = select(Person).where(Person.party != "", Person.id != but)
    taken = next((one for one in session.scalars(others) if are_alike(one.party, name)), None)
    if taken is not None:
        ended = "" if taken.is_active else ", who is no longer active: take it from them first"
        raise ServiceError.of("N004", f"{name} is the party of {taken.name}{ended}.")
    return name


def _check_managed(session: Session) -> None:
    """Raise ServiceError (N004) where a change would leave nobody who manages people."""
    active = session.scalars(select(Person.roles).where(Person.is_active))
    if not any(Role.ADMINISTRATOR in roles for roles in active):
        raise ServiceError.of("N004", "Nobody would be left who is an administrator.")


def _person_view(row: Person) -> PersonView:
    return PersonView(
        id=row.id,
        name=row.name,
        roles=[Role(one) for one in row.roles],
        party=row.party,
        subject=row.subject or "",
        is_active=row.is_active,
        created=row.created,
        revision=row.revision,
    )


def _key_view(row: ApiKey) -> KeyView:
    return KeyView(
        id=row.id,
        name=row.name,
        prefix=row.prefix,
        roles=[Role(one) for one in row.roles],
        created=row.created,
        expires=row.expires,
        ended=row.ended,
    )
