"""The table of models that were uploaded."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from policy_engine.service.store.base import StoredTable, new_id, now


class StoredModel(StoredTable):
    """A model of an owner, as weights or as a description; what was deleted keeps its row."""

    __tablename__ = "models"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    file: Mapped[str | None]
    """The name of its file: the SHA-256 of its content, and its ending."""
    kind: Mapped[str | None]
    size: Mapped[int | None] = mapped_column(BigInteger)
    settings: Mapped[dict[str, Any]]
    """How it is asked."""
    created: Mapped[datetime] = mapped_column(default=now)
    deleted: Mapped[datetime | None]
    revision: Mapped[int] = mapped_column(default=1)
