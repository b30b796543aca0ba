"""The tables of policies and their versions."""

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from policy_engine.service.store.base import StoredTable, new_id, now


class StoredPolicy(StoredTable):
    """A policy of an owner, of which one version at most is in force."""

    __tablename__ = "policies"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    uid: Mapped[str | None] = mapped_column(index=True)
    """What its published version calls itself: no other published policy has it."""
    published: Mapped[int | None]
    created: Mapped[datetime] = mapped_column(default=now)
    revision: Mapped[int] = mapped_column(default=1)
    versions: Mapped[list["PolicyVersion"]] = relationship(
        order_by="PolicyVersion.number", cascade="all, delete-orphan"
    )


class PolicyVersion(StoredTable):
    """A text of a policy: a draft that changes, or what was published and never changes again."""

    __tablename__ = "policy_versions"
    __table_args__ = (UniqueConstraint("policy_id", "number"),)

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    policy_id: Mapped[str] = mapped_column(ForeignKey("policies.id"))
    number: Mapped[int]
    text: Mapped[str]
    digest: Mapped[str]
    """The SHA-256 of the text, in hexadecimal digits."""
    signature: Mapped[str | None]
    """The credential by which somebody signed it."""
    state: Mapped[str]
    author_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    approver_id: Mapped[str | None] = mapped_column(ForeignKey("people.id"))
    created: Mapped[datetime] = mapped_column(default=now)
    published: Mapped[datetime | None]
    withdrawn_by: Mapped[str | None] = mapped_column(ForeignKey("people.id"))
    reason: Mapped[str] = mapped_column(default="")
    """Why it was withdrawn."""
    revision: Mapped[int] = mapped_column(default=1)
