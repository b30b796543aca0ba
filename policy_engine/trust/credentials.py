"""Verifiable Credentials 2.0: what the engine signs, and reads again strictly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from policy_engine.errors import PolicyEngineError, Problem, SignatureError
from policy_engine.trust.proofs import Proof, Signer, add_proof, read_time, verify_proof

CREDENTIALS = "https://www.w3.org/ns/credentials/v2"
KIND = "VerifiableCredential"
_NEEDED = {"@context", "type", "issuer", "validFrom", "credentialSubject", "proof"}
_ALLOWED = _NEEDED | {"id", "validUntil", "credentialStatus", "evidence"}
_STATUS = "BitstringStatusListEntry"
_NO_CONTEXT: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Credential:
    """What an issuer says of subjects, by a proof that holds.

    `status` is the entry by which it can be withdrawn (W3C Bitstring Status List 1.0, section 2.1);
    whether it was is for who reads the list. `kind` is its type beside `VerifiableCredential`, and
    `evidence` what the issuer relied on (VC Data Model 2.0, section 5.6), texts by name.
    """

    kind: str
    proof: Proof
    valid_from: datetime
    valid_until: datetime | None
    subjects: tuple[Mapping[str, Any], ...]
    context: Mapping[str, Any]
    status: Mapping[str, Any] | None = None
    identifier: str = ""
    evidence: tuple[Mapping[str, str], ...] = ()


def sign_credential(
    kind: str,
    subjects: Sequence[Mapping[str, Any]],
    signer: Signer,
    *,
    context: Mapping[str, Any] = _NO_CONTEXT,
    time: datetime | None = None,
    valid_until: datetime | None = None,
    status: Mapping[str, Any] | None = None,
    identifier: str = "",
    evidence: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Return a credential about subjects, issued by the did:key of who signs, as JSON.

    `context` declares the prefixes of its terms. Raises as `add_proof` does.
    """
    now = time or datetime.now(UTC)
    document: dict[str, Any] = {"@context": [CREDENTIALS, *([dict(context)] if context else ())]}
    document |= {"id": identifier} if identifier else {}
    document |= {"type": [KIND, kind], "issuer": signer.public.did, "validFrom": _written(now)}
    document |= {"validUntil": _written(valid_until)} if valid_until else {}
    document |= {"credentialStatus": dict(status)} if status else {}
    document |= {"evidence": [dict(one) for one in evidence]} if evidence else {}
    listed = [dict(one) for one in subjects]
    document["credentialSubject"] = listed[0] if len(listed) == 1 else listed
    return add_proof(document, signer, now)


def read_credential(
    document: Mapping[str, Any], kind: str, source: str = "", now: datetime | None = None
) -> Credential:
    """Return a credential of a kind, once its proof holds and its issuer is who signed it.

    It has the members that `sign_credential` writes and no others. It is not checked whether it is
    valid yet, or still: that depends on the time that is asked about (`check_time`).

    Raises SignatureError: Y005 for another document, Y006 and Y007 as `verify_proof` does.
    """
    proof = verify_proof(document, source, now)
    names = {*map(str, document)}
    if not names >= _NEEDED or not names <= _ALLOWED:
        listed = ", ".join(sorted((_NEEDED - names) | (names - _ALLOWED)))
        raise _unlike(f"it lacks, or has beside the usual, {listed[:200]}", source)
    if document["type"] != [KIND, kind]:
        raise _unlike(f"its type is not {kind}", source)
    if document["issuer"] != proof.key.did:
        raise _unlike("its issuer is not the key that signed it", source)
    valid_from = read_time(document["validFrom"])
    valid_until = read_time(document["validUntil"]) if "validUntil" in document else None
    if valid_from is None or (valid_until is None and "validUntil" in document):
        raise _unlike("a time of it is not one with a time zone", source)
    return Credential(
        kind,
        proof,
        valid_from,
        valid_until,
        _subjects(document["credentialSubject"], source),
        _context(document["@context"], source),
        _status(document, source),
        _identifier(document, source),
        _evidence(document, source),
    )


def check_time(credential: Credential, time: datetime, source: str = "") -> None:
    """Raise SignatureError (Y007) for a credential that is not valid at a time."""
    problem = time_refusal(credential, time)
    if problem is not None:
        raise SignatureError(problem, source=source)


def time_refusal(credential: Credential, time: datetime) -> Problem | None:
    """Return why a credential is not valid at a time (Y007), None if it is."""
    if credential.valid_from > time:
        return Problem("Y007", f"It is valid only from {_written(credential.valid_from)} on.")
    if credential.valid_until is not None and credential.valid_until <= time:
        return Problem("Y007", f"It was valid until {_written(credential.valid_until)}.")
    return None


def _subjects(value: Any, source: str) -> tuple[Mapping[str, Any], ...]:
    listed = value if isinstance(value, list) else [value]
    if not listed or not all(isinstance(one, dict) for one in listed):
        raise _unlike("its credentialSubject is neither an object nor a list of objects", source)
    return tuple(listed)


def _context(value: Any, source: str) -> Mapping[str, Any]:
    listed = value if isinstance(value, list) else []
    own = listed[1] if len(listed) == 2 else {}
    if listed[:1] != [CREDENTIALS] or len(listed) > 2 or not isinstance(own, dict):
        raise _unlike(f"its @context is not {CREDENTIALS} and then one of its own", source)
    return own


def _status(document: Mapping[str, Any], source: str) -> Mapping[str, Any] | None:
    if "credentialStatus" not in document:
        return None
    status = document["credentialStatus"]
    is_entry = isinstance(status, dict) and status.get("type") == _STATUS
    if not is_entry or not all(isinstance(one, str) for one in status.values()):
        raise _unlike(f"its credentialStatus is not one {_STATUS}", source)
    return dict(status)


def _identifier(document: Mapping[str, Any], source: str) -> str:
    identifier = document.get("id", "")
    if not isinstance(identifier, str):
        raise _unlike("its id is not text", source)
    return identifier


def _evidence(document: Mapping[str, Any], source: str) -> tuple[Mapping[str, str], ...]:
    if "evidence" not in document:
        return ()
    listed = document["evidence"]
    is_list = isinstance(listed, list) and bool(listed)
    if not is_list or not all(isinstance(one, dict) and "type" in one for one in listed):
        raise _unlike("its evidence is not a list of objects, each with a type", source)
    if not all(isinstance(text, str) for one in listed for text in one.values()):
        raise _unlike("its evidence has other values than texts", source)
    return tuple(listed)


def _written(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _unlike(reason: str, source: str) -> PolicyEngineError:
    message = f"The document is not a credential as it has to be: {reason}."
    return SignatureError.of("Y005", message, "", source)
