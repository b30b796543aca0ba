"""Whether the keys that signed what is in an audit trail were trusted, by trust files."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.certificate.vouching import coverage_refusal, proof_refusal
from policy_engine.decision.audit_trail.checks import TrailCheck
from policy_engine.decision.audit_trail.trail import AuditTrail
from policy_engine.errors import Problem, TrustError
from policy_engine.policy import InForce
from policy_engine.policy.signing import signatures_beside, untrusted
from policy_engine.trust.trust_file import Trust, read_trust


def packed_trusts(trail: AuditTrail) -> tuple[list[tuple[str, Trust]], list[TrailCheck]]:
    """Return the trust files in a trail, by their paths, and why others cannot be read."""
    trusts, faults = list[tuple[str, Trust]](), list[TrailCheck]()
    for member in trail.of_kind("trust"):
        about = f"the trust file {member.path}"
        try:
            trusts.append((about, read_trust(trail.files[member.path], member.path)))
        except TrustError as error:
            faults.append(TrailCheck.failed(about, error))
    return trusts, faults


def check_trusted(
    about: str, trust: Trust, policies: InForce, proofs: Sequence[Proof], time: datetime
) -> Iterator[TrailCheck]:
    """Yield what a trust file refuses of the policies and proofs in a trail, or that it covers all.

    Signatures of policies are those beside their files. What a key that is covered signed for
    another time than now is unchecked: it may have been valid when it was decided by it. A key that
    is not covered, or is revoked by now, counts for nothing, whatever times it wrote.
    """
    beside = signatures_beside(policies, trust)
    uncovered = [*untrusted(policies, trust, (), time, beside, at_any_time=True)]
    uncovered += _named((one, coverage_refusal(one, trust, time)) for one in proofs)
    refused = [*untrusted(policies, trust, (), time, beside)]
    refused += _named((one, proof_refusal(one, trust, time)) for one in proofs)
    untimely = [one for one in refused if one not in uncovered]
    for one in uncovered:
        yield TrailCheck("fails", about, f"{one.code} {one.message}")
    for one in untimely:
        yield TrailCheck("unchecked", about, f"{one.code} {one.message}")
    if not refused:
        yield TrailCheck("holds", about, "It covers every policy and certificate that is here.")


def _named(refusals: Iterable[tuple[Proof, Problem | None]]) -> Iterator[Problem]:
    """Yield the problems of proofs, each of which says of which output it is."""
    for proof, problem in refusals:
        asset = proof_asset(proof)
        if problem is None or asset in problem.message:
            yield from () if problem is None else (problem,)
            continue
        kind = "attestation" if isinstance(proof, Attestation) else "certificate"
        yield Problem(problem.code, f"The {kind} of {asset}: {problem.message}")
