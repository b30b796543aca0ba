"""What the settings of all kinds of runs have in common."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from policy_engine.errors import AuditError
from policy_engine.service.runs.jobs import KeptText, RunInputs

if TYPE_CHECKING:
    from policy_engine.audits.membership.fitted.target import FittedModel
    from policy_engine.policy import Policy
    from policy_engine.policy.owners import Owners

Identifier = Annotated[str, Field(pattern=r"^[0-9a-z]{1,64}$")]
"""What the service calls a policy, a dataset or a run."""
PolicyId = Annotated[Identifier, Field(json_schema_extra={"resource": "policy"})]
DatasetId = Annotated[Identifier, Field(json_schema_extra={"resource": "dataset"})]
ReleaseId = Annotated[Identifier, Field(json_schema_extra={"resource": "release"})]
"""A release, by the run that made it."""
ModelId = Annotated[Identifier, Field(json_schema_extra={"resource": "model"})]
"""A fitted model that was uploaded."""
DescriptionId = Annotated[Identifier, Field(json_schema_extra={"resource": "description"})]
"""The description of a model that was uploaded."""
Name = Annotated[str, Field(max_length=500)]
Names = tuple[Name, ...]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Seconds = Annotated[float, Field(gt=0, le=7 * 24 * 3600)]
Share = Annotated[float, Field(ge=0, le=1)]
Model = dict[str, JsonValue] | None
"""The description of a model that is trained; None for the default one."""

RELEASES, RESULTS = "releases", "results"
"""The folders of what runs leave: of releases, and of all else."""


class RunSettings(BaseModel):
    """What a run is asked for. Each kind has settings of its own, and says what it needs.

    `about` says what it does, to who starts one; `home` is the folder that its result is moved
    into; what `spends` is charged to the ledger of budgets.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )

    about: ClassVar[str] = ""
    home: ClassVar[str] = RESULTS
    spends: ClassVar[bool] = False

    @property
    def dataset_ids(self) -> tuple[str, ...]:
        """The datasets whose files the run reads."""
        return ()

    @property
    def is_distributed(self) -> bool:
        """Whether Spark carries it out, where the service has one."""
        return False

    @property
    def release_ids(self) -> tuple[str, ...]:
        """The runs whose releases the run reads."""
        return ()

    @property
    def description_ids(self) -> tuple[str, ...]:
        """The descriptions of models that were uploaded, and are trained."""
        return ()

    @property
    def fitted_ids(self) -> tuple[str, ...]:
        """The fitted models that were uploaded, and are attacked or compared with."""
        return ()

    @property
    def model_ids(self) -> tuple[str, ...]:
        """All models whose files the run reads."""
        return tuple(dict.fromkeys((*self.description_ids, *self.fitted_ids)))

    def with_model(self, model_id: str, manner: Mapping[str, Any]) -> Self:
        """Return the settings with what a fitted model says of how it is asked."""
        del model_id, manner
        return self

    @property
    def policy_id(self) -> str | None:
        """The policy that it is about, if any."""
        return None

    @property
    def policy_version(self) -> int | None:
        """The version of that policy; None for the one in force."""
        return None

    def with_version(self, number: int) -> Self:
        """Return the settings with the version of the policy that they are about."""
        return self.model_copy(update={"version": number})

    def carry_out(self, inputs: RunInputs) -> dict[str, Any]:
        """Return a summary of what was made and lies in `inputs.out`, without values of the data.

        Raises a PolicyEngineError where it cannot be made.
        """
        raise NotImplementedError


class OnPolicy(RunSettings):
    """The settings of what is made of datasets as a policy says; datasets are given by IRI."""

    policy: PolicyId
    """A policy in force."""
    version: Annotated[int, Field(ge=1)] | None = None
    """The version of the policy, if not the one in force."""
    datasets: Annotated[dict[Name, DatasetId], Field(min_length=1, max_length=100)]
    """The data that the policy is about."""
    asset: Name = ""
    """The IRI of the output that is meant, where the policy asks for several."""

    @property
    def dataset_ids(self) -> tuple[str, ...]:
        """The datasets whose files the run reads."""
        return tuple(dict.fromkeys(self.datasets.values()))

    @property
    def policy_id(self) -> str | None:
        """The policy that it is about."""
        return self.policy

    @property
    def policy_version(self) -> int | None:
        """The version of that policy; None for the one in force."""
        return self.version

    def data(self, inputs: RunInputs) -> Mapping[str, Path]:
        """Return the files by the IRIs that the policy calls them by."""
        return {iri: inputs.files[one] for iri, one in self.datasets.items()}


