"""What belongs to an owner and has an uploaded file: how it is listed, and how its file comes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.refusals import status_of
from policy_engine.service.calls.revisions import check_revision
from policy_engine.service.files.folder import FileFolder
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import (
    authorise,
    authorise_on,
    nothing_there,
    owners_of,
    reach_of,
)
from policy_engine.service.identity.roles import Role, Verb, Whose
from policy_engine.service.resources.removals import FileRemovals
from policy_engine.service.resources.uploads import (
    Uploads,
    UploadView,
    end_uploads,
    own_upload,
)
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import StoredDataset, Upload
from policy_engine.service.store.models import StoredModel
from policy_engine.service.store.people import Person

Row = TypeVar("Row", StoredDataset, StoredModel)
View = TypeVar("View", bound=BaseModel)
Facts = TypeVar("Facts")


@dataclass(frozen=True)
class FileKind(Generic[Row, View, Facts]):
    """How the files of datasets differ from those of models."""

    noun: Literal["dataset", "model"]
    table: type[Row]
    reading: Verb
    writing: Verb
    check_name: Callable[[str], object]
    """Raises an error for what no such file is called."""
    inspect: Callable[[Path, str], Facts]
    """Returns what a file is, by its content and its name; raises an error for what none may be."""
    ending: Callable[[Facts], str]
    """Returns the ending by which a file is kept."""
    note: Callable[[Row, Facts], None]
    """Writes into a row what its file is."""
    view: Callable[[Row], View]


@dataclass(frozen=True)
class OwnedFiles(Generic[Row, View, Facts]):
    """Datasets, or models, of all owners. A file never changes: another upload takes its place."""

    uploads: Uploads
    kind: FileKind[Row, View, Facts]

    @property
    def database(self) -> Database:
        """Where they are listed."""
        return self.uploads.database

    @property
    def files(self) -> FileFolder:
        """Where their files lie."""
        return self.uploads.files

    @property
    def removals(self) -> FileRemovals:
        """The files that are to be removed."""
        return FileRemovals(self.database, self.files)

    def page(self, actor: Actor, cursor: Cursor) -> PageOf[View]:
        """Return a page of those that somebody may read about."""
        table, verb = self.kind.table, self.kind.reading
        rows = select(table).where(table.deleted.is_(None))
        if authorise(actor, verb) is Whose.OWN:
            rows = rows.where(table.owner_id.in_(owners_of(actor, verb)))
        with self.database.reading() as session:
            order = (table.created, table.id)
            return cursor.page(session, rows, order, lambda row: self._shown(actor, row))

    def read(self, actor: Actor, one: str) -> View:
        """Return one by its identifier. Raises ServiceError (N003) if it is not there for the
        caller."""
        with self.database.reading() as session:
            return self._shown(actor, self._row(session, actor, one, self.kind.reading))

    def _shown(self, actor: Actor, row: Row) -> View:
        """Return what the caller may know of one: who may not read the file could test guesses of
        what is in it by its digest."""
        view = self.kind.view(row)
        reach = reach_of(actor, self.kind.writing)
        is_theirs = row.owner_id in owners_of(actor, self.kind.writing)
        if reach is Whose.ALL or (reach is Whose.OWN and is_theirs):
            return view
        return view.model_copy(update={"digest": None})

    def file(self, actor: Actor, one: str, verb: Verb) -> tuple[View, Path]:
        """Return one and its file. Raises ServiceError (N003; N004 without a file)."""
        with self.database.reading() as session:
            row = self._row(session, actor, one, verb)
            return self._shown(actor, row), self._path(one, row)

    @contextmanager
    def reading(self, actor: Actor, one: str, verb: Verb) -> Iterator[tuple[View, Path]]:
        """Return one and its file, which stays there while it is read. Raises as `file`."""
        views: list[View] = []

        def names() -> dict[str, str]:
            with self.database.reading() as session:
                row = self._row(session, actor, one, verb)
                views.append(self._shown(actor, row))
                return {one: self._name(one, row)}

        with self.files.reading(names) as held:
            yield views[-1], held[one]

    def name(self, session: Session, one: str) -> str:
        """Return the name of a file. Raises ServiceError (N004) for one without a file."""
        row = session.get(self.kind.table, one)
        if row is None:
            raise ServiceError.of("N004", f"There is no {self.kind.noun} {one!r}.")
        return self._name(one, row)

    def path(self, one: str) -> Path | None:
        """Return a file, for a run that was allowed to read it; None for what is not the identifier
        of any. Raises ServiceError (N004) for one without a file."""
        with self.database.reading() as session:
            row = session.get(self.kind.table, one)
        return None if row is None else self._path(one, row)

    def create(self, actor: Actor, row: Row, check: Callable[[Session], None]) -> View:
        """Return a new one without a file, of an owner whom the caller is or works for.

        Raises ServiceError (N003) for who is not an owner, or not one that the caller works for,
        and what a check raises, which is made in the same step.
        """
        authorise_on(actor, self.kind.writing, row.owner_id)
        with self.database.writing() as session:
            _check_owner(session, row.owner_id)
            check(session)
            session.add(row)
            session.flush()
            return self.kind.view(row)

    def change(self, actor: Actor, one: str, tag: str, change: Callable[[Row], None]) -> View:
        """Return one after a change. Raises ServiceError (N003, N005), and what the change does."""
        with self.database.writing() as session:
            row = self._row(session, actor, one, self.kind.writing)
            check_revision(row.revision, tag)
            change(row)
            row.revision += 1
            session.flush()
            return self.kind.view(row)

    def delete(self, actor: Actor, one: str) -> bool:
        """Take one away, and its file where nothing else has the same; its uploads end.

        What is known of it stays: decisions, certificates and runs name it. Return whether the file
        is gone; where not, it is removed later.
        """
        with self.database.writing() as session:
            row = self._row(session, actor, one, self.kind.writing)
            row.deleted = now()
            row.revision += 1
            self.removals.owe(session, row.file)
            holder = Upload.dataset_id if self.kind.noun == "dataset" else Upload.model_id
            end_uploads(session, self.files, holder == row.id)
        return self.removals.settle(row.file)

    def begin(self, actor: Actor, one: str, name: str, size: int) -> UploadView:
        """Return an upload of a file of so many bytes.

        Raises ServiceError (N003; N008 for one that is too large, or too many at once), and what
        the kind of file raises for a name.
        """
        self.kind.check_name(name)
        self.uploads.check_size(size)
        with self.database.writing() as session:
            row = self._row(session, actor, one, self.kind.writing)
            to = {f"{self.kind.noun}_id": row.id}
            upload = Upload(owner_id=actor.id, name=name, size=size, **to)
            return self.uploads.begin(session, upload)

    def complete(self, actor: Actor, upload_id: str, digest: str = "") -> View:
        """Return what has the file that has come from now on, once it was seen what it is.

        An upload that is complete is answered as before. Raises ServiceError (N004) if bytes are
        missing or the digest is another one, and what the kind of file raises for what none may be:
        the upload then is over, and what has come of it is removed.
        """
        authorise(actor, self.kind.writing)
        with self.database.reading() as session:
            earlier = self._completed(session, actor, upload_id)
        if earlier is not None:
            return earlier
        try:
            return self._complete(actor, upload_id, digest)
        except (PolicyEngineError, OSError) as error:
            with self.database.writing() as session:  # once another call has written, if one does
                other = self._completed(session, actor, upload_id)
                if session.get(Upload, upload_id) is None:
                    raise nothing_there() from None  # it was taken back
                if other is None and _is_refused(error):
                    end_uploads(session, self.files, Upload.id == upload_id)
            if other is None:
                raise
            return other

    def _complete(self, actor: Actor, upload_id: str, digest: str) -> View:
        upload, part = self.uploads.whole(actor, upload_id, digest)
        facts = self.kind.inspect(part, upload.name)
        name = self.files.name(upload_id, self.kind.ending(facts))
        with self.database.writing() as session:
            self.removals.owe(session, name)  # should this end before it is known whose it is
        with self.database.writing() as session:
            stored = own_upload(session, actor, upload_id)
            row = self._row(session, actor, self._holder(stored), self.kind.writing)
            self.kind.note(row, facts)
            self.files.keep(upload_id, name)
            earlier, row.file = row.file, name
            row.size = upload.size
            row.revision += 1
            stored.completed = now()
            self.removals.owe(session, earlier)
            self.removals.forgive(session, name)
        self.files.forget_part(upload_id)
        self.removals.settle(earlier)
        return self.kind.view(row)

    def _completed(self, session: Session, actor: Actor, upload_id: str) -> View | None:
        """Return what has the file of an upload of the caller that is complete, None of another."""
        row = session.get(Upload, upload_id)
        if row is None or row.completed is None or row.owner_id != actor.id:
            return None
        return self.kind.view(self._row(session, actor, self._holder(row), self.kind.writing))

    def _holder(self, upload: Upload) -> str:
        held = {"dataset": upload.dataset_id, "model": upload.model_id}
        return held[self.kind.noun] or ""

    def _row(self, session: Session, actor: Actor, one: str, verb: Verb) -> Row:
        authorise(actor, verb)
        row = session.get(self.kind.table, one)
        if row is None or row.deleted:
            raise nothing_there()
        authorise_on(actor, verb, row.owner_id)
        return row

    def _path(self, one: str, row: Row) -> Path:
        return self.files.path(self._name(one, row))

    def _name(self, one: str, row: Row) -> str:
        if row.deleted or row.file is None:
            message = f"The {self.kind.noun} {one!r} has no file."
            raise ServiceError.of("N004", message, "Upload one to it.")
        return row.file


def _is_refused(error: Exception) -> bool:
    """Tell whether an error is about what was sent, which will not be another one later."""
    return isinstance(error, PolicyEngineError) and status_of(error) in (413, 422)


def _check_owner(session: Session, person_id: str) -> None:
    """Raise ServiceError (N003) where nobody who owns something has an identifier."""
    person = session.get(Person, person_id)
    if person is None or not person.is_active or Role.OWNER not in person.roles:
        message = "A dataset or a model belongs to an owner, who answers for it."
        raise ServiceError.of("N003", message, "Name one that you work for: owner.")
