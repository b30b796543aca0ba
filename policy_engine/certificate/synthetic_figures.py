"""Figures of attacks on made-up rows that no attack has: none, several, or too sure ones."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.generative import MOST_ATTACKED, GenerativeMeasurement

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate


def synthetic_attack_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield figures of attacks on made-up rows that are not planned, or that no attack has.

    The gate has rows of every side in one table, and every attack that a policy may name applies to
    them.
    """
    planned = [key for step in certificate.plan.synthetic_audits for key in step.method.keys]
    keys = [one.key for one in certificate.synthetic_attacks]
    if not {*keys} <= {*planned}:
        yield "It has figures of attacks on made-up rows that its plan does not make."
    if any(keys.count(key) > planned.count(key) for key in {*keys} & {*planned}):
        yield "It has several figures for one bound on an attack on made-up rows."
    for one in certificate.synthetic_attacks:
        yield from _impossible(one)


def _impossible(one: GenerativeMeasurement) -> Iterator[str]:
    reached, measure = one.reached, one.bound.measure
    if isinstance(reached, NotApplicable):
        yield f"It says that {one.attack} does not apply to made-up rows, and it always does."
        return
    if measure != "excessCopies" and reached.low < 0:
        yield f"No figure is below 0: {measure} of {one.attack}."
    elif measure == "setPValue":
        # Its ends are rounded outwards.
        if reached.high - reached.low > 1.5 * 10.0**-one.bound.decimals:
            yield f"A p-value has no interval: that of {one.attack}."
    elif not _can_be_interval(reached, one):
        interval = f"from {reached.low:g} to {reached.high:g}"
        yield (
            f"{MOST_ATTACKED:,} rows give no interval of {one.bound.measure} of {one.attack} "
            f"{interval} around {reached.value:g}."
        )


def _can_be_interval(reached: Estimate, one: GenerativeMeasurement) -> bool:
    """Tell whether an interval is as wide as that of the most rows that are attacked."""
    from policy_engine.audits.membership.intervals import area  # noqa: PLC0415 (slow to import)

    change = 10.0**-one.bound.decimals
    least, most = reached.value - change, reached.value + change
    if one.bound.measure == "auc":
        low = area(min(most, 1.0), MOST_ATTACKED, MOST_ATTACKED).low
        return reached.low <= low and area(max(least, 0.0), *_MOST).high <= reached.high
    if one.bound.measure == "tprAtFpr":
        # A rate may be raised to its low end, which then is none of so many rows.
        is_raised = reached.low >= least
        is_low = is_raised or reached.low <= _share_ends(most)[0]
        is_high = is_raised or reached.high >= _share_ends(least)[1]
        return is_low and is_high and reached.low < reached.high >= (one.bound.fpr or 0)
    # Of two shares with a difference, none or all of one side have copies where they are surest.
    low, high = (
        _share_ends(most)[0] if most > 0 else -_share_ends(-most)[1],
        _share_ends(least)[1] if least > 0 else -_share_ends(-least)[0],
    )
    return reached.low <= low and high <= reached.high


_MOST = (MOST_ATTACKED, MOST_ATTACKED)


def _share_ends(share: float) -> tuple[float, float]:
    from policy_engine.audits.membership.intervals import share_ends  # noqa: PLC0415

    return share_ends(min(max(share, 0.0), 1.0), MOST_ATTACKED)
