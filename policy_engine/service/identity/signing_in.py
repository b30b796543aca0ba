"""How people sign in by a link, and how each call says whose it is."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role
from policy_engine.service.identity.secrets import (
    csrf_token,
    digest_of,
    is_same,
    new_secret,
    prefix_of,
)
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.people import ApiKey, Person, SignIn, SignInLink, Stewardship

LINK_LIFE = timedelta(minutes=15)
SIGN_IN_LIFE = timedelta(hours=12)
IDLE_LIFE = timedelta(hours=2)
_SEEN_EVERY = timedelta(minutes=1)
FIRST_PERSON = "Owner"


_MOST_KEYS = 1_000
"""So many keys are remembered by whose they are."""


class _KnownKey(NamedTuple):
    """Whose a key was, until when it holds, and at which version of the database."""

    actor: Actor
    expires: datetime
    version: object


@dataclass(frozen=True)
class Identities:
    """Who people are, as the database has it."""

    database: Database
    serves_all: bool = False
    """Whether stewards are those of all owners."""
    _known_keys: dict[str, _KnownKey] = field(default_factory=dict, repr=False)

    def first_person(self) -> str:
        """Return the identifier of the first administrator, who is made where there is none."""
        with self.database.writing() as session:
            people = session.scalars(
                select(Person).where(Person.is_active).order_by(Person.created)
            )
            person = next((one for one in people if Role.ADMINISTRATOR in one.roles), None)
            if person is None:
                person = Person(name=FIRST_PERSON, roles=[role.value for role in Role])
                session.add(person)
                session.flush()
            return person.id

    def new_link(self, person_id: str) -> str:
        """Return the secret of a link by which a person signs in once, within 15 minutes."""
        secret = new_secret()
        with self.database.writing() as session:
            link = SignInLink(
                digest=digest_of(secret), person_id=person_id, expires=now() + LINK_LIFE
            )
            session.add(link)
        return secret

    def follow_link(self, secret: str) -> str:
        """Return the cookie of who signs in by a link, which is used up.

        Raises ServiceError (N010) for a link that is used, too old, or none at all.
        """
        with self.database.writing() as session:
            moment = now()
            fresh = (SignInLink.digest == digest_of(secret), SignInLink.used.is_(None))
            used = (
                update(SignInLink)
                .where(*fresh, SignInLink.expires > moment)
                .values(used=moment)
                .returning(SignInLink.person_id)
            )
            person_id = session.scalar(used)
            if person_id is None:
                raise _stale_link()
            return _sign_in(session, person_id)

    def recognise(self, issuer: str, subject: str) -> str:
        """Return the cookie of who signs in by a provider, as an administrator has made them known.

        Raises ServiceError (N010) for somebody who is not known, or no longer active.
        """
        with self.database.writing() as session:
            chosen = select(Person.id).where(Person.issuer == issuer, Person.subject == subject)
            person_id = session.scalar(chosen.where(Person.is_active))
            if person_id is None:
                message = "The provider knows who you are, but nobody has let you in here."
                raise ServiceError.of("N010", message, "Ask an administrator.")
            return _sign_in(session, person_id)

    def person_of_link(self, secret: str) -> tuple[str, str]:
        """Return who signs in by a link, by identifier and name; it can still be followed.

        Raises ServiceError (N010) as `follow_link`.
        """
        with self.database.reading() as session:
            row = session.get(SignInLink, digest_of(secret))
            person = session.get(Person, row.person_id) if row else None
        if row is None or row.used or row.expires <= now() or not (person and person.is_active):
            raise _stale_link()
        return person.id, person.name

    def sign_out(self, cookie: str) -> None:
        """End the sign-in of a cookie."""
        with self.database.writing() as session:
            row = session.get(SignIn, digest_of(cookie))
            if row is not None:
                row.ended = now()

    def by_cookie(self, cookie: str, *, is_call: bool = True) -> Actor:
        """Return who is signed in by a cookie. Raises ServiceError (N010) where nobody is.

        What is no call, but a stream that goes on, does not keep a sign-in alive.
        """
        with self.database.reading() as session:
            row = session.get(SignIn, digest_of(cookie))
            serves = _served(session, row.person_id) if row else ()
        moment = now()
        if row is None or row.ended or not row.person.is_active or _is_over(row, moment):
            message = "You are no longer signed in."
            raise ServiceError.of("N010", message, "Sign in again.")
        if is_call and moment - row.seen > _SEEN_EVERY:
            self._note_seen(row.digest, moment)
        return self._actor(row.person, row.person.roles, serves, csrf_token(cookie))

    def _note_seen(self, digest: str, moment: datetime) -> None:
        with self.database.writing() as session:
            session.execute(update(SignIn).where(SignIn.digest == digest).values(seen=moment))

    def by_key(self, key: str, version: object = None) -> Actor:
        """Return whose a key is. Raises ServiceError (N010) for one that is not valid.

        It is looked up anew whenever anything was written to the database, whose `version` is given
        where it was asked for since the call came.
        """
        version, digest = version or self.database.version(), digest_of(key)
        known_key = self._known_keys.get(digest)
        if known_key and known_key.version == version and known_key.expires > now():
            return known_key.actor
        self._known_keys.pop(digest, None)
        actor, expires = self._owner_of_key(key)
        if len(self._known_keys) >= _MOST_KEYS:
            self._known_keys.clear()
        self._known_keys[digest] = _KnownKey(actor, expires, version)
        return actor

    def present(self, actor: Actor) -> Actor:
        """Return somebody who called before as they are by now, with roles that they had then, too.
        Raises ServiceError (N010) for who is no longer active."""
        with self.database.reading() as session:
            person = session.get(Person, actor.id)
            serves = _served(session, actor.id)
        if person is None or not person.is_active:
            raise ServiceError.of("N010", "You are no longer active here.", "Ask an administrator.")
        roles = [str(one) for one in actor.roles if one in person.roles]
        return self._actor(person, roles, serves, actor.csrf_token)

    def roles_of(self, person_id: str) -> tuple[Role, ...]:
        """Return the roles that somebody has, whichever of them a key has; none for nobody."""
        with self.database.reading() as session:
            person = session.get(Person, person_id)
            return tuple(map(Role, person.roles)) if person is not None else ()

    def is_known(self, key: str) -> bool:
        """Return whether a key was valid when it was seen last: most likely, it still is."""
        return digest_of(key) in self._known_keys

    def known_owner(self, key: str) -> str:
        """Return whose a key was when it was seen last, by identifier; empty where it was not."""
        known_key = self._known_keys.get(digest_of(key))
        return known_key.actor.id if known_key else ""

    def _owner_of_key(self, key: str) -> tuple[Actor, datetime]:
        """Return whose a key is, and until when. Raises as `by_key`."""
        with self.database.reading() as session:
            row = session.scalars(select(ApiKey).where(ApiKey.prefix == prefix_of(key))).first()
            serves = _served(session, row.person_id) if row else ()
        is_right = is_same(row.digest if row else "", digest_of(key))
        if row is None or not is_right or row.ended or row.expires <= now():
            raise ServiceError.of("N010", "The key is not valid.", "Ask for another one.")
        if not row.person.is_active:
            raise ServiceError.of("N010", "The key is not valid.", "Ask for another one.")
        roles = [one for one in row.roles if one in row.person.roles]
        return self._actor(row.person, roles, serves, ""), row.expires

    def _actor(
        self, person: Person, roles: list[str], serves: tuple[str, ...], token: str
    ) -> Actor:
        return Actor(
            id=person.id,
            name=person.name,
            roles=tuple(map(Role, roles)),
            party=person.party,
            serves=serves if Role.STEWARD in roles else (),
            serves_all=self.serves_all and Role.STEWARD in roles,
            csrf_token=token,
        )


def _sign_in(session: Session, person_id: str) -> str:
    person = session.get(Person, person_id)
    if person is None or not person.is_active:
        raise _stale_link()
    cookie, moment = new_secret(), now()
    session.add(
        SignIn(digest=digest_of(cookie), person_id=person_id, expires=moment + SIGN_IN_LIFE)
    )
    return cookie


def _is_over(row: SignIn, moment: datetime) -> bool:
    return row.expires <= moment or moment - row.seen > IDLE_LIFE


def _served(session: Session, person_id: str) -> tuple[str, ...]:
    rows = select(Stewardship.owner_id).where(Stewardship.steward_id == person_id)
    return tuple(session.scalars(rows))


def _stale_link() -> PolicyEngineError:
    message = "The link was used, is older than 15 minutes, or was never given."
    return ServiceError.of("N010", message, "Ask for another one, or start the service again.")
