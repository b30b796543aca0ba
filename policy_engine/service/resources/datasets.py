"""Datasets, and how their files come."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from policy_engine import terms
from policy_engine.engines.column_roles import ColumnRole
from policy_engine.errors import PolicyEngineError, ServiceError, did_you_mean
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.revisions import check_revision
from policy_engine.service.files.folder import FileFolder
from policy_engine.service.files.inspecting import ending_of, inspect_table
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import (
    authorise,
    authorise_on,
    nothing_there,
    owners_of,
)
from policy_engine.service.identity.roles import Role, Verb, Whose
from policy_engine.service.resources.naming import dataset_name
from policy_engine.service.resources.ownership import check_claim
from policy_engine.service.resources.removals import FileRemovals
from policy_engine.service.resources.uploads import Uploads, UploadView, own_upload
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import StoredDataset, Upload
from policy_engine.service.store.people import Person


class ColumnView(BaseModel):
    """A column of a dataset."""

    name: str
    role: ColumnRole | None = None
    """What somebody said that it is; None as long as nobody has."""


class DatasetView(BaseModel):
    """A dataset; without a file as long as none is complete."""

    id: str
    name: str
    iri: str
    owner: str
    format: str | None = None
    digest: str | None = None
    size: int | None = None
    rows: int | None = None
    columns: list[ColumnView]
    created: datetime
    revision: int


@dataclass(frozen=True)
class OwnedDatasets:
    """The datasets of all owners. A file never changes: another upload takes its place."""

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

    def page(self, actor: Actor, cursor: Cursor) -> PageOf[DatasetView]:
        """Return a page of the datasets that somebody may read about."""
        rows = select(StoredDataset).where(StoredDataset.deleted.is_(None))
        if authorise(actor, Verb.READ_DATASETS) is Whose.OWN:
            rows = rows.where(StoredDataset.owner_id.in_(owners_of(actor, Verb.READ_DATASETS)))
        order = StoredDataset.created, StoredDataset.id
        with self.database.reading() as session:
            return cursor.page(session, rows, order, _dataset_view)

    def read(self, actor: Actor, dataset_id: str) -> DatasetView:
        """Return a dataset. Raises ServiceError (N003) if it is not there for the caller."""
        with self.database.reading() as session:
            return _dataset_view(_dataset(session, actor, dataset_id, Verb.READ_DATASETS))

    def create(self, actor: Actor, name: str, iri: str, owner: str = "") -> DatasetView:
        """Return a new dataset without a file, of the caller or of an owner that they work for.

        Raises RequestError (D001) for what a dataset is not called by; ServiceError: N003 for who
        is not an owner, or not one that the caller works for, N004 for an IRI that is taken, or
        lies in what is another's.
        """
        owner = owner or actor.id
        authorise_on(actor, Verb.WRITE_DATASETS, owner)
        iri = dataset_name(iri)
        with self.database.writing() as session:
            check_owner(session, owner)
            check_claim(session, owner, iri)
            same = select(StoredDataset.id).where(
                StoredDataset.iri == iri, StoredDataset.deleted.is_(None)
            )
            if session.scalar(same.limit(1)) is not None:
                raise ServiceError.of("N004", f"There is a dataset {iri} already.")
            row = StoredDataset(name=name, iri=iri, owner_id=owner, columns=[])
            session.add(row)
            session.flush()
            return _dataset_view(row)

    def change_roles(
        self, actor: Actor, dataset_id: str, tag: str, roles: Mapping[str, ColumnRole | None]
    ) -> DatasetView:
        """Return a dataset with other roles of some columns. Raises ServiceError: N005, and N007
        for a column that it does not have."""
        with self.database.writing() as session:
            row = _dataset(session, actor, dataset_id, Verb.WRITE_DATASETS)
            check_revision(row.revision, tag)
            names = [one["name"] for one in row.columns]
            for name in roles:
                if name not in names:
                    message = f"The dataset has no column {name[:100]!r}."
                    raise ServiceError.of("N007", message, did_you_mean(name, names))
            chosen = {**_roles(row), **roles}
            row.columns = [{"name": name, "role": chosen.get(name)} for name in names]
            row.revision += 1
            session.flush()
            return _dataset_view(row)

    def file(self, actor: Actor, dataset_id: str, verb: Verb) -> tuple[DatasetView, Path]:
        """Return a dataset and its file. Raises ServiceError (N003; N004 without a file)."""
        with self.database.reading() as session:
            view = _dataset_view(_dataset(session, actor, dataset_id, verb))
            return view, self._path(session, dataset_id)

    def delete(self, actor: Actor, dataset_id: str) -> bool:
        """Take a dataset away, and its file where no other dataset has the same.

        What is known of it stays: decisions and certificates name it. Return whether the file is
        gone; where not, it is removed later.
        """
        with self.database.writing() as session:
            row = _dataset(session, actor, dataset_id, Verb.WRITE_DATASETS)
            row.deleted = now()
            row.revision += 1
            self.removals.owe(session, row.file)
        return self.removals.settle(row.file)

    def begin(self, actor: Actor, dataset_id: str, name: str, size: int) -> UploadView:
        """Return an upload to a dataset, of a file of so many bytes.

        Raises ServiceError (N008) for one that is too large, or too many at once; DataError (C004)
        for a name whose ending is not that of a table.
        """
        ending_of(name)
        self.uploads.check_size(size)
        with self.database.writing() as session:
            row = _dataset(session, actor, dataset_id, Verb.WRITE_DATASETS)
            upload = Upload(dataset_id=row.id, owner_id=actor.id, name=name, size=size)
            return self.uploads.begin(session, upload)

    def complete(self, actor: Actor, upload_id: str, digest: str = "") -> DatasetView:
        """Return the dataset with the file that has come, once it was read as a table.

        An upload that is complete is answered as before. Raises ServiceError (N004) if bytes are
        missing or the digest is another one, DataError for what is not a table; the upload then
        stays, to be cancelled.
        """
        authorise(actor, Verb.WRITE_DATASETS)
        with self.database.reading() as session:
            earlier = _completed(session, actor, upload_id)
        if earlier is not None:
            return earlier
        try:
            return self._complete(actor, upload_id, digest)
        except (PolicyEngineError, OSError):
            with self.database.writing() as session:  # once another call has written, if one does
                other = _completed(session, actor, upload_id)
                if session.get(Upload, upload_id) is None:
                    raise nothing_there() from None  # it was taken back
            if other is None:
                raise
            return other

    def _complete(self, actor: Actor, upload_id: str, digest: str) -> DatasetView:
        view, part = self.uploads.whole(actor, upload_id, digest)
        table = inspect_table(part, ending_of(view.name))
        with self.database.writing() as session:
            upload = own_upload(session, actor, upload_id)
            row = _dataset(session, actor, upload.dataset_id or "", Verb.WRITE_DATASETS)
            earlier, row.file = row.file, self.files.keep(upload_id, table.format)
            row.size, row.rows = view.size, table.rows
            roles = _roles(row)
            row.columns = [{"name": name, "role": roles.get(name)} for name in table.columns]
            row.revision += 1
            upload.completed = now()
            self.removals.owe(session, earlier)
        self.removals.settle(earlier)
        return _dataset_view(row)

    def check_names(self, actor: Actor, datasets: Mapping[str, str]) -> None:
        """Check that datasets are there for the caller, each by its own IRI.

        Under another IRI, a policy that is not about it would be carried out on it. Raises
        ServiceError: N003 for one that is not there, N004 for one that has another IRI.
        """
        for iri, one in datasets.items():
            own = self.read(actor, one).iri
            if terms.canonical(iri) != own:
                message = f"The dataset {one!r} is {own}. Given: {iri!r}."
                raise ServiceError.of("N004", message, "Give it by its own IRI.")

    def paths(self, dataset_ids: dict[str, str]) -> dict[str, Path]:
        """Return the files of datasets by IRI, for a run that was allowed to read them.

        `dataset_ids` are by IRI, too. Raises ServiceError (N004) for one without a file.
        """
        with self.database.reading() as session:
            return {iri: self._path(session, one) for iri, one in dataset_ids.items()}

    def mentioned(self, sql: str) -> dict[str, Path]:
        """Return the files of the datasets that a query may mean, by IRI: tables are called by the
        last segment of an IRI, or by the whole of it."""
        rows = select(StoredDataset.iri, StoredDataset.file).where(
            StoredDataset.deleted.is_(None), StoredDataset.file.is_not(None)
        )
        words = sql.casefold()
        with self.database.reading() as session:
            found_files = session.execute(rows).all()
        return {
            iri: self.files.path(file)
            for iri, file in found_files
            if file and terms.local_name(iri).casefold() in words
        }

    def _path(self, session: Session, dataset_id: str) -> Path:
        row = session.get(StoredDataset, dataset_id)
        if row is None or row.deleted or row.file is None:
            message = f"The dataset {dataset_id!r} has no data."
            raise ServiceError.of("N004", message, "Upload a file to it.")
        return self.files.path(row.file)


def check_owner(session: Session, person_id: str) -> None:
    """Raise ServiceError (N003) where nobody who owns something has an identifier."""
    person = session.get(Person, person_id)
    if person is None or not person.is_active or Role.OWNER not in person.roles:
        message = "A dataset belongs to an owner, who answers for it."
        raise ServiceError.of("N003", message, "Name one that you work for: owner.")


def _dataset(session: Session, actor: Actor, dataset_id: str, verb: Verb) -> StoredDataset:
    authorise(actor, verb)
    row = session.get(StoredDataset, dataset_id)
    if row is None or row.deleted:
        raise nothing_there()
    authorise_on(actor, verb, row.owner_id)
    return row


def _completed(session: Session, actor: Actor, upload_id: str) -> DatasetView | None:
    """Return the dataset of an upload of the caller that is complete, None of another."""
    row = session.get(Upload, upload_id)
    if row is None or row.completed is None or row.owner_id != actor.id:
        return None
    return _dataset_view(_dataset(session, actor, row.dataset_id or "", Verb.WRITE_DATASETS))


def _roles(row: StoredDataset) -> dict[str, str | None]:
    return {one["name"]: one.get("role") for one in row.columns}


def _dataset_view(row: StoredDataset) -> DatasetView:
    digest, _, form = (row.file or "").partition(".")
    return DatasetView(
        id=row.id,
        name=row.name,
        iri=row.iri,
        owner=row.owner_id,
        format=form or None,
        digest=digest or None,
        size=row.size,
        rows=row.rows,
        columns=[ColumnView(**one) for one in row.columns],
        created=row.created,
        revision=row.revision,
    )
