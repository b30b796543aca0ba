"""The gate: what attacks on made-up rows must have shown before these are released."""

from collections.abc import Iterable, Iterator, Sequence

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.generative import GenerativeMeasurement, SyntheticInference, turned_round


def synthetic_shortfalls(
    methods: Iterable[SyntheticInference], measured: Sequence[GenerativeMeasurement]
) -> Iterator[str]:
    """Yield, in a sentence each, why the bounds on made-up rows have not been shown to hold.

    Every attack must have been made or not apply, and one at least must have a figure for each
    bound.
    """
    by_key = {one.key: one for one in measured}
    for method in methods:
        for key in method.keys:
            if key not in by_key:
                yield f"Whether {key.bound} holds for the attack {key.attack} was not measured."
        for bound in method.bounds:
            own = [one for key, one in by_key.items() if key.bound == bound]
            if own and all(isinstance(one.reached, NotApplicable) for one in own):
                yield f"Whether {bound} holds is not shown by any attack: none applies."
    for one in measured:
        if not one.holds:
            sentence = f"{one.bound} is required, but the attack {one.attack} reaches "
            yield f"{sentence}{format_synthetic(one)}."


def format_synthetic(one: GenerativeMeasurement) -> str:
    """Return what an attack reached, in words."""
    reached = one.reached
    if isinstance(reached, NotApplicable):
        return f"no figure, since {reached.reason}"
    pooled = "" if one.pooled is None else f", {one.pooled:.4g} with the earlier attempts"
    if one.bound.measure == "setPValue":
        return f"{reached.value:.4g}{pooled}"
    figure = f"{reached.value:.4g} (95% interval {reached.low:.4g} to {reached.high:.4g}"
    if one.bound.measure == "auc" and turned_round(reached) > reached.high:
        figure += f"; up to {turned_round(reached):.4g} turned round"
    return f"{figure}){pooled}"
