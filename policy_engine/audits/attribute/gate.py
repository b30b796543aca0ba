"""The gate: what attacks on a model's columns must have shown before it is released."""

from collections.abc import Iterator, Sequence

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.model_secrets import SecretMeasurement
from policy_engine.plan.steps import SecretAuditStep


def secret_shortfalls(
    steps: Sequence[SecretAuditStep], measured: Sequence[SecretMeasurement]
) -> Iterator[str]:
    """Yield, in a sentence each, why the bounds on a model's columns have not been shown to hold.

    Every attack must have been made or not apply, and one at least must have a figure for each
    column.
    """
    by_key = {one.key: one for one in measured}
    for step in steps:
        for key in step.method.keys:
            if key not in by_key:
                subject = f"the attack {key.attack} on {key.column!r}, {key.about}"
                yield f"Whether {key.bound} holds for {subject}, was not measured."
        for column in step.method.learned:
            own = [
                one
                for key, one in by_key.items()
                if key.column == column and key.bound == step.method.bound
            ]
            if own and all(isinstance(one.reached, NotApplicable) for one in own):
                yield f"Whether {step.method.bound} holds of {column!r} is not shown by any attack."
    for one in measured:
        if not one.holds:
            subject = f"the attack {one.attack} on {one.column!r}, {one.about}"
            sentence = f"{one.bound} is required, but {subject}, may reach more: "
            yield f"{sentence}{format_secret(one)}."


def format_secret(one: SecretMeasurement) -> str:
    """Return what an attack reached, in words."""
    reached = one.reached
    if isinstance(reached, NotApplicable):
        return f"no figure, since {reached.reason}"
    text = f"{reached.value:.4g} (95% interval {reached.low:.4g} to {reached.high:.4g})"
    if one.pooled is None:
        return text
    return f"{text}, {one.pooled:.4g} with the earlier attempts"
