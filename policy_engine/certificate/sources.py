"""The certificates and attestations of what is read, where that was made itself."""

import hashlib
from collections.abc import Callable, Iterator, Sequence

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.shortcomings import MAKE_HINT, MAKING_UNKNOWN, shortcomings
from policy_engine.errors import CertificateError, join_names
from policy_engine.methods.columns import PERTURBATIVE, QuasiIdentifier
from policy_engine.plan.inputs import Read
from policy_engine.plan.lineage import Generalised, Upstream
from policy_engine.plan.plan import Plan

Proof = Certificate | Attestation
"""What vouches for a release."""
CertificateFinder = Callable[[str], Certificate | None]
"""Looks for the certificate that lies beside an input, by its location, and speaks of it."""


def upstream_releases(
    reads: Sequence[Read], proofs: Sequence[Proof], find_beside: CertificateFinder
) -> tuple[Upstream, ...]:
    """Return the releases that inputs are, none where no certificate or attestation tells of them.

    Each is `proofs` for its asset; a certificate may lie `find_beside` an input, too. Raises
    CertificateError where those given are of other assets, or the one beside it is of another
    asset, and where its bounds do not hold (V013) or it does not tell how it was made (V016).
    Whether the input is what it certifies is seen when it is read.
    """
    assets = [one.asset for one in reads]
    if proofs and not any(proof_asset(one) in assets for one in proofs):
        assets_given = join_names([*map(proof_asset, proofs)])
        message = f"No certificate is of the input {join_names(assets, 'or')}. "
        message += f"Given are those of {assets_given}."
        raise CertificateError.of("V013", message, "", reads[0].location)
    releases_by_input = (
        _input_upstream(one.asset, one.location, proofs, find_beside) for one in reads
    )
    return tuple(dict.fromkeys(one for assets_given in releases_by_input for one in assets_given))


def _input_upstream(
    asset: str, location: str, proofs: Sequence[Proof], find_beside: CertificateFinder
) -> tuple[Upstream, ...]:
    own_proofs = [one for one in proofs if proof_asset(one) == asset]
    adjacent = find_beside(location)
    if adjacent is not None and adjacent.plan.publish.asset != asset:
        made_asset = adjacent.plan.publish.asset
        message = (
            f"The input is the release {made_asset!r} by the certificate beside it, not {asset!r}."
        )
        hint = f"Give it as {made_asset}, and name that as the policy's target."
        raise CertificateError.of("V013", message, hint, location)
    own_proofs += [adjacent] if adjacent is not None and adjacent not in own_proofs else []
    for one in own_proofs:
        for problem in shortcomings(one) if isinstance(one, Certificate) else ():
            message = f"The certificate of the input {asset!r} does not hold. {problem.message}"
            raise CertificateError.of("V013", message, "", location)
        if isinstance(one, Certificate) and not one.tells_making:
            raise CertificateError.of(
                "V016", f"The input is {asset!r}. {MAKING_UNKNOWN}", MAKE_HINT, location
            )
    return tuple(dict.fromkeys(map(as_upstream, own_proofs)))


def proof_asset(proof: Proof) -> str:
    """Return what a certificate or an attestation is of."""
    return proof.asset if isinstance(proof, Attestation) else proof.plan.publish.asset


def as_upstream(proof: Proof) -> Upstream:
    """Return a release as what is made from it remembers it.

    An attestation names nothing that its output was made from.
    """
    digest = hashlib.sha256(proof.to_jsonld().encode()).hexdigest()
    if isinstance(proof, Attestation):
        return Upstream(
            asset=proof.asset,
            output_digest=proof.output_digest,
            certificate_digest=digest,
            policy=proof.policy,
            policy_digest=proof.policy_digest,
        )
    plan = proof.plan
    return Upstream(
        asset=plan.publish.asset,
        output_digest=proof.output_digest,
        certificate_digest=digest,
        policy=plan.policy,
        policy_digest=plan.policy_digest,
        generalised=tuple(_generalised_columns(proof)),
        upstream=proof.upstream,
    )


def _generalised_columns(certificate: Certificate) -> Iterator[Generalised]:
    """Yield the columns of a release whose cells stand for several values.

    Those that it generalised, and those that it kept as the release before it generalised them.
    A range in two columns of its ends is there by three names: each of them is not a value.
    """
    plan = certificate.plan
    quasi_identifiers = plan.anonymize.columns.quasi_identifier if plan.anonymize else ()
    generalised = {
        one.name: _generalisation(one)
        for one in quasi_identifiers
        if one.generalization not in PERTURBATIVE
    }
    if plan.mask:
        yield from (Generalised(name=o.name, generalization=o.masking) for o in plan.mask.columns)
    for one in generalised.values():
        yield one
        if plan.publish.cells == "bounds":
            for end in ("low", "high"):
                yield one.model_copy(update={"name": f"{one.name}_{end}"})
    inherited = (one for upstream in certificate.upstream for one in upstream.generalised)
    yield from (
        one for one in inherited if one.name not in generalised and _is_unchanged(one.name, plan)
    )


def _is_unchanged(name: str, plan: Plan) -> bool:
    roles = plan.anonymize.columns if plan.anonymize else None
    return roles is not None and name in (*roles.sensitive_names, *roles.insensitive)


def _generalisation(column: QuasiIdentifier) -> Generalised:
    is_masked = column.generalization == "prefix"
    return Generalised(
        name=column.name,
        generalization=column.generalization or "",
        taxonomy=column.taxonomy,
        unlisted=column.unlisted,
        mask=column.mask if is_masked else "",
    )
