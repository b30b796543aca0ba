"""Datasets, and what their files are."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from policy_engine import terms
from policy_engine.engines.column_roles import ColumnRole
from policy_engine.errors import ServiceError, did_you_mean
from policy_engine.service.files.inspecting import UploadedTable, ending_of, inspect_table
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.naming import dataset_name
from policy_engine.service.resources.owned_files import FileKind, OwnedFiles
from policy_engine.service.resources.ownership import check_claim
from policy_engine.service.resources.uploads import Uploads
from policy_engine.service.store.datasets import StoredDataset

_MOST_COMPARED = 1_000
"""So many names of columns at most are compared with one that there is not."""


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
    """The datasets of all owners, by the IRIs that policies call them by."""

    uploads: Uploads

    @property
    def owned(self) -> OwnedFiles[StoredDataset, DatasetView, UploadedTable]:
        """Whose they are, and how their files come and go."""
        return OwnedFiles(self.uploads, _TABLES)

    def create(self, actor: Actor, name: str, iri: str, owner: str = "") -> DatasetView:
        """Return a new dataset without a file, of the caller or of an owner that they work for.

        Raises RequestError (D001) for what a dataset is not called by; ServiceError: N003 for who
        is not an owner, or not one that the caller works for, N004 for an IRI that is taken, or
        lies in what is another's.
        """
        row = StoredDataset(
            name=name, iri=dataset_name(iri), owner_id=owner or actor.id, columns=[]
        )
        return self.owned.create(actor, row, lambda session: _check_iri(session, row))

    def change_roles(
        self, actor: Actor, dataset_id: str, tag: str, roles: Mapping[str, ColumnRole | None]
    ) -> DatasetView:
        """Return a dataset with other roles of some columns. Raises ServiceError: N005, and N007
        for a column that it does not have."""

        def change(row: StoredDataset) -> None:
            names, earlier = [one["name"] for one in row.columns], _roles(row)
            for name in roles:
                if name not in earlier:
                    message = f"The dataset has no column {name[:100]!r}."
                    near = names if len(names) <= _MOST_COMPARED else ()
                    raise ServiceError.of("N007", message, did_you_mean(name, near))
            chosen = {**earlier, **roles}
            row.columns = [{"name": name, "role": chosen.get(name)} for name in names]

        return self.owned.change(actor, dataset_id, tag, change)

    def check_names(self, actor: Actor, datasets: Mapping[str, str]) -> None:
        """Check that datasets are there for the caller, each by its own IRI.

        Under another IRI, a policy that is not about it would be carried out on it. Raises
        ServiceError: N003 for one that is not there, N004 for one that has another IRI.
        """
        for iri, one in datasets.items():
            own = self.owned.read(actor, one).iri
            if terms.canonical(iri) != own:
                message = f"The dataset {one!r} is {own}. Given: {iri!r}."
                raise ServiceError.of("N004", message, "Give it by its own IRI.")

    def reading(self, dataset_ids: dict[str, str]) -> AbstractContextManager[dict[str, Path]]:
        """Return the files of datasets by IRI, for who was allowed to read them, while they do.

        `dataset_ids` are by IRI, too. Raises ServiceError (N004) for one without a file.
        """

        def names() -> dict[str, str]:
            with self.uploads.database.reading() as session:
                return {iri: self.owned.name(session, one) for iri, one in dataset_ids.items()}

        return self.uploads.files.reading(names)

    def path(self, dataset_id: str) -> Path:
        """Return the file of a dataset. Raises ServiceError (N004) for one without a file."""
        path = self.owned.path(dataset_id)
        if path is None:
            raise ServiceError.of("N004", f"There is no dataset {dataset_id!r}.")
        return path

    @property
    def are_there(self) -> bool:
        """Whether any dataset has a file."""
        rows = select(StoredDataset.id).where(
            StoredDataset.deleted.is_(None), StoredDataset.file.is_not(None)
        )
        with self.uploads.database.reading() as session:
            return session.scalar(rows.limit(1)) is not None

    def mentioned(self, sql: str) -> AbstractContextManager[dict[str, Path]]:
        """Return the files of the datasets that a query may mean, by IRI, while they are read:
        tables are called by the last segment of an IRI, or by the whole of it."""
        return self.uploads.files.reading(partial(self._mentioned, sql))

    def _mentioned(self, sql: str) -> dict[str, str]:
        rows = select(StoredDataset.iri, StoredDataset.file).where(
            StoredDataset.deleted.is_(None), StoredDataset.file.is_not(None)
        )
        words = sql.casefold()
        with self.uploads.database.reading() as session:
            found_files = session.execute(rows).all()
        return {
            iri: file
            for iri, file in found_files
            if file and terms.local_name(iri).casefold() in words
        }


def _check_iri(session: Session, row: StoredDataset) -> None:
    """Raise ServiceError (N004) for an IRI that is taken, or lies in what is another's."""
    check_claim(session, row.owner_id, row.iri)
    same = select(StoredDataset.id).where(
        StoredDataset.iri == row.iri, StoredDataset.deleted.is_(None)
    )
    if session.scalar(same.limit(1)) is not None:
        raise ServiceError.of("N004", f"There is a dataset {row.iri} already.")


def _inspected(part: Path, name: str) -> UploadedTable:
    return inspect_table(part, ending_of(name))


def _ending(table: UploadedTable) -> str:
    return table.format


def _note_table(row: StoredDataset, table: UploadedTable) -> None:
    """Write into a row what its table is; columns that were there before keep their roles."""
    roles = _roles(row)
    row.columns = [{"name": name, "role": roles.get(name)} for name in table.columns]
    row.rows = table.rows


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


_TABLES = FileKind(
    "dataset",
    StoredDataset,
    Verb.READ_DATASETS,
    Verb.WRITE_DATASETS,
    check_name=ending_of,
    inspect=_inspected,
    ending=_ending,
    note=_note_table,
    view=_dataset_view,
)
