"""How the columns of datasets look, and what they become, without anybody reading a value."""

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from policy_engine.engines.column_roles import ColumnRole
from policy_engine.methods.columns import QuasiIdentifier
from policy_engine.service.files.inspecting import read_apart
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.datasets import ColumnView, OwnedDatasets

LOOKING = "policy_engine.service.files.looking"
"""The module that looks at the columns of a file, in a process of its own."""


class ColumnProfileView(ColumnView):
    """A column as it looks without its values: `distinct` of them to the power of ten.

    `proposed` is a first guess of its role, for a person to confirm, and `reason` says why.
    """

    kind: str
    distinct: str
    missing: str
    proposed: ColumnRole
    reason: str


class DatasetProfile(BaseModel):
    """The columns of a dataset as they look without their values."""

    columns: list[ColumnProfileView]


class GroupView(BaseModel):
    """The rows that a level writes alike."""

    label: str
    rows: int


class LevelView(BaseModel):
    """What a column becomes at a height, from how it is at 0 to what hides it.

    The largest groups are told with their labels to the owner of the dataset alone: labels are made
    of values, and roles let nobody read data.
    """

    height: int
    group_count: int
    smallest: int
    median: float
    largest: int
    groups: list[GroupView] = []


class GeneralisationPreview(BaseModel):
    """The levels that a column can be generalised to."""

    levels: list[LevelView]


@dataclass(frozen=True)
class DatasetColumns:
    """The columns of datasets, which a process of its own looks at."""

    datasets: OwnedDatasets

    def profile(self, actor: Actor, dataset_id: str) -> DatasetProfile:
        """Return how the columns of a dataset look, read in a process of its own.

        Raises ServiceError (N004) without a file, (N008) for one that takes too much to read.
        """
        with self.datasets.owned.reading(actor, dataset_id, Verb.READ_DATASETS) as (view, path):
            seen = read_apart(LOOKING, str(path), question="{}")["columns"]
        roles = {one.name: one.role for one in view.columns}
        columns = [
            ColumnProfileView(**{**one, "role": roles.get(one["name"]), "proposed": one["role"]})
            for one in seen
        ]
        return DatasetProfile(columns=columns)

    def generalise(
        self, actor: Actor, dataset_id: str, column: QuasiIdentifier, taxonomy: str, name: str
    ) -> GeneralisationPreview:
        """Return what a column becomes at each height of a generalisation. Raises as `profile`,
        and DataError where it does not apply to the column."""
        preview = {"column": column.model_dump(), "taxonomy": taxonomy, "name": name}
        with self.datasets.owned.reading(actor, dataset_id, Verb.WRITE_DATASETS) as (view, path):
            levels = read_apart(LOOKING, str(path), question=json.dumps(preview))["levels"]
        hidden: dict[str, Any] = {} if view.owner == actor.id else {"groups": []}
        return GeneralisationPreview(levels=[LevelView(**{**one, **hidden}) for one in levels])
