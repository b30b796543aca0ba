"""The table of files that nothing uses any more."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from policy_engine.service.store.base import StoredTable, now


class FileRemoval(StoredTable):
    """A file that is to be removed, or was: copies of it may be in the folders of other machines.

    What uses it again meanwhile keeps it, whatever is here.
    """

    __tablename__ = "file_removals"

    name: Mapped[str] = mapped_column(primary_key=True)
    """The SHA-256 of its content, and its ending."""
    owed: Mapped[datetime] = mapped_column(default=now)
    removed: Mapped[datetime | None]
