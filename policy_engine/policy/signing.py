"""Signatures of policies: of what they mean, with everything that they are read with."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TypeGuard, TypeVar

from policy_engine.data.chain.entries import canonical
from policy_engine.data.table_files import is_file, unreadable_file
from policy_engine.errors import PolicyEngineError, Problem, SignatureError, join_names
from policy_engine.policy.collecting.force import InForce
from policy_engine.policy.model import Policy
from policy_engine.trust.canonical_json import read_document
from policy_engine.trust.credentials import (
    Credential,
    read_credential,
    sign_credential,
    time_refusal,
)
from policy_engine.trust.proofs import Signer
from policy_engine.trust.trust_file import Trust

KIND = "pe:PolicySignature"
SIGNATURE = ".signature"
"""The ending of a signature's file, after the name of that of the policies."""
_CONTEXT = {"pe": "https://w3id.org/policy-engine/ns#"}
_DIGEST, _STATE = "pe:policyDigest", "pe:inForceDigest"


@dataclass(frozen=True)
class PolicySignature:
    """Policies by uid, with the digest of each that somebody signed, and of whether it is in
    force."""

    digests: dict[str, str]
    states: dict[str, str]
    credential: Credential
    source: str = ""


def sign_policies(
    policies: Iterable[Policy],
    signer: Signer,
    *,
    time: datetime | None = None,
    valid_until: datetime | None = None,
) -> str:
    """Return the signature of policies, as the text of a Verifiable Credential.

    It is of the digests that the engine gives them: another text of the same meaning has it, too,
    and what is read along with a policy (parents, vocabularies, contexts) is part of its meaning.
    Signed as well is what says whether it is in force, which is not.
    """
    subjects = [
        {"id": one.uid, _DIGEST: one.digest, _STATE: in_force_digest(one)} for one in policies
    ]
    document = sign_credential(
        KIND, subjects, signer, context=_CONTEXT, time=time, valid_until=valid_until
    )
    return json.dumps(document, indent=2) + "\n"


def in_force_digest(policy: Policy) -> str:
    """Return the sha-256 of what a policy says of its being in force: what replaced it, and its
    date (`dct:isReplacedBy`, `dct:modified`, `dct:issued`)."""
    dated = policy.dated.isoformat() if policy.dated else ""
    return sha256(canonical([sorted(policy.replaced_by), dated])).hexdigest()


def read_signature(
    text: str | bytes, source: str = "", now: datetime | None = None
) -> PolicySignature:
    """Return a signature of policies. Raises SignatureError (Y003, Y005 to Y007) for another text,
    and where its proof does not hold."""
    credential = read_credential(read_document(text, source), KIND, source, now)
    digests, states = dict[str, str](), dict[str, str]()
    for subject in credential.subjects:
        uid, digest, state = (subject.get(name) for name in ("id", _DIGEST, _STATE))
        if set(subject) != {"id", _DIGEST, _STATE} or not isinstance(uid, str):
            raise _unlike(source)
        if not isinstance(digest, str) or not isinstance(state, str) or uid in digests:
            raise _unlike(source)
        digests[uid], states[uid] = digest, state
    return PolicySignature(digests, states, credential, source)


def held_signature(text: str | None) -> PolicySignature | None:
    """Return a signature that is kept with policies; None without one, and for one that does not
    hold any more: it counts for nothing."""
    if text is None:
        return None
    try:
        return read_signature(text)
    except SignatureError:
        return None


