"""Models that are audited, and descriptions of those that audits train: uploaded, and no code."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.errors import ServiceError
from policy_engine.service.files.inspecting_models import ENDINGS, inspect_model
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.owned_files import FileKind, OwnedFiles
from policy_engine.service.resources.uploads import Uploads
from policy_engine.service.store.models import StoredModel

if TYPE_CHECKING:
    from policy_engine.audits.membership.fitted.code_free import ModelKind

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
    """The models of all owners."""

    uploads: Uploads

    @property
    def owned(self) -> "OwnedFiles[StoredModel, ModelView, ModelKind]":
        """Whose they are, and how their files come and go."""
        return OwnedFiles(self.uploads, _MODELS)

    def create(
        self, actor: Actor, name: str, settings: ModelSettings, owner: str = ""
    ) -> ModelView:
        """Return a new model without a file, of the caller or of an owner that they work for.

        Raises ServiceError (N003) for who is not an owner, or not one that the caller works for.
        """
        fields = settings.model_dump(mode="json")
        row = StoredModel(name=name, owner_id=owner or actor.id, settings=fields)
        return self.owned.create(actor, row, lambda _: None)

    def change(self, actor: Actor, model_id: str, tag: str, settings: ModelSettings) -> ModelView:
        """Return a model with other settings. Raises ServiceError (N003, N005)."""

        def change(row: StoredModel) -> None:
            row.settings = settings.model_dump(mode="json")

        return self.owned.change(actor, model_id, tag, change)

    def check(self, actor: Actor, model_id: str, *, is_description: bool) -> ModelView:
        """Return a model that is there for the caller, with a file: a description, or fitted.

        Raises ServiceError (N003; N004 for one without a file, or of the other kind).
        """
        view, _ = self.owned.file(actor, model_id, Verb.READ_MODELS)
        if (view.kind == DESCRIPTION) is not is_description:
            wanted = "a description is wanted" if is_description else "a fitted model is wanted"
            message = f"The model {model_id!r} is of the kind {view.kind!r}, and {wanted}."
            raise ServiceError.of("N004", message)
        return view


def _inspected(part: Path, _: str) -> "ModelKind":
    """Return which kind of model a file is, whatever it is called."""
    return inspect_model(part)


def _note_kind(row: StoredModel, kind: "ModelKind") -> None:
    row.kind = kind


def _ending(kind: "ModelKind") -> str:
    return ENDINGS[kind]


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


_MODELS = FileKind(
    "model",
    StoredModel,
    Verb.READ_MODELS,
    Verb.WRITE_MODELS,
    check_name=str,
    inspect=_inspected,
    ending=_ending,
    note=_note_kind,
    view=_model_view,
)
