"""The tables of runs, of what happened to them, and of what they left."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from policy_engine.service.store.base import StoredTable, new_id, now
from policy_engine.service.store.people import Person

SERIAL = BigInteger().with_variant(Integer, "sqlite")
"""Numbers that only grow; SQLite counts up its own kind of integer alone."""


class StoredRun(StoredTable):
    """A run: what is to be done, who does it now, and what became of it."""

    __tablename__ = "runs"
    __table_args__ = (Index("ix_runs_state", "state", "created"),)

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    kind: Mapped[str] = mapped_column(index=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey(Person.id), index=True)
    settings: Mapped[dict[str, Any]]
    state: Mapped[str]
    attempt: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int]
    """How many attempts there may be in all."""
    worker: Mapped[str | None]
    """The supervisor whose run it is; `token` grows whenever that changes."""
    token: Mapped[int] = mapped_column(default=0)
    beat: Mapped[int] = mapped_column(default=0)
    """A number that grows as long as the supervisor lives."""
    pid: Mapped[int | None]
    pid_start: Mapped[int | None] = mapped_column(BigInteger)
    """When that process began, in ticks since the machine did: no other has both."""
    stage: Mapped[str] = mapped_column(default="")
    done: Mapped[int] = mapped_column(BigInteger, default=0)
    total: Mapped[int] = mapped_column(BigInteger, default=0)
    problems: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    result: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created: Mapped[datetime] = mapped_column(default=now, index=True)
    started: Mapped[datetime | None]
    finished: Mapped[datetime | None]
    revision: Mapped[int] = mapped_column(default=1)


class RunSubject(StoredTable):
    """An owner whose policy, datasets or releases a run is about: they may read of it."""

    __tablename__ = "run_subjects"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey(Person.id), primary_key=True, index=True)


class RunEvent(StoredTable):
    """Something that happened to a run. Later events have greater numbers, also once earlier ones
    are removed."""

    __tablename__ = "run_events"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 (as SQLAlchemy has it)

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), index=True)
    what: Mapped[str]
    at: Mapped[datetime] = mapped_column(default=now)


class RunArtefact(StoredTable):
    """A file that a run left for who may read runs."""

    __tablename__ = "artefacts"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str]
    """The SHA-256 of the file, in hexadecimal digits."""
    size: Mapped[int] = mapped_column(BigInteger)
    media_type: Mapped[str]
