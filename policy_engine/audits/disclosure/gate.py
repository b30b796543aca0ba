"""The gate: what attacks on a table must have shown before it is released."""

from collections.abc import Iterator, Sequence

from policy_engine.errors import join_names
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.disclosure import DisclosureMeasurement
from policy_engine.plan.steps import DisclosureStep


def disclosure_shortfalls(
    steps: Sequence[DisclosureStep], measured: Sequence[DisclosureMeasurement]
) -> Iterator[str]:
    """Yield, in a sentence each, why the bounds on attacks have not been shown to hold.

    Every attack of a step must have been made or not apply, and one at least must apply.
    """
    for step in steps:
        bound, attacks = step.method.bound, step.method.attacks
        own = [one for one in measured if one.bound == bound and one.attack in attacks]
        for name in attacks:
            if all(one.attack != name for one in own):
                yield f"Whether {bound} holds for the attack {name} was not measured."
        if own and all(isinstance(one.reached, NotApplicable) for one in own):
            yield f"Whether {bound} holds is not shown by any attack: none applies."
    yield from (_shortfall(one) for one in measured if not one.holds)


def _shortfall(one: DisclosureMeasurement) -> str:
    """Return by how much an attack reaches more than a bound allows."""
    reached, bound = one.reached, one.bound
    assert isinstance(reached, Estimate)  # noqa: S101 (it breaks its bound)
    verb = "may link more:" if bound.allows(reached.value) else "links"
    told = f"{bound} is required, but the attack {one.attack} {verb} {format_disclosure(one)}. "
    told += f"The end of its interval is {reached.high - bound.asked:.4g} above the bound."
    if bound.asked < one.baseline:
        return f"{told} Guessing alone links {one.baseline:.4g} of {one.records:,} records."
    if one.records < bound.fewest_records:
        return f"{told} {one.records:,} records show no such bound; {bound.fewest_records:,} may."
    return told


def format_disclosure(one: DisclosureMeasurement) -> str:
    """Return what an attack reached, by which columns, in words."""
    reached = one.reached
    if isinstance(reached, NotApplicable):
        return f"no figure, since {reached.reason}"
    interval = f"95% interval {reached.low:.4g} to {reached.high:.4g}"
    return f"{reached.value:.4g} ({interval}) by {join_names(one.known)}"
