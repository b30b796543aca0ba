"""An audit trail, verified offline: what holds, what does not, and what nobody can say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.sources import Proof
from policy_engine.data.chain.verification import Head
from policy_engine.decision.audit_trail.chains import CHAINS, DECISION_LOG, ExportedChain
from policy_engine.decision.audit_trail.checks import TrailCheck
from policy_engine.decision.audit_trail.crossing import (
    missing_policies,
    strange_certificates,
    unproven_permits,
)
from policy_engine.decision.audit_trail.grounds import (
    TrailGrounds,
    check_grounds,
    packed_signatures,
)
from policy_engine.decision.audit_trail.signers import policy_signatures, trail_signature
from policy_engine.decision.audit_trail.trail import AuditTrail
from policy_engine.decision.audit_trail.trusting import check_trusted, packed_trusts
from policy_engine.decision.audit_trail.withdrawn import check_withdrawals
from policy_engine.decision.log.entries import Entry
from policy_engine.decision.opened_bundle import opened
from policy_engine.decision.package import Member
from policy_engine.errors import PolicyEngineError
from policy_engine.policy import DEFAULT_LIMITS, Limits, Policy
from policy_engine.trust.multikeys import PublicKey
from policy_engine.trust.trust_file import Trust


@dataclass(frozen=True)
class TrailReport:
    """Everything that was looked at in an audit trail, in order.

    `signatures` says by whose trust file signatures were checked: that of whoever verifies
    ("trusted"), one in the trail alone ("packed"), or by none ("unsigned").
    """

    digest: str
    checks: tuple[TrailCheck, ...]
    signatures: Literal["trusted", "packed", "unsigned"] = "unsigned"

    @property
    def holds(self) -> bool:
        """Whether nothing fails; what is unchecked is not known to hold."""
        return all(one.state != "fails" for one in self.checks)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        checks = [one.as_json() for one in self.checks]
        return {
            "holds": self.holds,
            "signatures": self.signatures,
            "digest": self.digest,
            "checks": checks,
        }


def check_trail(
    trail: AuditTrail,
    keys: Sequence[bytes] = (),
    now: datetime | None = None,
    *,
    expected: Sequence[Head] = (),
    signer: PublicKey | None = None,
    trust: Trust | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> TrailReport:
    """Return what holds in an audit trail whose files are the ones that were packed.

    `keys` are those of its logs and ledgers: with any, a chain that none of them made fails;
    without, a chain with HMACs is not verified. Every head that is `expected` must be in one of the
    chains, and a `signer` must have signed the trail. The trust files in it, and a `trust` that is
    given, must cover its policies and certificates. Policies are read within the `limits`. It
    raises nothing for what is wrong with the content: that is a check that fails.
    """
    moment = now or datetime.now(UTC)
    checks = [trail_signature(trail, signer, moment)]
    chains = [*_chains(trail)]
    verified = [(chain, _chain_check(member, chain, keys)) for member, chain in chains]
    checks += (check for _, check in verified)
    checks += _heads([one for one, check in verified if check.state == "holds"], expected)
    trusts, faults = packed_trusts(trail)
    has_trust = bool(trusts)
    trusts += [] if trust is None else [("the trust file that is given", trust)]
    policies, proofs, more = _documents(trail, limits, moment, trusts)
    certificates = [one for one in proofs if isinstance(one, Certificate)]
    checks += faults
    checks += more
    logs = [chain for _, chain in chains if chain.name == DECISION_LOG]
    entries = [entry for one in logs for entry in one.entries() if isinstance(entry, Entry)]
    if not logs:
        sentence = "It has no decision log: what was decided, and by which policies, is not here."
        checks.append(TrailCheck("unchecked", "decisions", sentence))
    checks += _crossed(entries if logs else None, policies, certificates)
    judges = [one for _, one in trusts]
    signatures = packed_signatures(trail)
    checks += check_grounds(entries, TrailGrounds(judges, has_trust, policies, signatures, proofs))
    checks += check_withdrawals(trail, entries, certificates, moment, judges)
    by_packed: Literal["packed", "unsigned"] = "packed" if has_trust else "unsigned"
    return TrailReport(trail.digest, tuple(checks), by_packed if trust is None else "trusted")


def _chains(trail: AuditTrail) -> Iterator[tuple[Member, ExportedChain]]:
    for member in trail.of_kind("log", "ledger"):
        yield member, ExportedChain.of(member.name, trail.files[member.path])


def _chain_check(member: Member, chain: ExportedChain, keys: Sequence[bytes]) -> TrailCheck:
    about = f"the {chain.name} {member.path}" if chain.name in CHAINS else member.path
    if chain.name not in CHAINS:
        return TrailCheck("fails", about, f"It is of an unknown kind, {chain.name!r:.60}.")
    verification = chain.verified(keys)
    if verification is None:
        sentence = "It is chained with a key, which was not given: no entry of it was verified."
        return TrailCheck("unchecked", about, sentence)
    if not verification.intact:
        return TrailCheck("fails", about, verification.problems[0].message)
    sentence = f"It is intact: entries 1 to {verification.entries:,}, head {verification.head}."
    return TrailCheck("holds", about, sentence)


def _heads(chains: Sequence[ExportedChain], expected: Sequence[Head]) -> Iterator[TrailCheck]:
    """Yield whether each head is in a chain that is intact."""
    missing = [*dict.fromkeys(expected)]
    for chain in chains if expected else ():
        for entry in chain.entries():
            missing = [one for one in missing if not one.is_at(entry.number, entry.hash)]
    for head in dict.fromkeys(expected):
        if head in missing:
            sentence = "No chain that was verified contains it: one was cut off or replaced."
            yield TrailCheck("fails", f"the head {head}", sentence)
        else:
            yield TrailCheck("holds", f"the head {head}", "A chain contains it.")


def _documents(
    trail: AuditTrail, limits: Limits, now: datetime, trusts: Sequence[tuple[str, Trust]]
) -> tuple[Sequence[Policy], Sequence[Proof], list[TrailCheck]]:
    """Return the policies and proofs as far as they can be read, and whether they can."""
    try:
        with opened(trail, limits) as sources:
            in_force = sources.reading.policies_in_force(*sources.policies)
            policies = (*in_force, *in_force.ended)
            proofs = sources.proofs
            signatures = [*policy_signatures(trail, sources, policies, now)]
            for about, trust in trusts:
                signatures += check_trusted(about, trust, in_force, proofs, now)
    except PolicyEngineError as error:
        return (), (), [TrailCheck.failed("its policies and certificates", error)]
    certificates = [one for one in proofs if isinstance(one, Certificate)]
    counts = {"policies": len(policies), "certificates": len(certificates)}
    sentence = "{:,} can be read, and contradict nothing in themselves."
    checks = [
        TrailCheck("holds", about, sentence.format(count))
        for about, count in counts.items()
        if count
    ]
    return policies, proofs, [*checks, *signatures]


def _crossed(
    entries: Sequence[Entry] | None,
    policies: Sequence[Policy],
    certificates: Sequence[Certificate],
) -> Iterator[TrailCheck]:
    """Yield what the parts say of one another; of decisions nothing where there is no log."""
    compared = [
        (
            "policies of certificates",
            "Every policy that an output was certified for is here.",
            strange_certificates(certificates, policies),
        )
    ]
    if entries is not None:
        compared += [
            (
                "policies of decisions",
                "Every policy that a decision followed from is here.",
                missing_policies(entries, policies),
            ),
            (
                "permitted outputs",
                "Every output that was permitted had a certificate that is here.",
                unproven_permits(entries, policies, certificates),
            ),
        ]
    for about, sentence, faults in compared:
        sentences = [*faults]
        yield from (TrailCheck("fails", about, f"{one[0].upper()}{one[1:]}.") for one in sentences)
        if not sentences:
            yield TrailCheck("holds", about, sentence)
