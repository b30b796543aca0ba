"""An audit trail, verified offline: what holds, what does not, and what nobody can say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from policy_engine.certificate.certificate import Certificate
from policy_engine.decision.audit_trail.chains import CHAINS, DECISION_LOG, ExportedChain
from policy_engine.decision.audit_trail.crossing import (
    missing_policies,
    strange_certificates,
    unproven_permits,
)
from policy_engine.decision.audit_trail.trail import AuditTrail
from policy_engine.decision.log.entries import Entry
from policy_engine.decision.opened_bundle import opened
from policy_engine.decision.package import Member
from policy_engine.errors import PolicyEngineError
from policy_engine.policy import Policy

State = Literal["holds", "fails", "unchecked"]


@dataclass(frozen=True)
class TrailCheck:
    """One thing that was looked at: whether it holds, and a sentence that says so."""

    state: State
    about: str
    sentence: str

    def as_json(self) -> dict[str, str]:
        """Return the check as JSON has it."""
        return {"state": self.state, "about": self.about, "sentence": self.sentence}


@dataclass(frozen=True)
class TrailReport:
    """Everything that was looked at in an audit trail, in order."""

    digest: str
    checks: tuple[TrailCheck, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing fails; what is unchecked is not known to hold."""
        return all(one.state != "fails" for one in self.checks)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        checks = [one.as_json() for one in self.checks]
        return {"holds": self.holds, "digest": self.digest, "checks": checks}


def check_trail(
    trail: AuditTrail,
    keys: Sequence[bytes] = (),
    now: datetime | None = None,
) -> TrailReport:
    """Return what holds in an audit trail whose files are the ones that were packed.

    `keys` are those of its logs and ledgers: without its key, a chain with HMACs is not verified.
    It raises nothing for what is wrong with the content: that is a check that fails.
    """
    moment = now or datetime.now(UTC)
    checks = [_signature(trail, moment)]
    chains = [*_chains(trail)]
    checks += [_chain_check(member, chain, keys) for member, chain in chains]
    policies, certificates, more = _documents(trail)
    checks += more
    entries = [
        entry
        for _, chain in chains
        if chain.name == DECISION_LOG
        for entry in chain.entries()
        if isinstance(entry, Entry)
    ]
    checks += _crossed(entries, policies, certificates)
    return TrailReport(trail.digest, tuple(checks))


def _signature(trail: AuditTrail, now: datetime) -> TrailCheck:
    about = "who packed it"
    try:
        credential = trail.credential(now)
    except PolicyEngineError as error:
        return TrailCheck("fails", about, _said(error))
    if credential is None:
        return TrailCheck("unchecked", about, "It is unsigned: nobody says that they packed it.")
    proof = credential.proof
    when = f"{proof.created:%Y-%m-%dT%H:%M:%SZ}"
    return TrailCheck("holds", about, f"It was signed by {proof.key.did} at {when}.")


def _chains(trail: AuditTrail) -> Iterator[tuple[Member, ExportedChain]]:
    for member in trail.of_kind("log", "ledger"):
        yield member, ExportedChain.of(member.name, trail.files[member.path])


def _chain_check(member: Member, chain: ExportedChain, keys: Sequence[bytes]) -> TrailCheck:
    about = f"the {chain.name} {member.path}" if chain.name in CHAINS else member.path
    if chain.name not in CHAINS:
        return TrailCheck("unchecked", about, f"It is of an unknown kind, {chain.name!r:.60}.")
    verification = chain.verified(keys)
    if verification is None:
        sentence = "It is chained with a key, which was not given: only its order was looked at."
        return TrailCheck("unchecked", about, sentence)
    if not verification.intact:
        return TrailCheck("fails", about, verification.problems[0].message)
    sentence = f"It is intact: entries 1 to {verification.entries:,}, head {verification.head}."
    return TrailCheck("holds", about, sentence)


def _documents(
    trail: AuditTrail,
) -> tuple[Sequence[Policy], Sequence[Certificate], list[TrailCheck]]:
    """Return the policies and certificates as far as they can be read, and whether they can."""
    try:
        with opened(trail) as sources:
            in_force = sources.reading.policies_in_force(*sources.policies)
            policies = (*in_force, *in_force.ended)
            proofs = sources.proofs
    except PolicyEngineError as error:
        return (), (), [TrailCheck("fails", "its policies and certificates", _said(error))]
    certificates = [one for one in proofs if isinstance(one, Certificate)]
    counts = {"policies": len(policies), "certificates": len(certificates)}
    sentence = "{:,} can be read, and contradict nothing in themselves."
    checks = [
        TrailCheck("holds", about, sentence.format(count))
        for about, count in counts.items()
        if count
    ]
    return policies, certificates, checks


def _crossed(
    entries: Sequence[Entry], policies: Sequence[Policy], certificates: Sequence[Certificate]
) -> Iterator[TrailCheck]:
    for about, sentence, faults in (
        (
            "policies of decisions",
            "Every policy that a decision followed from is here.",
            missing_policies(entries, policies),
        ),
        (
            "policies of certificates",
            "Every policy that an output was certified for is here.",
            strange_certificates(certificates, policies),
        ),
        (
            "permitted outputs",
            "Every output that was permitted had a certificate that is here.",
            unproven_permits(entries, policies, certificates),
        ),
    ):
        sentences = [*faults]
        yield from (TrailCheck("fails", about, f"{one[0].upper()}{one[1:]}.") for one in sentences)
        if not sentences:
            yield TrailCheck("holds", about, sentence)


def _said(error: PolicyEngineError) -> str:
    problem = error.problems[0]
    return f"{problem.code} {problem.message}"
