"""The tables of datasets and of uploads, which may be to models as well."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from policy_engine.service.store.base import StoredTable, new_id, now


class StoredDataset(StoredTable):
    """A table of an owner by the IRI that policies call it by; what was deleted keeps its row."""

    __tablename__ = "datasets"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    iri: Mapped[str] = mapped_column(index=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    file: Mapped[str | None]
    """The name of its file: the SHA-256 of its content, and its ending."""
    size: Mapped[int | None] = mapped_column(BigInteger)
    columns: Mapped[list[dict[str, Any]]]
    rows: Mapped[int | None] = mapped_column(BigInteger)
    created: Mapped[datetime] = mapped_column(default=now)
    deleted: Mapped[datetime | None]
    revision: Mapped[int] = mapped_column(default=1)


class Upload(StoredTable):
    """A file that comes in parts, and what of it has come."""

    __tablename__ = "uploads"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    dataset_id: Mapped[str | None] = mapped_column(ForeignKey("datasets.id"), index=True)
    model_id: Mapped[str | None] = mapped_column(ForeignKey("models.id"), index=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    name: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger)
    created: Mapped[datetime] = mapped_column(default=now)
    completed: Mapped[datetime | None]
