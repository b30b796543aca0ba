"""The certificates and attestations of what is read, where that was made itself."""

import hashlib
from collections.abc import Callable, Iterator, Sequence

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import MAKE, UNMADE, Certificate, shortcomings
from policy_engine.errors import CertificateError, join_names
from policy_engine.methods.columns import PERTURBATIVE, QuasiIdentifier
from policy_engine.plan.inputs import Read
from policy_engine.plan.lineage import Generalised, Upstream
from policy_engine.plan.plan import Plan

Word = Certificate | Attestation
"""What vouches for a release."""
Beside = Callable[[str], Certificate | None]
"""Looks for the certificate that lies beside an input, by its location, and speaks of it."""


def upstream_of(
    reads: Sequence[Read], given: Sequence[Word], beside: Beside
) -> tuple[Upstream, ...]:
    """Return the releases that inputs are, none where no certificate or attestation tells of them.

    Each is `given` for its asset; a certificate may lie `beside` an input, too. Raises
    CertificateError where those given are of other assets, or the one beside it is of another
    asset, and where its bounds do not hold (V013) or it does not tell how it was made (V016).
    Whether the input is what it certifies is seen when it is read.
    """
    assets = [one.asset for one in reads]
    if given and not any(asset_of(one) in assets for one in given):
        found = join_names([*map(asset_of, given)])
        message = f"No certificate is of the input {join_names(assets, 'or')}. "
        message += f"Given are those of {found}."
        raise CertificateError.of("V013", message, "", reads[0].location)
    found_of = (_upstream_of(one.asset, one.location, given, beside) for one in reads)
    return tuple(dict.fromkeys(one for found in found_of for one in found))


def _upstream_of(
    asset: str, location: str, given: Sequence[Word], beside: Beside
) -> tuple[Upstream, ...]:
    own = [one for one in given if asset_of(one) == asset]
    lying = beside(location)
    if lying is not None and lying.plan.publish.asset != asset:
        made = lying.plan.publish.asset
        message = f"The input is the release {made!r} by the certificate beside it, not {asset!r}."
        hint = f"Give it as {made}, and name that as the policy's target."
        raise CertificateError.of("V013", message, hint, location)
    own += [lying] if lying is not None and lying not in own else []
    for one in own:
        for problem in shortcomings(one) if isinstance(one, Certificate) else ():
            message = f"The certificate of the input {asset!r} does not hold. {problem.message}"
            raise CertificateError.of("V013", message, "", location)
        if isinstance(one, Certificate) and not one.tells_making:
            raise CertificateError.of("V016", f"The input is {asset!r}. {UNMADE}", MAKE, location)
    return tuple(dict.fromkeys(map(as_upstream, own)))


def asset_of(word: Word) -> str:
    """Return what a certificate or an attestation is of."""
    return word.asset if isinstance(word, Attestation) else word.plan.publish.asset


def as_upstream(word: Word) -> Upstream:
    """Return a release as what is made from it remembers it.

    An attestation names nothing that its output was made from.
    """
    digest = hashlib.sha256(word.to_jsonld().encode()).hexdigest()
    if isinstance(word, Attestation):
        return Upstream(
            asset=word.asset,
            output_digest=word.output_digest,
            certificate_digest=digest,
            policy=word.policy,
            policy_digest=word.policy_digest,
        )
    plan = word.plan
    return Upstream(
        asset=plan.publish.asset,
        output_digest=word.output_digest,
        certificate_digest=digest,
        policy=plan.policy,
        policy_digest=plan.policy_digest,
        generalised=tuple(_generalised(word)),
        upstream=word.upstream,
    )


def _generalised(certificate: Certificate) -> Iterator[Generalised]:
    """Yield the columns of a release whose cells stand for several values.

    Those that it generalised, and those that it kept as the release before it generalised them.
    A range in two columns of its ends is there by three names: each of them is not a value.
    """
    plan = certificate.plan
    asked = plan.anonymize.columns.quasi_identifier if plan.anonymize else ()
    made = {one.name: _how(one) for one in asked if one.generalization not in PERTURBATIVE}
    if plan.mask:
        yield from (Generalised(name=o.name, generalization=o.masking) for o in plan.mask.columns)
    for one in made.values():
        yield one
        if plan.publish.cells == "bounds":
            for end in ("low", "high"):
                yield one.model_copy(update={"name": f"{one.name}_{end}"})
    before = (one for each in certificate.upstream for one in each.generalised)
    yield from (one for one in before if one.name not in made and _is_kept(one.name, plan))


def _is_kept(name: str, plan: Plan) -> bool:
    columns = plan.anonymize.columns if plan.anonymize else None
    return columns is not None and name in (*columns.sensitive_names, *columns.insensitive)


def _how(column: QuasiIdentifier) -> Generalised:
    is_masked = column.generalization == "prefix"
    return Generalised(
        name=column.name,
        generalization=column.generalization or "",
        taxonomy=column.taxonomy,
        unlisted=column.unlisted,
        mask=column.mask if is_masked else "",
    )
