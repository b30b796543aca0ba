"""Files on their way to the service, in parts: of datasets and of models."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from policy_engine.errors import ServiceError
from policy_engine.service.files.folder import FileFolder
from policy_engine.service.files.verifying import digest_of_file
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise, authorise_on, nothing_there
from policy_engine.service.identity.roles import Verb
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import StoredDataset, Upload
from policy_engine.service.store.models import StoredModel
from policy_engine.service.store.people import Stewardship

_MOST_UPLOADS = 20
"""So many uploads of one person may be incomplete at once."""

_LONGEST = timedelta(hours=24)
"""An upload that is not complete after so long is over."""


class UploadView(BaseModel):
    """An upload to a dataset or to a model: it goes on at `offset`, and is complete at `size`
    bytes."""

    id: str
    dataset: str | None = None
    model: str | None = None
    name: str
    size: int
    offset: int


@dataclass(frozen=True)
class Uploads:
    """The uploads of all people: each is of who began it, and of nobody else."""

    database: Database
    files: FileFolder
    largest: int

    def check_size(self, size: int) -> None:
        """Raise ServiceError (N008) for a file that is too large, or has no room."""
        if size > self.largest:
            message = f"A file has at most {self.largest:,} bytes. Given: {size:,}."
            raise ServiceError.of("N008", message)
        self.files.check_space(size)

    def begin(self, session: Session, upload: Upload) -> UploadView:
        """Return an upload that begins. Raises ServiceError (N008), which names those that are
        incomplete, for too many at once."""
        end_uploads(session, self.files, is_expired())
        waiting = select(Upload.id).where(
            Upload.owner_id == upload.owner_id, Upload.completed.is_(None)
        )
        going_on = session.scalars(waiting.order_by(Upload.created)).all()
        if len(going_on) >= _MOST_UPLOADS:
            message = f"At most {_MOST_UPLOADS} of your uploads may be incomplete at once. "
            message += f"These are: {', '.join(going_on)}."
            raise ServiceError.of("N008", message, "Complete or cancel one.")
        session.add(upload)
        session.flush()
        return self._view(upload)

    def read(self, actor: Actor, upload_id: str) -> UploadView:
        """Return how far an upload is. Raises ServiceError (N003) for another's."""
        with self.database.reading() as session:
            return self._view(own_upload(session, actor, upload_id))

    def model_of(self, actor: Actor, upload_id: str) -> str | None:
        """Return the model that an upload of the caller is to, None of one to a dataset."""
        with self.database.reading() as session:
            row = session.get(Upload, upload_id)
            return row.model_id if row is not None and row.owner_id == actor.id else None

    @contextmanager
    def receiving(self, actor: Actor, upload_id: str, offset: int) -> Iterator["Receiver"]:
        """Return what takes the next bytes of an upload, from an offset on."""
        view = self.read(actor, upload_id)
        with self.files.appending(upload_id, offset) as file:
            yield Receiver(file, view.size)

    def cancel(self, actor: Actor, upload_id: str) -> None:
        """Take back an upload that is not complete."""
        with self.database.writing() as session:
            session.delete(_begun_upload(session, actor, upload_id))
        self.files.forget_part(upload_id)

    def whole(self, actor: Actor, upload_id: str, digest: str = "") -> tuple[UploadView, Path]:
        """Return an upload all of which has come, and its file. Raises ServiceError (N004) if bytes
        are missing, or the digest is another one."""
        view = self.read(actor, upload_id)
        if view.offset != view.size:
            message = f"{view.offset:,} of {view.size:,} bytes have come."
            raise ServiceError.of("N004", message, "Send the others first.")
        part = self.files.part(upload_id)
        if digest and digest_of_file(part) != digest.lower():
            message = "What has come is not what was sent: the digest is another one."
            raise ServiceError.of("N004", message, "Cancel the upload and begin it again.")
        return view, part

    def _view(self, row: Upload) -> UploadView:
        return UploadView(
            id=row.id,
            dataset=row.dataset_id,
            model=row.model_id,
            name=row.name,
            size=row.size,
            offset=self.files.received(row.id),
        )


@dataclass
class Receiver:
    """Writes what comes of an upload, and no more than it was to be."""

    file: BinaryIO
    size: int

    def write(self, chunk: bytes) -> None:
        """Write the next bytes. Raises ServiceError (N008) for more than were announced."""
        if self.file.tell() + len(chunk) > self.size:
            raise ServiceError.of("N008", f"The file was to have {self.size:,} bytes; more came.")
        self.file.write(chunk)

    @property
    def offset(self) -> int:
        """How many bytes have come."""
        return self.file.tell()


def end_uploads(session: Session, files: FileFolder, which: ColumnElement[bool]) -> None:
    """End incomplete uploads, in a session that writes, and remove what has come of them."""
    for one in session.scalars(select(Upload).where(Upload.completed.is_(None), which)).all():
        session.delete(one)
        files.forget_part(one.id)
    session.flush()


def is_expired() -> ColumnElement[bool]:
    """Return what is true of uploads that were begun so long ago that they are given up."""
    return Upload.created < now() - _LONGEST


def own_upload(session: Session, actor: Actor, upload_id: str) -> Upload:
    """Return an upload of the caller that is not complete, to what they may still write.

    A steward who was dismissed meanwhile, and named again, begins anew. Raises ServiceError (N003).
    """
    row = _begun_upload(session, actor, upload_id)
    holder: StoredDataset | StoredModel | None
    if row.model_id is None:
        verb, holder = Verb.WRITE_DATASETS, session.get(StoredDataset, row.dataset_id)
    else:
        verb, holder = Verb.WRITE_MODELS, session.get(StoredModel, row.model_id)
    if holder is None:
        raise nothing_there()
    authorise_on(actor, verb, holder.owner_id)
    if holder.owner_id != actor.id and not actor.serves_all:
        named = session.get(Stewardship, (holder.owner_id, actor.id))
        if named is None or named.created > row.created:
            raise nothing_there()
    return row


def _begun_upload(session: Session, actor: Actor, upload_id: str) -> Upload:
    authorise(actor, Verb.WRITE_DATASETS)
    row = session.get(Upload, upload_id)
    if row is None or row.completed or row.owner_id != actor.id:
        raise nothing_there()
    return row
