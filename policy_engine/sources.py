"""The certificates of what is read, where that is itself a release."""

import hashlib
from collections.abc import Callable, Sequence

from policy_engine.certificate import Certificate, shortcomings
from policy_engine.errors import CertificateError, listed
from policy_engine.lineage import Upstream

Beside = Callable[[], Certificate | None]
"""Looks for the certificate that lies beside an input and speaks of it."""


def upstream_of(
    asset: str, location: str, given: Sequence[Certificate], beside: Beside
) -> tuple[Upstream, ...]:
    """Return the release that an input is, none where no certificate tells of it.

    A certificate is `given` for the asset, or lies `beside` the input. Raises CertificateError
    where those given are of other assets, or the one beside it is of another asset, and where
    its bounds do not hold (V013). Whether the input is what it certifies is seen when it is read.
    """
    own = [one for one in given if one.plan.publish.asset == asset]
    if given and not own:
        found = listed([one.plan.publish.asset for one in given])
        message = f"No certificate is of the input {asset!r}. Given are those of {found}."
        raise CertificateError.of("V013", message, "", location)
    lying = beside()
    if lying is not None and lying.plan.publish.asset != asset:
        made = lying.plan.publish.asset
        message = f"The input is the release {made!r} by the certificate beside it, not {asset!r}."
        hint = f"Give it as {made}, and name that as the policy's target."
        raise CertificateError.of("V013", message, hint, location)
    own += [lying] if lying is not None and lying not in own else []
    for one in own:
        for problem in shortcomings(one):
            message = f"The certificate of the input {asset!r} does not hold. {problem.message}"
            raise CertificateError.of("V013", message, "", location)
    return tuple(dict.fromkeys(map(as_upstream, own)))


def as_upstream(certificate: Certificate) -> Upstream:
    """Return a release as what is made from it remembers it."""
    plan = certificate.plan
    return Upstream(
        asset=plan.publish.asset,
        output_digest=certificate.output_digest,
        certificate_digest=hashlib.sha256(certificate.to_jsonld().encode()).hexdigest(),
        policy=plan.policy,
        policy_digest=plan.policy_digest,
        upstream=certificate.upstream,
    )
