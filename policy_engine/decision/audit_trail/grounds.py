"""What logged decisions say that they rested on, compared with what is in an audit trail."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.decision.audit_trail.checks import State, TrailCheck
from policy_engine.decision.audit_trail.crossing import entry_list, read_assets
from policy_engine.decision.audit_trail.trail import AuditTrail
from policy_engine.decision.log.entries import Entry, LoggedSignature, LogRecord
from policy_engine.errors import PolicyEngineError, format_count
from policy_engine.policy import Policy
from policy_engine.policy.signing import SIGNATURE, PolicySignature, read_signature
from policy_engine.trust.multikeys import read_public_key
from policy_engine.trust.proofs import Proof as SigningProof
from policy_engine.trust.trust_file import Trust

_ABOUT = "signatures of decisions"


@dataclass(frozen=True)
class TrailGrounds:
    """What is in an audit trail that decisions can have rested on.

    `trusts` are the files that decisions are judged by, those of the trail and that of whoever
    verifies; `has_trust` says whether the trail has one itself.
    """

    trusts: Sequence[Trust]
    has_trust: bool
    policies: Sequence[Policy]
    signatures: Sequence[PolicySignature]
    proofs: Sequence[Proof]


def packed_signatures(trail: AuditTrail) -> list[PolicySignature]:
    """Return the signatures of policies in a trail; of those that do not hold others tell."""
    signatures = []
    for path in sorted(trail.files):
        try:
            if path.endswith(SIGNATURE):
                signatures.append(read_signature(trail.files[path], path))
        except PolicyEngineError:
            continue
    return signatures


def check_grounds(entries: Iterable[Entry], grounds: TrailGrounds) -> Iterator[TrailCheck]:
    """Yield whether decisions rested on signatures that are in a trail, and that the trust files
    that they name cover.

    Each that an entry names has to be one of the trail, of the same policy or output, by the same
    key and of the same time, and a permit has to name one of every policy that matched, unless the
    trust file lets that count without, and of every output that it is about. What is not so fails.
    Signatures of policies that the trail has without any are unchecked. So are entries that name a
    trust file where the trail has none, and whoever verifies another; where the trail has others
    alone, it fails. Of permits that name none, as those of earlier versions, there is nothing to
    check, which is said where there is a trust file.
    """
    decided = [one for one in entries if one.decision is not None]
    named = [one for one in decided if one.decided.trust is not None]
    judging = _GroundsJudging.of(grounds)
    faults: dict[_Fault, list[int]] = {}
    for entry in named:
        for fault in judging.faults(entry):
            faults.setdefault(fault, []).append(entry.number)
    for fault, numbers in faults.items():
        yield TrailCheck(fault.state, _ABOUT, f"{fault.sentence} ({entry_list(numbers)}).")
    if named and not faults:
        count = format_count(len(named), "decision")
        sentence = f"{count} rested on signatures that the trust file named by each covers."
        yield TrailCheck("holds", _ABOUT, sentence)
    silent = [
        one.number for one in decided if one.decided.trust is None and _is_permit(one.decided)
    ]
    if silent and grounds.trusts:
        sentence = f"{format_count(len(silent), 'permit')} named no trust file, as earlier versions"
        sentence += f" and decisions without one do not ({entry_list(silent)})."
        yield TrailCheck("unchecked", _ABOUT, sentence)


class _Fault(NamedTuple):
    """What is wrong with the grounds of a decision, or not known of them."""

    state: State
    sentence: str


class _Found(NamedTuple):
    """A signature in a trail: of which policies or of which output, and made from which data."""

    proof: SigningProof
    of: Mapping[str, str]
    datasets: Sequence[str] = ()

    def fits(self, one: LoggedSignature) -> bool:
        """Tell whether it is the one that was logged."""
        is_same_time = self.proof.created == datetime.fromisoformat(one.created)
        return one.of in self.of and self.proof.key.did == one.key and is_same_time


@dataclass(frozen=True)
class _GroundsJudging:
    """The trust files by their digests, and what is in a trail by what its signatures wrote."""

    trusts: Mapping[str, Trust]
    has_trust: bool
    outputs: frozenset[str]
    originals: Mapping[tuple[str, str], _Found]

    @classmethod
    def of(cls, grounds: TrailGrounds) -> "_GroundsJudging":
        rules = (rule for one in grounds.policies for rule in one.permissions)
        originals = dict[tuple[str, str], _Found]()
        for signature in grounds.signatures:
            proof = signature.credential.proof
            originals["policy", proof.value] = _Found(proof, signature.digests)
        for one in grounds.proofs:
            if one.signature is not None:
                made_from = one.plan.reads if isinstance(one, Certificate) else ()
                proof, asset = one.signature.credential.proof, proof_asset(one)
                datasets = [step.asset for step in made_from]
                originals["proof", proof.value] = _Found(proof, {asset: ""}, datasets)
        return cls(
            {one.digest: one for one in grounds.trusts if one.digest},
            grounds.has_trust,
            frozenset(rule.output for rule in rules if rule.output),
            originals,
        )

    def faults(self, entry: Entry) -> Iterator[_Fault]:
        """Yield what is wrong with the grounds of a decision that names a trust file."""
        record = entry.decided
        trust = self.trusts.get(record.trust or "")
        if trust is None:
            state: State = "fails" if self.has_trust else "unchecked"
            yield _Fault(state, f"The trust file with the sha-256 {record.trust} is not here")
            return
        time = entry.time or datetime.now(UTC)
        moment = time if time.tzinfo else time.replace(tzinfo=UTC)
        signed = record.signed_by or ()
        for one in signed:
            state, why = self._refusal(one, record, trust, moment)
            if why:
                yield _Fault(state, f"The signature of {one.of} by {one.key}: {why}")
        if _is_permit(record):
            yield from self._missing(record, trust)

    def _missing(self, record: LogRecord, trust: Trust) -> Iterator[_Fault]:
        """Yield what a permit under a trust file has to rest on, and does not name."""
        named = {(one.kind, one.of) for one in record.signed_by or ()}
        for uid in sorted({record.policy, *(one.policy for one in record.matches)}):
            if ("policy", uid) not in named and not trust.accepts_unsigned(uid):
                yield _Fault("fails", f"A permit names no signature of the policy {uid}")
        for asset in sorted(self.outputs.intersection(read_assets(record))):
            if ("proof", asset) not in named:
                yield _Fault("fails", f"A permit names no signed certificate of {asset}")

    def _refusal(
        self, one: LoggedSignature, record: LogRecord, trust: Trust, time: datetime
    ) -> tuple[State, str]:
        """Return why a signature that was logged is none that counts, empty where it is one."""
        try:
            key = read_public_key(one.key)
        except PolicyEngineError as error:
            return "fails", error.problems[0].message.rstrip(".")
        original = self.originals.get((one.kind, one.signature))
        strange = self._strange(one, original, record)
        created = datetime.fromisoformat(one.created)
        problem = (
            trust.policy_refusal(key, created, one.of, time)
            if original is None or one.kind == "policy"
            else trust.certificate_refusal(key, created, one.of, original.datasets, time)
        )
        if strange or problem is not None:
            refused = "" if problem is None else f"{problem.code} {problem.message}".rstrip(".")
            return "fails", strange or refused
        return "unchecked", "" if original else "no signature of this policy is here"

    def _strange(self, one: LoggedSignature, original: _Found | None, record: LogRecord) -> str:
        """Return in what a signature that was logged differs from what is in the trail."""
        if original is not None and not original.fits(one):
            return "what is here with it is of something else, another key or another time"
        if one.kind == "proof":
            return "" if original else "no certificate or attestation that is here has it"
        if original is not None:
            is_of_it = original.of[one.of] in record.policy_digests
            return "" if is_of_it else "what is here with it is of another version of the policy"
        others = (each for (kind, _), each in self.originals.items() if kind == "policy")
        is_signed = any(one.of in each.of for each in others)
        return "the policy that is here has another" if is_signed else ""


def _is_permit(record: LogRecord) -> bool:
    return record.effect == "permit"
