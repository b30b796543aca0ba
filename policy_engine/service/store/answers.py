"""The table of answers that are kept, to be given again where a call is repeated."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from policy_engine.service.store.base import StoredTable, now


class KeptAnswer(StoredTable):
    """The answer to a call that has a key, or that it is being answered: then `status` is None."""

    __tablename__ = "kept_answers"

    digest: Mapped[str] = mapped_column(primary_key=True)
    """The SHA-256 of who called and of the key, which itself is not kept."""
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    call: Mapped[str]
    """The SHA-256 of the method, the address and the body of the call."""
    status: Mapped[int | None]
    headers: Mapped[dict[str, Any]] = mapped_column(default=dict)
    content: Mapped[bytes | None]
    """The body, encrypted: it may hold a secret that is shown once, or data."""
    created: Mapped[datetime] = mapped_column(default=now, index=True)
