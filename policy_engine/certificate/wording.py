"""What a certificate says in words: why it has no loss, and which versions of programs made it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.kernels.estimates import NotApplicable

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.plan.plan import Plan

NOT_GENERALISED = NotApplicable(reason="nothing was generalised")
AS_THEY_ARE = NotApplicable(reason="quasi-identifiers are released as they are")
NOT_RELEASED = NotApplicable(reason="the table that the model learnt from is not released")

PACKAGES = ("policy-engine", "numpy", "numba", "pyarrow")
NETWORK_PACKAGES = ("keras", "tensorflow", "tensorflow-cpu")
"""The packages that train networks; TensorFlow is installed under one of two names."""
PRIVACY_PACKAGES = ("opendp",)
"""The package that draws noise."""
_PROGRAMS = {*PACKAGES, *NETWORK_PACKAGES, *PRIVACY_PACKAGES, "pyspark", "scikit-learn", "python"}
_VERSION = re.compile(
    r"[0-9]{1,4}([.][0-9]{1,5}){0,3}([.-]?(a|b|rc|post|dev)[0-9]{1,8}){0,3}"
    r"[+]?([+][a-z0-9]{1,12}([.][a-z0-9]{1,12}){0,2})?"
)
"""The numbers of versions (PEP 440), as programs have them."""


def without_loss(plan: "Plan") -> NotApplicable:
    """Return why no loss is told of an output whose classes were not measured."""
    is_in_buckets = plan.anonymize is not None and plan.anonymize.is_in_buckets
    return AS_THEY_ARE if is_in_buckets else NOT_GENERALISED


def wording_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield reasons and versions that no certificate has: they would be texts of any kind."""
    plan, utility = certificate.plan, certificate.utility
    reasons = (NOT_RELEASED, NOT_GENERALISED) if plan.train else (without_loss(plan),)
    if isinstance(utility, NotApplicable) and utility not in reasons and certificate.output_digest:
        yield "It gives another reason than there is for not telling how much was lost."
    names, numbers = certificate.versions.keys(), certificate.versions.values()
    if not names <= _PROGRAMS or not all(map(_VERSION.fullmatch, numbers)):
        yield "It names versions of programs that there are not."
