"""Contradictions in certificates of statistics: noise that does not follow from what is asked."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.plan.steps import AggregateStep

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate


def statistics_contradictions(certificate: "Certificate", step: AggregateStep) -> Iterator[str]:
    """Yield what no release of statistics has: less noise than its epsilon needs, other rows than
    its public keys, figures of anything but noise."""
    from policy_engine.plan.aggregates.noising import noise_problems  # noqa: PLC0415 (imports numpy)

    yield from noise_problems(step)
    stated = [(one.name, one.asked) for one in step.budget_bounds()]
    if [(one.bound, one.achieved) for one in certificate.measurements] != stated:
        losses = " and ".join(f"{name} {loss:g}" for name, loss in stated)
        yield f"By its noise it has {losses}."
    if step.rows is not None:
        if certificate.rows_out != step.rows:
            yield f"It has {certificate.rows_out:,} rows, and {step.rows:,} are asked for."
        return
    keys = 1
    for one in step.group_by:
        keys *= len(one.keys)
    if keys and not step.key_table and certificate.rows_out != keys:
        yield f"It has {certificate.rows_out:,} rows, and {keys:,} groups are public."
