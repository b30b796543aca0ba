"""Whether the keys that signed what is in an audit trail were trusted, by trust files."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.certificate.vouching import proof_refusal
from policy_engine.decision.audit_trail.checks import State, TrailCheck
from policy_engine.decision.audit_trail.trail import AuditTrail
from policy_engine.errors import Problem, TrustError
from policy_engine.policy import InForce
from policy_engine.policy.signing import untrusted
from policy_engine.trust.trust_file import Trust, read_trust

_ENDED = "Y007"


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

    Signatures of policies are those beside their files. What was valid for a time that has ended
    since is unchecked: it may have been valid when it was decided by it. A key that is revoked by
    now counts for nothing.
    """
    refusals: list[Problem | None] = [*untrusted(policies, trust, (), time)]
    refusals += (_named(one, proof_refusal(one, trust, time)) for one in proofs)
    problems = [one for one in refusals if one is not None]
    for one in problems:
        state: State = "unchecked" if one.code == _ENDED else "fails"
        yield TrailCheck(state, about, f"{one.code} {one.message}")
    if not problems:
        yield TrailCheck("holds", about, "It covers every policy and certificate that is here.")


def _named(proof: Proof, problem: Problem | None) -> Problem | None:
    """Return a problem that says of which output it is."""
    asset = proof_asset(proof)
    if problem is None or asset in problem.message:
        return problem
    kind = "attestation" if isinstance(proof, Attestation) else "certificate"
    return Problem(problem.code, f"The {kind} of {asset}: {problem.message}")
