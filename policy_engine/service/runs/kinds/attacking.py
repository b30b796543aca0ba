"""Runs that attack models and synthetic rows, which go on from what an earlier attempt kept."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from policy_engine.service.runs.jobs import RunInputs
from policy_engine.service.runs.kinds.settings import (
    DatasetId,
    ModelId,
    Name,
    Names,
    OnModel,
    RunSettings,
    Seconds,
    Seed,
    show,
)

_Few = Annotated[int, Field(ge=1, le=1_000)]


class MembershipAttack(OnModel):
    """What `audit_membership` takes for a model that it trains itself, or that was uploaded."""

    about: ClassVar[str] = "Trains a model, and tells of whom it gives away that they were in it."

    data: DatasetId
    """The records that the model is trained on."""
    label: Name = ""
    """The column that is predicted; without it, the last one."""
    members: Name = ""
    """The column that says which records the model is trained on; without it, a random half."""
    attacks: Names = ()
    """The only attacks that are made, by their names."""
    shadows: _Few = 10
    """How many models the attacker trains to compare with."""
    targets: _Few = 1
    """How many models are attacked; figures are means over them."""
    seed: Seed = 0
    """A number that draws the same again."""
    slices: Names = ()
    """The columns for each of whose values figures are told."""
    local_epsilon: Annotated[float, Field(gt=0)] | None = None
    """Train on records perturbed by randomized response with this epsilon."""
    attack_domain: Literal["original", "perturbed"] = "original"
    """Whether the attacker has the original or the perturbed records."""

    @property
    def dataset_ids(self) -> tuple[str, ...]:
        """The dataset that the model is trained on."""
        return (self.data,)

    def carry_out(self, inputs: RunInputs) -> dict[str, Any]:
        """Return nothing but what is shown: the figures and the page."""
        from policy_engine.api.auditing import audit_membership  # noqa: PLC0415 (slow)
        from policy_engine.audits.membership.settings import Settings  # noqa: PLC0415

        names = ("attacks", "shadows", "targets", "seed", "slices", "local_epsilon")
        settings = {name: getattr(self, name) for name in (*names, "attack_domain")}
        folder = inputs.kept / "audit"
        audit_membership(
            inputs.files[self.data],
            self.label,
            self.recipe(inputs),
            settings=Settings(**settings),
            members=self.members,
            fitted=self.fitted_model(inputs),
            out=folder,
            progress=inputs.progress,
        )
        show(inputs, [folder / "audit.json", folder / "audit.html"])
        return {}


class AttributeAttack(OnModel):
    """What `audit_attribute` takes for a model that it trains itself, or that was uploaded."""

    about: ClassVar[str] = "Trains a model, and tells what can be guessed by it of a secret column."

    data: DatasetId
    """The records that the model is trained on."""
    label: Name
    """The column that is predicted."""
    secret: Name
    """The column that nobody should learn of a person."""
    members: Name = ""
    """The column that says which records the model is trained on; without it, a random half."""
    attacks: Names = ()
    """The only attacks that are made, by their names."""
    bins: Annotated[int, Field(ge=2, le=1_000)] | None = None
    """How many ranges a secret of numbers is divided into."""
    targets: _Few = 1
    """How many models are attacked; figures are means over them."""
    seed: Seed = 0
    """A number that draws the same again."""

    @property
    def dataset_ids(self) -> tuple[str, ...]:
        """The dataset that the model is trained on."""
        return (self.data,)

    def carry_out(self, inputs: RunInputs) -> dict[str, Any]:
        """Return nothing but what is shown: the figures and the page."""
        from policy_engine.api.auditing_secrets import audit_attribute  # noqa: PLC0415 (slow)
        from policy_engine.audits.attribute.secret import BINS  # noqa: PLC0415

        folder = inputs.scratch / "audit"
        audit_attribute(
            inputs.files[self.data],
            self.label,
            self.secret,
            self.recipe(inputs),
            members=self.members,
            fitted=self.fitted_model(inputs),
            attacks=self.attacks,
            targets=self.targets,
            seed=self.seed,
            out=folder,
            progress=inputs.progress,
            bins=BINS if self.bins is None else self.bins,
        )
        show(inputs, sorted(folder.iterdir()))
        return {}


class GeneratorAttack(RunSettings):
    """What `audit_generative` takes: synthetic rows, or a generator of ours that it fits itself."""

    about: ClassVar[str] = "Tells of whom synthetic rows give away that they were made of them."

    members: DatasetId
    """The records that the generator has learnt from."""
    holdout: DatasetId
    """Records of the same population that it has not seen."""
    synthetic: DatasetId | None = None
    """The rows that are to be released; or else name a generator."""
    fitted: ModelId | None = None
    """A model in a file of Keras that was uploaded, which is sampled."""
    reference: DatasetId | None = None
    """Records of neither side, by which scores are calibrated."""
    generator: Name = ""
    """A generator of ours, by its name: it is fitted for the attack."""
    models: Annotated[int, Field(ge=0, le=1_000)] = 0
    """How many generators are fitted; figures are means over them."""
    label: Name = ""
    """The column within whose classes distances are taken."""
    privacy_unit: Name = ""
    """The column that tells persons apart who have several records."""
    secrets: Names = ()
    """The columns that nobody should learn."""
    attacks: Names = ()
    """The only attacks that are made, by their names."""
    samples: Annotated[int, Field(ge=1, le=10**7)] | None = None
    """How many samples are drawn of a generator."""
    seconds: Seconds | None = None
    """How long samples are drawn at most."""
    space: Name = ""
    """The space in which arrays are compared: pca-40, hog, colour-histogram or pixels."""
    allow_shift: bool = False
    """Compare both sides even if they are of two distributions."""
    epsilon: Annotated[float, Field(gt=0)] | None = None
    """The epsilon that is promised; what attacks prove is told beside it."""
    seed: Seed = 0
    """A number that draws the same again."""

    @property
    def dataset_ids(self) -> tuple[str, ...]:
        """The datasets that are compared."""
        others = (one for one in (self.synthetic, self.reference) if one)
        return tuple(dict.fromkeys((self.members, self.holdout, *others)))

    @property
    def fitted_ids(self) -> tuple[str, ...]:
        """The model that is sampled, where one was uploaded."""
        return (self.fitted,) if self.fitted else ()

    def carry_out(self, inputs: RunInputs) -> dict[str, Any]:
        """Return nothing but what is shown: the figures and the page."""
        from policy_engine.api.auditing_generators import audit_generative  # noqa: PLC0415 (slow)

        names = {"generator", "models", "label", "privacy_unit", "secrets", "attacks", "samples"}
        names |= {"seconds", "space", "allow_shift", "epsilon", "seed"}
        folder = inputs.kept / "audit"
        audit_generative(
            inputs.files[self.members],
            inputs.files[self.holdout],
            inputs.files[self.synthetic] if self.synthetic else None,
            model=inputs.files[self.fitted] if self.fitted else None,
            reference=inputs.files[self.reference] if self.reference else None,
            out=folder,
            progress=inputs.progress,
            **{name: getattr(self, name) for name in names},
        )
        show(inputs, [folder / "generative.json", folder / "generative.html"])
        return {}
