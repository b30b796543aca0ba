"""The table of releases that were withdrawn."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from policy_engine.service.store.base import StoredTable, now


class Withdrawal(StoredTable):
    """A release that nobody may read any more, by whom and why."""

    __tablename__ = "withdrawals"

    release_id: Mapped[str] = mapped_column(primary_key=True)
    by_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(default=now)
