"""The gate: what attacks on a model must have shown before it is released."""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel, ConfigDict, field_validator

from policy_engine.errors import join_names
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.membership_inference import (
    GATE_ATTACKS,
    AttackMeasurement,
    MembershipInference,
)


def shortfalls(
    methods: Iterable[MembershipInference], attacks: Sequence[AttackMeasurement]
) -> Iterator[str]:
    """Yield, in a sentence each, why the bounds of audits have not been shown to hold.

    A bound must be measured with every attack that is run, and none may break it. The attacks of
    the gate must be evidence for it, and so must one of the requested attacks: an attack that
    hardly ranks any records finds nobody, whatever the model reveals.
    """
    measured = {(one.attack, one.bound) for one in attacks}
    for method in methods:
        required = {(name, bound) for name in method.attacks_run for bound in method.bounds}
        for name, bound in sorted(required - measured, key=str):
            yield f"Whether {bound} holds for the attack {name} was not measured."
        for bound in method.bounds:
            evidence = [
                one for one in attacks if one.attack in method.attacks and one.bound == bound
            ]
            if evidence and all(one.unfit for one in evidence):
                message = f"Whether {bound} holds is not shown by any of the requested attacks: "
                yield f"{message}{_format_reasons(evidence)}."
    for one in attacks:
        if one.unfit and one.attack in GATE_ATTACKS:
            message = f"Whether {one.bound} holds is not shown by the attack {one.attack}: "
            yield f"{message}{one.unfit}."
        elif not one.holds:
            message = f"{one.bound} is required, but the attack {one.attack} "
            # The figure may satisfy the bound while the end of its interval does not.
            verb = "may reach more:" if one.is_interval_above else "reaches"
            yield f"{message}{verb} {format_measurement(one)}."


def _format_reasons(attacks: Sequence[AttackMeasurement]) -> str:
    """Return why attacks are not evidence, each reason with its attacks."""
    reasons = dict.fromkeys(one.unfit for one in attacks)
    return "; ".join(
        f"of {join_names(dict.fromkeys(one.attack for one in attacks if one.unfit == reason))}, "
        f"{reason}"
        for reason in reasons
    )


def format_measurement(measurement: AttackMeasurement) -> str:
    """Return what an attack reached, in words."""
    reached = measurement.reached
    if isinstance(reached, NotApplicable):
        text = f"no figure, since {reached.reason}"
    else:
        text = f"{reached.value:.4g} (95% interval {reached.low:.4g} to {reached.high:.4g})"
    pooled = (
        ""
        if measurement.pooled is None
        else f", {measurement.pooled:.4g} with the earlier attempts"
    )
    return f"{text}{pooled}"


def measurement_state(one: AttackMeasurement) -> str:
    """Return whether a bound "holds", is "broken", or there is "no evidence"."""
    if not one.holds:
        return "broken"
    return "no evidence" if one.unfit else "holds"


class ModelFigures(BaseModel):
    """The figures of an attacked model that are published: how often it is right, and the baseline.

    `on_members` is its accuracy on the records that it was trained on, `on_others` on as many
    others; `baseline` is that of calling a record a member if the model classifies it correctly.
    All have 95% intervals and are rounded to percents, the intervals outwards: exact figures would
    tell someone who knows all members but one whether the last record is a member.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    on_members: Estimate
    on_others: Estimate
    baseline: Estimate

    @field_validator("*")
    @classmethod
    def _is_share(cls, figure: Estimate) -> Estimate:
        if not 0 <= figure.low <= figure.value <= figure.high <= 1:
            raise ValueError("the interval of a share must hold the share, and be from 0 to 1")
        return figure


def is_figure(one: AttackMeasurement) -> bool:
    """Tell whether a measurement is a figure that counts among those of several attempts."""
    return isinstance(one.reached, Estimate) and not one.unfit
