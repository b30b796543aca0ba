"""What is asked for: a way to train a model, a model to release, an audit."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.methods.audits.classifier import Architecture, Estimator, Network
from policy_engine.methods.audits.membership_inference import MembershipInference
from policy_engine.plan.training.files import FileBounds

DEFAULT_SHARE = 0.25
"""The greatest share to train on: an audit needs three times as many records for its shadows."""


class Modelling(BaseModel):
    """How a model is trained: on which share of the records, from which columns, for which one.

    `asset` is the table that it learns from. Without features, those are all the columns that
    are released but the label and what names persons.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    asset: str
    label: str
    features: tuple[str, ...] = ()
    architecture: Architecture = Field(default_factory=Network)
    share: Annotated[float, Field(gt=0, le=DEFAULT_SHARE)] = DEFAULT_SHARE

    @property
    def generators(self) -> int | None:
        """How many samples of the records must lead to the model, None where that is not asked."""
        return self.architecture.generators if isinstance(self.architecture, Estimator) else None

    def __hash__(self) -> int:
        """Return the hash of the JSON, for the parameters of an estimator have none."""
        return hash(self.model_dump_json())


class Training(Modelling):
    """A model that is trained to be released, under the name `output`."""

    output: str


class Audit(BaseModel):
    """An audit that a duty asks for, of the model under a name or of one trained on a table.

    `files` bounds what the files of a model give away that is released.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    duty: str
    asset: str
    method: MembershipInference
    modelling: Modelling
    files: FileBounds = Field(default_factory=FileBounds)
