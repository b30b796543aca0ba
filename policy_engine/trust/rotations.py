"""Rotation: a statement by which the holder of a key vouches for the next one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from policy_engine.errors import PolicyEngineError, SignatureError, TrustError
from policy_engine.trust.credentials import read_credential, sign_credential
from policy_engine.trust.multikeys import PublicKey, read_public_key
from policy_engine.trust.proofs import Signer

KIND = "pe:KeyRotation"
_CONTEXT = {"pe": "https://w3id.org/policy-engine/ns#"}


@dataclass(frozen=True)
class Rotation:
    """That `new` stands for `old` from a time on, as the holder of `old` says: from when it is
    valid, and not before it was signed."""

    old: PublicKey
    new: PublicKey
    since: datetime


def sign_rotation(old: Signer, new: PublicKey, time: datetime | None = None) -> dict[str, Any]:
    """Return the statement by which the holder of a key vouches for the next one."""
    subject = {"id": new.did, "pe:succeeds": old.public.did}
    return sign_credential(KIND, [subject], old, context=_CONTEXT, time=time)


def read_rotation(
    document: Mapping[str, Any], source: str = "", now: datetime | None = None
) -> Rotation:
    """Return what a statement says, once it is signed by the key that is succeeded.

    Raises SignatureError (Y003, Y005 to Y007) for anything else.
    """
    credential = read_credential(document, KIND, source, now)
    subject = credential.subjects[0]
    old = credential.proof.key
    if len(credential.subjects) > 1 or set(subject) != {"id", "pe:succeeds"}:
        raise _unlike(source)
    if subject["pe:succeeds"] != old.did or not isinstance(subject["id"], str):
        raise _unlike(source)
    try:
        new = read_public_key(subject["id"])
    except TrustError as error:
        raise SignatureError(*error.problems, source=source) from None
    if subject["id"] != new.did or new == old or credential.valid_until is not None:
        raise _unlike(source)
    # What is valid from before it was signed would pass on what an old key may not sign any more.
    return Rotation(old, new, max(credential.valid_from, credential.proof.created))


def _unlike(source: str) -> PolicyEngineError:
    message = "The statement does not say which key succeeds the one that signed it."
    return SignatureError.of("Y005", message, "", source)
