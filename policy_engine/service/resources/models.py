"""Models that are audited, and descriptions of those that audits train: uploaded, and no code."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.revisions import check_revision
from policy_engine.service.files.folder import FileFolder
from policy_engine.service.files.inspecting_models import ENDINGS, inspect_model
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import (
    authorise,
    authorise_on,
    nothing_there,
    owners_of,
)
from policy_engine.service.identity.roles import Verb, Whose
from policy_engine.service.resources.datasets import check_owner
from policy_engine.service.resources.removals import FileRemovals
from policy_engine.service.resources.uploads import Uploads, UploadView, own_upload
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import Upload
from policy_engine.service.store.models import StoredModel

DESCRIPTION = "description"
"""The kind of what describes a model that is yet to be trained."""
_Column = Annotated[str, Field(max_length=500)]


class ModelSettings(BaseModel):
    """How a fitted model is asked: the columns that it takes, its classes in the order of its
    answers, and what its answers are, as far as it does not say so itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    features: Annotated[tuple[_Column, ...], Field(max_length=10_000)] = ()
    classes: Annotated[tuple[_Column, ...], Field(max_length=10_000)] = ()
    outputs: Literal["", "probabilities", "logits"] = ""


class ModelView(BaseModel):
    """A model; without a file as long as none is complete. Its `kind` follows from its content."""

    id: str
    name: str
    owner: str
    kind: str | None = None
    digest: str | None = None
    size: int | None = None
    settings: ModelSettings
    created: datetime
    revision: int


