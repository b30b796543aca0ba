"""Outputs made under policies that are not in force: nobody may read them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.policy import Policy
from policy_engine.policy.model import OFFER


@dataclass(frozen=True, slots=True)
class VoidOutput:
    """An output of a policy that is not in force, and its issuers; none if they are unknown."""

    asset: str
    policy: str
    issuers: frozenset[str] = frozenset()


def void_outputs(policies: Iterable[Policy]) -> Iterator[VoidOutput]:
    """Yield the outputs of policies that are not in force."""
    for policy in policies:
        for rule in policy.permissions if policy.type != OFFER else ():
            if rule.output:
                yield VoidOutput(rule.output, policy.uid, rule.issued_by)


def void_proven_outputs(
    proofs: Sequence[Certificate | Attestation], policies: Iterable[Policy]
) -> Iterator[VoidOutput]:
    """Yield the outputs of certificates and attestations: they were made, under whichever policy.

    Their issuers are known only if the exact text of that policy is among the known policies.
    """
    issuers = {(one.uid, one.digest): one.issued_by for one in policies}
    for one in proofs:
        output = _proven_output(one)
        if output is not None:
            asset, policy, digest = output
            yield VoidOutput(asset, policy, issuers.get((policy, digest), frozenset()))


def _proven_output(proof: Certificate | Attestation) -> tuple[str, str, str] | None:
    """Return the output of a proof, and the uid and digest of its policy; None if not released."""
    if isinstance(proof, Attestation):
        return proof.asset, proof.policy, proof.policy_digest
    plan = proof.plan
    return (plan.publish.asset, plan.policy, plan.policy_digest) if proof.output_digest else None
