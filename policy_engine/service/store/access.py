"""The table of requests for access, and what became of them."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from policy_engine.service.store.base import StoredTable, new_id, now


class AccessRequest(StoredTable):
    """Somebody asks an owner to let them read assets together, for a purpose, until a moment."""

    __tablename__ = "access_requests"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    requester_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    assignee: Mapped[str]
    """The IRI that policies called the requester by when they asked."""
    targets: Mapped[list[str]]
    purpose: Mapped[str]
    until: Mapped[datetime]
    reason: Mapped[str]
    state: Mapped[str]
    decided_by: Mapped[str | None] = mapped_column(ForeignKey("people.id"))
    decided: Mapped[datetime | None]
    note: Mapped[str] = mapped_column(default="")
    policy_id: Mapped[str | None] = mapped_column(ForeignKey("policies.id"))
    """The policy by which it was granted."""
    created: Mapped[datetime] = mapped_column(default=now)
    revision: Mapped[int] = mapped_column(default=1)