@dataclass(frozen=True)
class OwnedModels:
    """The models of all owners. A file never changes: another upload takes its place."""

    database: Database
    files: FileFolder
    largest: int

    @property
    def uploads(self) -> Uploads:
        """The files that are on their way."""
        return Uploads(self.database, self.files, self.largest)

    @property
    def removals(self) -> FileRemovals:
        """The files that are to be removed."""
        return FileRemovals(self.database, self.files)

    def page(self, actor: Actor, cursor: Cursor) -> PageOf[ModelView]:
        """Return a page of the models that somebody may read about."""
        rows = select(StoredModel).where(StoredModel.deleted.is_(None))
        if authorise(actor, Verb.READ_MODELS) is Whose.OWN:
            rows = rows.where(StoredModel.owner_id.in_(owners_of(actor, Verb.READ_MODELS)))
        order = StoredModel.created, StoredModel.id
        with self.database.reading() as session:
            return cursor.page(session, rows, order, _model_view)

    def read(self, actor: Actor, model_id: str) -> ModelView:
        """Return a model. Raises ServiceError (N003) if it is not there for the caller."""
        with self.database.reading() as session:
            return _model_view(_model(session, actor, model_id, Verb.READ_MODELS))

    def create(
        self, actor: Actor, name: str, settings: ModelSettings, owner: str = ""
    ) -> ModelView:
        """Return a new model without a file, of the caller or of an owner that they work for.

        Raises ServiceError (N003) for who is not an owner, or not one that the caller works for.
        """
        owner = owner or actor.id
        authorise_on(actor, Verb.WRITE_MODELS, owner)
        with self.database.writing() as session:
            check_owner(session, owner)
            row = StoredModel(name=name, owner_id=owner, settings=settings.model_dump(mode="json"))
            session.add(row)
            session.flush()
            return _model_view(row)

    def change(self, actor: Actor, model_id: str, tag: str, settings: ModelSettings) -> ModelView:
        """Return a model with other settings. Raises ServiceError (N003, N005)."""
        with self.database.writing() as session:
            row = _model(session, actor, model_id, Verb.WRITE_MODELS)
            check_revision(row.revision, tag)
            row.settings = settings.model_dump(mode="json")
            row.revision += 1
            session.flush()
            return _model_view(row)

    def delete(self, actor: Actor, model_id: str) -> bool:
        """Take a model away, and its file where nothing else has the same; runs still name it.

        Return whether the file is gone; where not, it is removed later.
        """
        with self.database.writing() as session:
            row = _model(session, actor, model_id, Verb.WRITE_MODELS)
            row.deleted = now()
            row.revision += 1
            self.removals.owe(session, row.file)
        return self.removals.settle(row.file)

    def begin(self, actor: Actor, model_id: str, name: str, size: int) -> UploadView:
        """Return an upload to a model, of a file of so many bytes, whatever it is called.

        Raises ServiceError (N003; N008 for one that is too large, or too many at once).
        """
        self.uploads.check_size(size)
        with self.database.writing() as session:
            row = _model(session, actor, model_id, Verb.WRITE_MODELS)
            upload = Upload(model_id=row.id, owner_id=actor.id, name=name, size=size)
            return self.uploads.begin(session, upload)

    def complete(self, actor: Actor, upload_id: str, digest: str = "") -> ModelView:
        """Return the model with the file that has come, once it was seen to hold no code.

        An upload that is complete is answered as before. Raises ServiceError (N004) if bytes are
        missing or the digest is another one, AuditError for what is not a model (A014), holds or
        names code (A015), or describes none (A009); the upload then stays, to be cancelled.
        """
        earlier = self._completed(actor, upload_id)
        if earlier is not None:
            return earlier
        try:
            return self._complete(actor, upload_id, digest)
        except (PolicyEngineError, OSError):
            other = self._completed(actor, upload_id)
            if other is None:
                raise
            return other

    def _complete(self, actor: Actor, upload_id: str, digest: str) -> ModelView:
        view, part = self.uploads.whole(actor, upload_id, digest)
        kind = inspect_model(part)
        with self.database.writing() as session:
            upload = own_upload(session, actor, upload_id)
            row = _model(session, actor, upload.model_id or "", Verb.WRITE_MODELS)
            earlier, row.file = row.file, self.files.keep(upload_id, ENDINGS[kind])
            row.size, row.kind = view.size, kind
            row.revision += 1
            upload.completed = now()
            self.removals.owe(session, earlier)
        self.removals.settle(earlier)
        return _model_view(row)

    def _completed(self, actor: Actor, upload_id: str) -> ModelView | None:
        """Return the model of an upload of the caller that is complete, None of another."""
        with self.database.writing() as session:  # once another call has written, if one does
            row = session.get(Upload, upload_id)
            if row is None or row.completed is None or row.owner_id != actor.id:
                return None
            return _model_view(_model(session, actor, row.model_id or "", Verb.WRITE_MODELS))

    def check(self, actor: Actor, model_id: str, *, is_description: bool) -> ModelView:
        """Return a model that is there for the caller, with a file: a description, or fitted.

        Raises ServiceError (N003; N004 for one without a file, or of the other kind).
        """
        view = self.read(actor, model_id)
        if view.kind is None:
            raise _fileless(model_id)
        if (view.kind == DESCRIPTION) is not is_description:
            wanted = "a description is wanted" if is_description else "a fitted model is wanted"
            message = f"The model {model_id!r} is of the kind {view.kind!r}, and {wanted}."
            raise ServiceError.of("N004", message)
        return view

    def path(self, model_id: str) -> Path | None:
        """Return the file of a model, for a run that was allowed to read it; None for what is not
        the identifier of a model. Raises ServiceError (N004) for one without a file."""
        with self.database.reading() as session:
            row = session.get(StoredModel, model_id)
        if row is None:
            return None
        if row.deleted or row.file is None:
            raise _fileless(model_id)
        return self.files.path(row.file)


def _fileless(model_id: str) -> PolicyEngineError:
    return ServiceError.of("N004", f"The model {model_id!r} has no file.", "Upload one to it.")


def _model(session: Session, actor: Actor, model_id: str, verb: Verb) -> StoredModel:
    authorise(actor, verb)
    row = session.get(StoredModel, model_id)
    if row is None or row.deleted:
        raise nothing_there()
    authorise_on(actor, verb, row.owner_id)
    return row


def _model_view(row: StoredModel) -> ModelView:
    settings: Mapping[str, object] = row.settings
    return ModelView(
        id=row.id,
        name=row.name,
        owner=row.owner_id,
        kind=row.kind,
        digest=row.file.partition(".")[0] if row.file else None,
        size=row.size,
        settings=ModelSettings.model_validate(settings),
        created=row.created,
        revision=row.revision,
    )