def load_signature(path: Path) -> PolicySignature:
    """Return the signature in a file. Raises as `read_signature`, DataError (C003) where it cannot
    be read."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise unreadable_file(path, error) from None
    return read_signature(text, str(path))


_Path = TypeVar("_Path", bound=PurePath)


def signature_path(policies: _Path) -> _Path:
    """Return where the signature of a file of policies is: beside it."""
    return policies.with_name(f"{policies.name}{SIGNATURE}")


def signature_evidence(policy: Policy) -> tuple[dict[str, str], ...]:
    """Return what the signature beside a policy says, for a certificate to bind it; empty where
    nobody signed this policy there.

    Raises SignatureError for a signature that does not hold.
    """
    place = signature_path(Path(policy.source)) if policy.source else None
    if place is None or not is_file(place):
        return ()
    return policy_evidence(policy, load_signature(place))


def policy_evidence(policy: Policy, signature: PolicySignature) -> tuple[dict[str, str], ...]:
    """Return what a signature says of a policy, for a certificate to bind it; empty where it is not
    of this policy."""
    if signature.digests.get(policy.uid) != policy.digest:
        return ()
    signed_by, value = signature.credential.proof.key.did, signature.credential.proof.value
    own = {"type": KIND, "id": policy.uid, _DIGEST: policy.digest}
    return ({**own, "pe:signedBy": signed_by, "pe:proofValue": value},)


Beside = Mapping[str, PolicySignature | Problem | None]
"""The signatures beside the files of policies, by these; why one cannot be read; None for none."""


def signatures_beside(policies: Iterable[Policy], trust: Trust) -> Beside:
    """Return the signatures beside the policies that need one under a trust."""
    needed = (one for one in _texts(policies) if not trust.accepts_unsigned(one.uid))
    sources = dict.fromkeys(one.source for one in needed)
    return {one: _beside(Path(one)) if one else None for one in sources}


def _texts(policies: Iterable[Policy]) -> tuple[Policy, ...]:
    ended = policies.ended if isinstance(policies, InForce) else ()
    return (*policies, *ended)


def missing_notes(policies: Iterable[Policy], beside: Beside) -> Iterator[str]:
    """Yield a note for each signature beside policies that is of others, too, which are not here.

    Somebody may have removed them, and their prohibitions with them, from a file that was signed as
    a whole; or they are not in force yet.
    """
    uids = {one.uid for one in _texts(policies)}
    for source, signature in beside.items():
        others = sorted(signature.digests.keys() - uids if _is_signature(signature) else ())
        if others:
            named = join_names([f"{one:.200}" for one in others[:_NAMED]])
            more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
            place = Path(source).name
            yield f"The signature beside {place!r} is also of {named}{more}: not given."


_NAMED = 5
"""How many policies are named that are not here."""


def _is_signature(beside: PolicySignature | Problem | None) -> TypeGuard[PolicySignature]:
    return isinstance(beside, PolicySignature)


def untrusted(
    policies: Iterable[Policy],
    trust: Trust,
    signatures: Sequence[PolicySignature] = (),
    now: datetime | None = None,
    beside: Beside | None = None,
    *,
    at_any_time: bool = False,
) -> Iterator[Problem]:
    """Yield why policies do not count under a trust, a problem for each that does not.

    A policy's signature is among those given, or `beside` its file, where it is looked for if that
    is not given. Y009 is for a policy without one by a key that may sign it, Y010 for a revoked
    key, Y011 for a signature of something else, and Y007 for one that is not valid at the time,
    unless it may be valid `at_any_time`.
    """
    moment = now or datetime.now(UTC)
    own_signatures = signatures_beside(policies, trust) if beside is None else beside
    by_uid = _by_policy(signatures)
    for policy in _texts(policies):
        if trust.accepts_unsigned(policy.uid):
            continue
        own = own_signatures[policy.source]
        candidates = [*by_uid.get(policy.uid, ()), *([own] if own else ())]
        problem = _refusal(policy, trust, candidates, moment, at_any_time=at_any_time)
        if problem is not None:
            yield problem


def accepted_signatures(
    policies: Iterable[Policy],
    trust: Trust,
    signatures: Sequence[PolicySignature],
    now: datetime,
    beside: Beside,
) -> dict[str, PolicySignature]:
    """Return by which signature each policy counts under a trust, by their uids.

    One that counts without any (`unsigned-policies`), or does not count, is left out. The arguments
    are as for `untrusted`.
    """
    accepted, by_uid = {}, _by_policy(signatures)
    for policy in _texts(policies):
        own = beside.get(policy.source)
        for one in (*by_uid.get(policy.uid, ()), *([own] if own else ())):
            if isinstance(one, PolicySignature) and not _refusal(
                policy, trust, [one], now, at_any_time=False
            ):
                accepted[policy.uid] = one
                break
    return accepted


def _by_policy(signatures: Iterable[PolicySignature]) -> dict[str, list[PolicySignature]]:
    """Return signatures by the policies that they name: others say nothing of a policy."""
    by_uid: dict[str, list[PolicySignature]] = {}
    for one in signatures:
        for uid in one.digests:
            by_uid.setdefault(uid, []).append(one)
    return by_uid


def _beside(path: Path) -> PolicySignature | Problem | None:
    """Return the signature beside a file, why it is not one, or None where there is none."""
    try:
        place = signature_path(path)
        return load_signature(place) if place.is_file() else None
    except (ValueError, OSError):
        return None  # the name of a text, and not of a file
    except PolicyEngineError as error:
        return error.problems[0]


def _refusal(
    policy: Policy,
    trust: Trust,
    signatures: Sequence[PolicySignature | Problem],
    now: datetime,
    *,
    at_any_time: bool,
) -> Problem | None:
    first: Problem | None = None
    for one in signatures:
        problem = one if isinstance(one, Problem) else _signature_refusal(policy, trust, one, now)
        if problem is None and isinstance(one, PolicySignature) and not at_any_time:
            # After who signed it: the times of what a stranger signed say nothing.
            problem = time_refusal(one.credential, now)
        if problem is None:
            return None
        first = first or problem
    if first is None:
        return Problem("Y009", f"The policy {policy.uid} is not signed.", "See its trust file.")
    return Problem(
        first.code, f"The policy {policy.uid} does not count: {first.message}", first.hint
    )


def _signature_refusal(
    policy: Policy, trust: Trust, signature: PolicySignature, now: datetime
) -> Problem | None:
    digest = signature.digests.get(policy.uid)
    if digest is None:
        return Problem("Y009", "nobody signed it.")
    if digest != policy.digest or signature.states.get(policy.uid) != in_force_digest(policy):
        message = "it is not the one that was signed: it means something else, is read with "
        return Problem("Y011", f"{message}other things beside it, or replaced at another time.")
    proof = signature.credential.proof
    return trust.policy_refusal(proof.key, proof.created, policy.uid, now)


def _unlike(source: str) -> PolicyEngineError:
    message = "The document does not say which policies were signed, each with its digest."
    return SignatureError.of("Y005", message, "", source)
