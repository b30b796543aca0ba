"""A release beside what it was made of: how columns looked before and after, without a value."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from policy_engine.service.files.inspecting import read_apart
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise, nothing_there
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.dataset_columns import LOOKING
from policy_engine.service.resources.datasets import OwnedDatasets
from policy_engine.service.resources.releases import Releases
from policy_engine.service.runs.kinds.sanitising import Sanitising
from policy_engine.service.store.database import Database
from policy_engine.service.store.runs import StoredRun


class ColumnLook(BaseModel):
    """How a column looks: `distinct` values to the power of ten, and how often there is none."""

    model_config = ConfigDict(frozen=True)

    kind: str
    distinct: str
    missing: str


class ColumnContrast(BaseModel):
    """A column before and after; None where there is none of its name."""

    name: str
    before: ColumnLook | None
    after: ColumnLook | None


class ReleaseContrast(BaseModel):
    """The columns of a release and of the datasets that it was made of; `inputs` are their IRIs."""

    output: str
    inputs: list[str]
    columns: list[ColumnContrast]


@dataclass(frozen=True)
class ReleaseContrasts:
    """Compares releases with their datasets, for who may read about all of these."""

    database: Database
    datasets: OwnedDatasets
    releases: Releases

    def of(self, actor: Actor, release_id: str) -> ReleaseContrast:
        """Return how the columns of a release looked before and look after.

        Files are read in processes of their own. Raises ServiceError: N003 where the release is not
        there, or one of its datasets not for the caller, N004 where a dataset has no file any more;
        DataError where the release is not a table.
        """
        authorise(actor, Verb.READ_DATASETS)
        view, path = self.releases.file(actor, release_id)
        sources = [
            self.datasets.owned.file(actor, one, Verb.READ_DATASETS)
            for one in self._inputs(view.run)
        ]
        before: dict[str, ColumnLook] = {}
        for _, file in sources:
            before |= {name: look for name, look in _looks(file).items() if name not in before}
        after = _looks(path)
        columns = [
            ColumnContrast(name=name, before=before.get(name), after=after.get(name))
            for name in dict.fromkeys((*before, *after))
        ]
        inputs = [source.iri for source, _ in sources]
        return ReleaseContrast(output=view.output, inputs=inputs, columns=columns)

    def _inputs(self, run_id: str) -> tuple[str, ...]:
        with self.database.reading() as session:
            run = session.get(StoredRun, run_id)
        if run is None:
            raise nothing_there()
        return Sanitising.model_validate(run.settings).dataset_ids


def _looks(path: Path) -> dict[str, ColumnLook]:
    columns: list[dict[str, Any]] = read_apart(LOOKING, str(path), question="{}")["columns"]
    return {one["name"]: ColumnLook(**{name: one[name] for name in _PARTS}) for one in columns}


_PARTS = ("kind", "distinct", "missing")
