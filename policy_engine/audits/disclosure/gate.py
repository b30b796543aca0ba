"""The gate: what attacks on a table, and its risk, must have shown before it is released."""

from collections.abc import Iterator, Sequence

from policy_engine.errors import join_names
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.audits.record_linkage import RecordLinkage
from policy_engine.methods.disclosure import (
    DisclosureMeasurement,
    InferenceKey,
    InferenceMeasurement,
    Measured,
    RiskMeasurement,
)
from policy_engine.plan.steps import DisclosureStep


def disclosure_shortfalls(
    steps: Sequence[DisclosureStep], measured: Sequence[Measured]
) -> Iterator[str]:
    """Yield, in a sentence each, why the bounds on a table have not been shown to hold.

    Every attack of a step must have been made or not apply, and one at least must apply. Every risk
    that is bounded must have been measured.
    """
    # Several steps may ask for the same by other columns: each has a measurement of its own.
    left: dict[object, list[Measured]] = {}
    for one in measured:
        left.setdefault(one.key, []).append(one)
    for step in steps:
        if isinstance(step.method, RecordLinkage):
            yield from _unmeasured_attacks(step.method, left)
        else:
            yield from _unmeasured(step.method, left)
    yield from (_shortfall(one) for one in measured if not one.holds)


def _unmeasured_attacks(method: RecordLinkage, left: dict[object, list[Measured]]) -> Iterator[str]:
    own = []
    for name in method.attacks:
        measurements = left.get((name, method.bound))
        if measurements:
            own.append(measurements.pop(0))
        else:
            yield f"Whether {method.bound} holds for the attack {name} was not measured."
    if own and all(isinstance(one.reached, NotApplicable) for one in own):
        yield f"Whether {method.bound} holds is not shown by any attack: none applies."


def _unmeasured(
    method: PopulationRisk | AttributeInference, left: dict[object, list[Measured]]
) -> Iterator[str]:
    for key in method.keys:
        measurements = left.get(key)
        if measurements:
            measurements.pop(0)
        else:
            of = f" of {key.column!r}" if isinstance(key, InferenceKey) else ""
            yield f"Whether {key.bound}{of} holds was not measured."


def _shortfall(one: Measured) -> str:
    """Return by how much a bound on a table is broken."""
    if isinstance(one, InferenceMeasurement):
        return _inference_shortfall(one)
    return _risk_shortfall(one) if isinstance(one, RiskMeasurement) else _attack_shortfall(one)


def _inference_shortfall(one: InferenceMeasurement) -> str:
    sentence = f"{one.bound} of {one.column!r} is required, but {one.name} "
    if isinstance(one.reached, NotApplicable):
        return f"{sentence}has no figure: {one.reached.reason}."
    above = one.most_learned - one.bound.asked
    sentence += f"may learn {one.most_learned:.4g} of what the commonest value does not tell: it "
    return f"{sentence}guesses {format_disclosure(one)}. That is {above:.4g} above the bound."


def _risk_shortfall(one: RiskMeasurement) -> str:
    sentence = f"{one.bound} is required, but {one.name} "
    if isinstance(one.reached, NotApplicable):
        return f"{sentence}has no figure: {one.reached.reason}."
    above = one.reached.value - one.bound.asked
    return f"{sentence}is {format_disclosure(one)}. That is {above:.4g} above the bound."


def _attack_shortfall(one: DisclosureMeasurement) -> str:
    """Return by how much an attack reaches more than a bound allows."""
    reached, bound = one.reached, one.bound
    assert isinstance(reached, Estimate)  # noqa: S101 (it breaks its bound)
    verb = "may link more:" if bound.allows(reached.value) else "links"
    sentence = f"{bound} is required, but the attack {one.attack} {verb} {format_disclosure(one)}. "
    sentence += f"The end of its interval is {reached.high - bound.asked:.4g} above the bound."
    if bound.asked < one.baseline:
        return f"{sentence} Guessing alone links {one.baseline:.4g} of {one.records:,} records."
    if one.records < bound.fewest_records:
        return (
            f"{sentence} {one.records:,} records show no such bound; {bound.fewest_records:,} may."
        )
    return sentence


def format_disclosure(one: Measured) -> str:
    """Return what was measured, by which columns, in words."""
    reached = one.reached
    if isinstance(reached, NotApplicable):
        return f"no figure, since {reached.reason}"
    by = join_names(one.known)
    if not isinstance(reached, Estimate):
        population = one.population if isinstance(one, RiskMeasurement) else ""
        return f"{reached.value:.4g} by {by}" + (f" in {population}" if population else "")
    interval = f"95% interval {reached.low:.4g} to {reached.high:.4g}"
    if isinstance(one, InferenceMeasurement):
        guessed = f"{reached.value:.4g} ({interval}) of {one.column!r} by {by}"
        return f"{guessed}, and the commonest value {one.baseline:.4g}"
    return f"{reached.value:.4g} ({interval}) by {by}"
