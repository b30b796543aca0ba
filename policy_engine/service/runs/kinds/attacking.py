"""Runs that attack models and synthetic rows, which go on from what an earlier attempt kept."""

from typing import Annotated, Any, Literal

from pydantic import Field

from policy_engine.service.runs.jobs import RunInputs
from policy_engine.service.runs.kinds.settings import (
    Identifier,
    Model,
    Name,
    Names,
    RunSettings,
    Seconds,
    Seed,
    described_model,
    show,
)

_Few = Annotated[int, Field(ge=1, le=1_000)]


class MembershipAttack(RunSettings):
    """What `audit_membership` takes for a model that it trains itself."""

    data: Identifier
    label: Name = ""
    model: Model = None
    members: Name = ""
    attacks: Names = ()
    shadows: _Few = 10
    targets: _Few = 1
    seed: Seed = 0
    slices: Names = ()
    local_epsilon: Annotated[float, Field(gt=0)] | None = None
    attack_domain: Literal["original", "perturbed"] = "original"

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
            described_model(self.model, inputs),
            settings=Settings(**settings),
            members=self.members,
            out=folder,
            progress=inputs.progress,
        )
        show(inputs, [folder / "audit.json", folder / "audit.html"])
        return {}


class AttributeAttack(RunSettings):
    """What `audit_attribute` takes for a model that it trains itself."""

    data: Identifier
    label: Name
    secret: Name
    model: Model = None
    members: Name = ""
    attacks: Names = ()
    bins: Annotated[int, Field(ge=2, le=1_000)] | None = None
    targets: _Few = 1
    seed: Seed = 0

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
            described_model(self.model, inputs),
            members=self.members,
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

    members: Identifier
    holdout: Identifier
    synthetic: Identifier | None = None
    reference: Identifier | None = None
    generator: Name = ""
    models: Annotated[int, Field(ge=0, le=1_000)] = 0
    label: Name = ""
    privacy_unit: Name = ""
    secrets: Names = ()
    attacks: Names = ()
    samples: Annotated[int, Field(ge=1, le=10**7)] | None = None
    seconds: Seconds | None = None
    space: Name = ""
    allow_shift: bool = False
    epsilon: Annotated[float, Field(gt=0)] | None = None
    seed: Seed = 0

    @property
    def dataset_ids(self) -> tuple[str, ...]:
        """The datasets that are compared."""
        others = (one for one in (self.synthetic, self.reference) if one)
        return tuple(dict.fromkeys((self.members, self.holdout, *others)))

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
            reference=inputs.files[self.reference] if self.reference else None,
            out=folder,
            progress=inputs.progress,
            **{name: getattr(self, name) for name in names},
        )
        show(inputs, [folder / "generative.json", folder / "generative.html"])
        return {}
