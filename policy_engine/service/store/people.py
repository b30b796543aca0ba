"""The tables of people, and of what they sign in by."""

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from policy_engine.service.store.base import StoredTable, new_id, now


class Person(StoredTable):
    """Somebody, or a machine, with roles; `party` is the IRI that policies call them by."""

    __tablename__ = "people"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    roles: Mapped[list[str]]
    party: Mapped[str] = mapped_column(default="")
    issuer: Mapped[str | None]
    """Who vouches for them, where they sign in elsewhere; `subject` is who they are there."""
    subject: Mapped[str | None]
    is_active: Mapped[bool] = mapped_column(default=True)
    created: Mapped[datetime] = mapped_column(default=now)
    revision: Mapped[int] = mapped_column(default=1)


class SignInLink(StoredTable):
    """A link by which a person signs in once; only its digest is kept."""

    __tablename__ = "sign_in_links"

    digest: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    expires: Mapped[datetime]
    used: Mapped[datetime | None]


class SignIn(StoredTable):
    """A browser that is signed in; only the digest of its cookie is kept."""

    __tablename__ = "sign_ins"

    digest: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    created: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)
    expires: Mapped[datetime]
    ended: Mapped[datetime | None]
    person: Mapped[Person] = relationship(lazy="joined")


class ApiKey(StoredTable):
    """A key by which a machine calls for a person, with some of their roles."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    name: Mapped[str]
    prefix: Mapped[str] = mapped_column(unique=True)
    digest: Mapped[str]
    roles: Mapped[list[str]]
    created: Mapped[datetime] = mapped_column(default=now)
    expires: Mapped[datetime]
    ended: Mapped[datetime | None]
    person: Mapped[Person] = relationship(lazy="joined")


class Stewardship(StoredTable):
    """A person who works on what belongs to an owner, as that owner has said."""

    __tablename__ = "stewardships"

    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"), primary_key=True)
    steward_id: Mapped[str] = mapped_column(ForeignKey("people.id"), primary_key=True)
    created: Mapped[datetime] = mapped_column(default=now)
