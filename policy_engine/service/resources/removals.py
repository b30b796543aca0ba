"""Removes files that nothing uses any more: again and again, until they are gone."""

import logging
import re
import threading
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from policy_engine.errors import PolicyEngineError
from policy_engine.service.files.folder import FileFolder
from policy_engine.service.resources.uploads import end_uploads, is_expired
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import StoredDataset, Upload
from policy_engine.service.store.models import StoredModel
from policy_engine.service.store.removals import FileRemoval

FAULTS = logging.getLogger("policy_engine.service.faults")
PAUSE = 300.0
"""Seconds between two tries."""
_PATIENCE = 5.0
_NAME = re.compile(r"[0-9a-f]{64}(\.\w+)+")


@dataclass(frozen=True)
class FileRemovals:
    """The files that are to be removed. That one is, is written with what it is removed for."""

    database: Database
    files: FileFolder

    def owe(self, session: Session, name: str | None) -> None:
        """Note, in a session that writes, that a file is to be removed, unless something that is
        there has it."""
        session.flush()
        if name is not None and not _is_used(session, name):
            session.merge(FileRemoval(name=name, owed=now(), removed=None))

    def forgive(self, session: Session, name: str) -> None:
        """Note, in a session that writes, that a file is not to be removed any more."""
        row = session.get(FileRemoval, name)
        if row is not None:
            session.delete(row)

    def sweep(self) -> None:
        """Note that files are to be removed that nothing has, and remove what has come of uploads
        that are over: what a process leaves that is killed while an upload is completed. Raises
        ServiceError (N013) where the storage does not answer."""
        names = sorted(one for one in self.files.blobs.names() if _NAME.fullmatch(one))
        with self.database.writing() as session:
            for one in names:
                row = session.get(FileRemoval, one)
                if row is None or row.removed is not None:
                    self.owe(session, one)
            going_on = {*session.scalars(select(Upload.id).where(Upload.completed.is_(None)))}
            for one in self.files.parts() - going_on:
                self.files.forget_part(one)

    def settle(self, name: str | None) -> bool:
        """Remove a file if it is to be removed; return whether nothing is left to do about it."""
        try:
            if name is not None and self._is_owed(name):
                self.files.blobs.check()
                self._remove(name)
                self.files.forget_ended()
        except (PolicyEngineError, SQLAlchemyError) as error:
            FAULTS.warning("a file could not be removed yet: %s", type(error).__name__)
            return False
        return True

    def work_off(self) -> int:
        """Remove all that is to be removed, and copies of it in this folder, and end uploads that
        were given up; return how many files could not be. Raises ServiceError (N013) where the
        storage does not answer."""
        self._end_given_up()
        with self.database.reading() as session:
            rows = select(FileRemoval.name).where(FileRemoval.removed.is_(None))
            owed = session.scalars(rows).all()
        if owed:
            self.files.blobs.check()
        left = sum(not self.settle(name) for name in owed)
        self._remove_copies()
        self.files.forget_ended()
        return left

    def _end_given_up(self) -> None:
        with self.database.reading() as session:
            given_up = session.scalar(
                select(Upload.id).where(Upload.completed.is_(None), is_expired()).limit(1)
            )
        if given_up is not None:
            with self.database.writing() as session:
                end_uploads(session, self.files, is_expired())

    def _is_owed(self, name: str) -> bool:
        with self.database.reading() as session:
            row = session.get(FileRemoval, name)
            return row is not None and row.removed is None

    def _remove(self, name: str) -> None:
        """Remove a file while nobody else writes: an upload of the same content comes before, and
        the file stays, or after, and it is sent again."""
        with self.database.writing() as session:
            row = session.get(FileRemoval, name)
            if row is None or row.removed is not None:
                return
            if _is_used(session, name):
                session.delete(row)
                return
            self.files.forget(name)
            row.removed = now()

    def _remove_copies(self) -> None:
        """Remove copies of what was removed elsewhere, or was fetched just before it was."""
        copies = self.files.blobs.copied()
        with self.database.reading() as session:
            removed = {*session.scalars(select(FileRemoval.name))}
        for name in sorted(copies & removed):
            with self.database.writing() as session:
                if not _is_used(session, name):
                    self.files.blobs.forget_copy(name)


@dataclass
class RemovalWorker:
    """A thread that removes what is to be removed: when the service starts, and now and then."""

    removals: FileRemovals
    pause: float = PAUSE
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Have the thread end, and wait for it a while: a storage may not answer at all."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE)
            self._thread = None

    def _work(self) -> None:
        is_swept = False
        while not self._stop.is_set():
            try:
                if not is_swept:
                    self.removals.sweep()
                    is_swept = True
                self.removals.work_off()
            except (PolicyEngineError, SQLAlchemyError) as error:
                FAULTS.warning("files could not be removed yet: %s", type(error).__name__)
            self._stop.wait(self.pause)


def _is_used(session: Session, name: str) -> bool:
    """Tell whether a dataset or a model that is there has a file."""
    rows = (
        select(table.id).where(table.file == name, table.deleted.is_(None)).limit(1)
        for table in (StoredDataset, StoredModel)
    )
    return any(session.scalar(one) is not None for one in rows)
