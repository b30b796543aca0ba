"""Who signed an audit trail, and the policies in it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from policy_engine.decision.audit_trail.checks import TrailCheck
from policy_engine.decision.audit_trail.trail import AuditTrail
from policy_engine.decision.opened_bundle import OpenedBundle
from policy_engine.errors import PolicyEngineError
from policy_engine.policy import Policy
from policy_engine.policy.signing import SIGNATURE, PolicySignature, read_signature
from policy_engine.trust.multikeys import PublicKey
from policy_engine.trust.proofs import Proof

_PACKER, _POLICIES = "who packed it", "signatures of policies"


def trail_signature(trail: AuditTrail, signer: PublicKey | None, now: datetime) -> TrailCheck:
    """Return who signed a trail; with a `signer`, it fails where that key did not."""
    try:
        credential = trail.credential(now)
    except PolicyEngineError as error:
        return TrailCheck.failed(_PACKER, error)
    if credential is None:
        if signer is not None:
            sentence = f"It is unsigned, and not signed by {signer.did}."
            return TrailCheck("fails", _PACKER, sentence)
        return TrailCheck("unchecked", _PACKER, "It is unsigned: nobody says that they packed it.")
    proof = credential.proof
    if signer not in (None, proof.key):
        sentence = f"It was signed by {proof.key.did}, and not by {signer}."
        return TrailCheck("fails", _PACKER, sentence)
    return TrailCheck("holds", _PACKER, f"It was {_signed(proof)}.")


def policy_signatures(
    trail: AuditTrail, sources: OpenedBundle, policies: Sequence[Policy], now: datetime
) -> Iterator[TrailCheck]:
    """Yield whether each signature beside policies is of them, and how many policies have none."""
    signed = set[tuple[str, str]]()
    for path in sorted(trail.files):
        if not path.endswith(SIGNATURE):
            continue
        about = f"the signature {path}"
        try:
            signature = read_signature(trail.files[path], path, now)
            place = sources.folder / path.removesuffix(SIGNATURE)
            own = sources.reading.policies_in_force(place)
        except PolicyEngineError as error:
            yield TrailCheck.failed(about, error)
            continue
        strange = _strange(signature, (*own, *own.ended))
        if strange:
            yield TrailCheck("fails", about, f"It is of another policy {', '.join(strange)}.")
            continue
        signed.update(signature.digests.items())
        sentence = f"It is of the policies beside it, {_signed(signature.credential.proof)}."
        yield TrailCheck("holds", about, sentence)
    unsigned = {(one.uid, one.digest) for one in policies} - signed
    if unsigned:
        count = f"{len(unsigned):,} of {len(policies):,} policies"
        sentence = f"There is none for {count}: nobody says that they issued what is here."
        yield TrailCheck("unchecked", _POLICIES, sentence)


def _strange(signature: PolicySignature, policies: Sequence[Policy]) -> list[str]:
    """Return the uids that a signature has other digests for than the policies beside it."""
    digests = {one.uid: one.digest for one in policies}
    return [uid for uid, digest in signature.digests.items() if digests.get(uid) != digest]


def _signed(proof: Proof) -> str:
    return f"signed by {proof.key.did} at {proof.created.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
