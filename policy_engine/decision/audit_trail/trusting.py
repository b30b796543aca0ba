"""Whether the keys that signed what is in an audit trail were trusted, by trust files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.certificate.vouching import coverage_refusal, proof_refusal
from policy_engine.decision.audit_trail.checks import TrailCheck
from policy_engine.decision.audit_trail.crossing import entry_list
from policy_engine.decision.audit_trail.trail import AuditTrail
from policy_engine.decision.log.entries import Entry, LoggedSignature
from policy_engine.errors import PolicyEngineError, Problem, TrustError, format_count
from policy_engine.policy import InForce
from policy_engine.policy.signing import signatures_beside, untrusted
from policy_engine.trust.multikeys import read_public_key
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


def check_grounds(
    entries: Iterable[Entry],
    trusts: Sequence[Trust],
    proofs: Sequence[Proof],
) -> Iterator[TrailCheck]:
    """Yield whether decisions rested on signatures that the trust files they name cover, and
    that those of proofs are in the trail.

    `trusts` are the files in it. Entries that name no trust file, as those of earlier versions and
    those that were decided without one, say nothing about it. Where the trail has no trust file,
    that is unchecked; where it has others alone than an entry names, it fails.
    """
    named = [one for one in entries if one.decision is not None and one.decision.trust is not None]
    if not named:
        return
    by_digest = {one.digest: one for one in trusts if one.digest}
    judging = _GroundsJudging(by_digest, _written(proofs))
    faults: dict[str, list[int]] = {}
    for entry in named:
        for fault in judging.faults(entry):
            faults.setdefault(fault, []).append(entry.number)
    about = "signatures of decisions"
    for fault, numbers in faults.items():
        state: Literal["fails", "unchecked"] = "fails" if trusts else "unchecked"
        yield TrailCheck(state, about, f"{fault} ({entry_list(numbers)}).")
    if not faults:
        count = format_count(len(named), "decision")
        sentence = f"{count} rested on signatures that the trust file named by each covers."
        yield TrailCheck("holds", about, sentence)


@dataclass(frozen=True)
class _GroundsJudging:
    """The trust files by their digests, and the proofs that are in a trail by what they wrote."""

    trusts: Mapping[str, Trust]
    written: Mapping[str, Sequence[str]]

    def faults(self, entry: Entry) -> Iterator[str]:
        decided = entry.decided
        trust = self.trusts.get(decided.trust or "")
        if trust is None:
            yield f"The trust file with the sha-256 {decided.trust} is not here"
            return
        for one in decided.signed_by or ():
            problem = self._refusal(one, trust, entry.time or datetime.now(UTC))
            if problem:
                yield f"The signature of {one.of} by {one.key}: {problem}"

    def _refusal(self, one: LoggedSignature, trust: Trust, time: datetime) -> str:
        try:
            key = read_public_key(one.key)
        except PolicyEngineError as error:
            return error.problems[0].message.rstrip(".")
        datasets = self.written.get(one.signature)
        if one.kind == "proof" and datasets is None:
            return "no certificate or attestation that is here has it"
        created = datetime.fromisoformat(one.created)
        problem = (
            trust.policy_refusal(key, created, one.of, time)
            if one.kind == "policy"
            else trust.certificate_refusal(key, created, one.of, datasets or (), time)
        )
        return "" if problem is None else f"{problem.code} {problem.message}".rstrip(".")


def _written(proofs: Sequence[Proof]) -> dict[str, Sequence[str]]:
    """Return what the outputs of signed proofs were made from, by what their signatures wrote."""
    return {
        one.signature.credential.proof.value: [step.asset for step in one.plan.reads]
        if isinstance(one, Certificate)
        else []
        for one in proofs
        if one.signature is not None
    }


def _named(refusals: Iterable[tuple[Proof, Problem | None]]) -> Iterator[Problem]:
    """Yield the problems of proofs, each of which says of which output it is."""
    for proof, problem in refusals:
        asset = proof_asset(proof)
        if problem is None or asset in problem.message:
            yield from () if problem is None else (problem,)
            continue
        kind = "attestation" if isinstance(proof, Attestation) else "certificate"
        yield Problem(problem.code, f"The {kind} of {asset}: {problem.message}")
