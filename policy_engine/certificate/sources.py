"""The certificates and attestations of inputs that are releases themselves."""

import hashlib
from collections.abc import Callable, Iterator, Sequence

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.shortcomings import MAKE_HINT, MAKING_UNKNOWN, shortcomings
from policy_engine.errors import CertificateError, join_names
from policy_engine.methods.columns import PERTURBATIVE, SUPPRESSION, QuasiIdentifier
from policy_engine.plan.inputs import Read
from policy_engine.plan.lineage import Generalised, Upstream
from policy_engine.plan.plan import Plan

Proof = Certificate | Attestation
"""The proof of a release."""
CertificateFinder = Callable[[str], Certificate | None]
"""Finds the certificate beside an input, by its location, that is for this input."""


def upstream_releases(
    reads: Sequence[Read], proofs: Sequence[Proof], find_beside: CertificateFinder
) -> tuple[Upstream, ...]:
    """Return the releases that inputs are, none for inputs without certificate or attestation.

    They come from the `proofs` for their asset; a certificate may also be beside an input
    (`find_beside`). Raises CertificateError if the proofs are for other assets or the adjacent one
    is for another asset, if its bounds do not hold (V013), or if it does not say how it was made
    (V016). Whether the input is the certified one is checked when it is read.
    """
    assets = [one.asset for one in reads]
    if proofs and not any(proof_asset(one) in assets for one in proofs):
        assets_given = join_names([*map(proof_asset, proofs)])
        message = f"No certificate is for the input {join_names(assets, 'or')}. "
        message += f"Given are those for {assets_given}."
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
        message = f"The certificate beside the input is for {made_asset!r}, not for {asset!r}."
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
    """Return the asset that a certificate or an attestation is for."""
    return proof.asset if isinstance(proof, Attestation) else proof.plan.publish.asset


def as_upstream(proof: Proof) -> Upstream:
    """Return the entry for a release in the certificate of what is made from it.

    An attestation does not say what its output was made from.
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
        inputs=plan.assets,
        generalised=tuple(_generalised_columns(proof)),
        upstream=proof.upstream,
    )


def _generalised_columns(certificate: Certificate) -> Iterator[Generalised]:
    """Yield the columns of a release whose cells stand for several values.

    These are the columns it generalised, and those kept from an input that generalised them. A
    range in two columns for its ends has three names, none of which is a column of values.
    """
    plan = certificate.plan
    step = plan.anonymize
    quasi_identifiers = step.columns.quasi_identifier if step and not step.is_permuted else ()
    generalised = {
        one.name: _generalisation(one)
        for one in quasi_identifiers
        if one.generalization not in (*PERTURBATIVE, SUPPRESSION)
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
