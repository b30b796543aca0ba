"""What a certificate says of a release together with earlier ones of the same persons."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.certificate.record import Count
from policy_engine.errors import Problem

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.plan.plan import Plan
    from policy_engine.release.composition.figures import Composition


class ComposedReleases(BaseModel):
    """The bound that holds of a release together with earlier ones, and how many those are.

    How far the bound was met is for the owner alone: figures tell whom to look for. That it was met
    takes the classes of the earlier releases to see.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    bound: Literal["intersected", "m-invariant"]
    releases: Count

    @classmethod
    def of(cls, composition: "Composition") -> "ComposedReleases | None":
        """Return what is published of what was found, None where no bound is asked for."""
        if composition.bound not in ("intersected", "m-invariant"):
            return None
        return cls.model_validate(
            {"bound": composition.bound, "releases": len(composition.earlier)}
        )


def asked_bound(plan: "Plan") -> str:
    """Return the bound on several releases together that a plan asks for, or an empty text."""
    composition = plan.anonymize.recoding.composition if plan.anonymize else None
    return composition if composition not in (None, "independent") else ""


def composition_shortfalls(certificate: "Certificate") -> Iterator[Problem]:
    """Yield that a bound on several releases together is asked for, and not shown to hold."""
    bound, stated = asked_bound(certificate.plan), certificate.composition
    if bound and (stated is None or stated.bound != bound):
        message = f"The policy asks for the composition {bound!r}, and no ledger was given that "
        hint = "Make it with policy-engine apply --ledger FILE."
        yield Problem("V014", f"{message}tells the earlier releases.", hint)


def composition_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield that a bound on several releases together is stated, and is not asked for."""
    stated = certificate.composition
    if stated is not None and stated.bound != asked_bound(certificate.plan):
        yield "It states a bound on several releases together that its plan does not ask for."


def with_stated(again: "Certificate", earlier: "Certificate | None") -> "Certificate":
    """Return a certificate of an output with what that of its making says of earlier releases,
    which no output shows."""
    stated = earlier.composition if earlier is not None and earlier.tells_making else None
    if stated is None or stated.bound != asked_bound(again.plan):
        return again
    return again.model_copy(update={"composition": stated})
