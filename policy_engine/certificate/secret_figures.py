"""Figures of attacks on a model's columns that no attack has: none, several, or too sure ones."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.kernels.estimates import Estimate, NotApplicable, clopper_pearson
from policy_engine.methods.model_secrets import SecretMeasurement

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate

_ROUNDING = 1e-9
_BY_LABELS = ("confidence",)
"""The attacks that do not apply to every model: others need its labels alone."""


def secret_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield figures of attacks on columns that are not planned, or that no attack has."""
    planned = [key for step in certificate.plan.secret_audits for key in step.method.keys]
    keys = [one.key for one in certificate.secret_attacks]
    if not {*keys} <= {*planned}:
        yield "It has figures of attacks on columns that its plan does not make."
    if any(keys.count(key) > planned.count(key) for key in {*keys} & {*planned}):
        yield "It has several figures for one bound on an attack on a column."
    is_pooled = certificate.attempts > 1
    for one in certificate.secret_attacks:
        if (one.pooled is not None) != (is_pooled and isinstance(one.reached, Estimate)):
            yield f"Its figures do not match its number of attempts: {one.name}."
        yield from _impossible(one, certificate.rows_out)


def _impossible(one: SecretMeasurement, rows: int) -> Iterator[str]:
    reached, most = one.reached, 1.0 if one.about == "all values" else 2.0
    if isinstance(reached, NotApplicable):
        if one.attack not in _BY_LABELS:
            yield f"It says that {one.name} does not apply, and it always does."
        return
    if reached.low < -most or reached.high > most:
        yield f"No advantage is beyond {most:g}: that of {one.name}."
    if one.pooled is not None and one.pooled < min(reached.high, 1.0):
        yield f"The end with earlier attempts is within the interval: {one.name}."
    # A refusal has no rows; else no interval is narrower than that of members who are all alike.
    if rows and reached.high - reached.low < clopper_pearson(0, rows).high - _ROUNDING:
        interval = f"from {reached.low:g} to {reached.high:g}"
        yield f"{rows:,} members give no interval of {one.name} {interval}."