def kept_policy(kept: KeptText | None) -> "Policy":
    """Return a policy, issued by whom it is known to be."""
    from policy_engine.policy import PolicyText, Reading  # noqa: PLC0415 (slow: few runs need it)
    from policy_engine.policy.owners import issue  # noqa: PLC0415 (as above)

    assert kept is not None  # noqa: S101 (the job has what its settings name)
    policy = Reading().policy(PolicyText(kept.text.encode(), kept.name))
    return issue(policy, kept.issuer)


def known_owners(inputs: RunInputs) -> "Owners":
    """Return who owns which dataset."""
    from policy_engine.policy.owners import Owners  # noqa: PLC0415 (as above)

    return Owners.of(inputs.owners)


def described_model(model: Model, inputs: RunInputs) -> Path | None:
    """Return the file of a model's description: what is described is never a path or code."""
    if model is None:
        return None
    path = inputs.scratch / "model.json"
    path.write_text(json.dumps(model), "utf-8")
    return path


def show(inputs: RunInputs, files: Iterable[Path]) -> None:
    """Copy files to what those see who may read runs."""
    inputs.shown.mkdir(exist_ok=True)
    for path in files:
        if path.is_file() and not path.is_symlink():
            shutil.copyfile(path, inputs.shown / path.name)


class OnModel(RunSettings):
    """The settings of audits of a model: one that is trained, or one that was uploaded fitted.

    Where nothing is said of how a fitted model is asked, its own settings say it.
    """

    model: Model = None
    """The description of the model; without it, a usual one."""
    description: DescriptionId | None = None
    """A description that was uploaded, in place of one that is written here."""
    fitted: ModelId | None = None
    """A fitted model that was uploaded, and is attacked as it is."""
    references: Annotated[tuple[ModelId, ...], Field(max_length=100)] = ()
    """Fitted models of its kind that saw none of the records."""
    features: Names = ()
    """The columns that the fitted model takes; without them, what its settings say."""
    classes: Names = ()
    """The classes in the order of the fitted model's answers."""
    outputs: Literal["", "probabilities", "logits"] = ""
    """What the fitted model's answers are, where that is not clear from them."""
    retrain: bool = False
    """Whether shadow models are trained with the fitted model's own settings."""
    views: Annotated[int, Field(ge=1, le=21)] = 1
    """In how many variants the fitted model is asked about each record."""

    @property
    def description_ids(self) -> tuple[str, ...]:
        """The description of the model that is trained, where it was uploaded."""
        return (self.description,) if self.description else ()

    @property
    def fitted_ids(self) -> tuple[str, ...]:
        """The model that is attacked, and those that it is compared with."""
        return tuple(filter(None, (self.fitted, *self.references)))

    def with_model(self, model_id: str, manner: Mapping[str, Any]) -> Self:
        """Return the settings with what the attacked model says of how it is asked."""
        if model_id != self.fitted:
            return self
        own = {name: value for name, value in manner.items() if not getattr(self, name)}
        return self.model_copy(update=own)

    def recipe(self, inputs: RunInputs) -> Path | None:
        """Return the file of the description of what is trained; None for the default one."""
        if self.description is not None:
            return inputs.files[self.description]
        return described_model(self.model, inputs)

    def fitted_model(self, inputs: RunInputs) -> "FittedModel | None":
        """Return the fitted model that is attacked, which runs no code; None where one is trained.

        Raises AuditError (A014) for a setting of fitted models where none is given.
        """
        if self.fitted is None:
            options = (self.references, self.features, self.classes, self.outputs, self.retrain)
            if any(options) or self.views > 1:
                message = "References, features, classes, views and retraining are of fitted models"
                raise AuditError.of("A014", f"{message}, and none is given: fitted.")
            return None
        from policy_engine.audits.membership.fitted.target import FittedModel  # noqa: PLC0415

        return FittedModel(
            inputs.files[self.fitted],
            features=self.features,
            classes=self.classes,
            outputs=self.outputs,
            retrain=self.retrain,
            references=tuple(inputs.files[one] for one in self.references),
            views=self.views,
        )
