"""Data Integrity proofs of JSON documents by the cryptosuite `eddsa-jcs-2022`."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, runtime_checkable

from policy_engine.errors import PolicyEngineError, SignatureError, TrustError
from policy_engine.trust.canonical_json import canonical_bytes
from policy_engine.trust.multikeys import PublicKey, base58, multibase, read_public_key

CRYPTOSUITE = "eddsa-jcs-2022"
CLOCK_TOLERANCE = timedelta(minutes=5)
"""How far the clock of who signed may be ahead of that of who verifies."""
_ORDER = 2**252 + 27742317777372353535851937790883648493
"""The order of the group (RFC 8032, section 5.1): a larger S is a second form of a signature."""
_NEEDED = {
    "type",
    "cryptosuite",
    "created",
    "verificationMethod",
    "proofPurpose",
    "proofValue",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


@runtime_checkable
class Signer(Protocol):
    """What signs: it has a public key, and the private one stays in it."""

    @property
    def public(self) -> PublicKey:
        """The public key."""

    def sign(self, message: bytes) -> bytes:
        """Return the Ed25519 signature of a message, of 64 bytes."""


@dataclass(frozen=True)
class Proof:
    """A proof that was verified: by which key, when that key's holder says it was made, and the
    signature as it is written."""

    key: PublicKey
    created: datetime
    value: str


def add_proof(document: Mapping[str, Any], signer: Signer, created: datetime) -> dict[str, Any]:
    """Return a document with a proof of it (W3C vc-di-eddsa, section 3.3.1).

    The proof is verified before it is returned: a broken device must not be found out by others.
    Raises TrustError (Y004) for what cannot be signed, SignatureError (Y006) for such a device.
    """
    unsecured = {name: value for name, value in document.items() if name != "proof"}
    options = {
        "type": "DataIntegrityProof",
        "cryptosuite": CRYPTOSUITE,
        "created": created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "verificationMethod": signer.public.verification_method,
        "proofPurpose": "assertionMethod",
    }
    if "@context" in unsecured:
        options["@context"] = unsecured["@context"]
    signature = signer.sign(hash_data(unsecured, options))
    _check_signature(signer.public, signature, hash_data(unsecured, options), "")
    return {**unsecured, "proof": {**options, "proofValue": f"z{base58(signature)}"}}


def hash_data(unsecured: Mapping[str, Any], options: Mapping[str, Any]) -> bytes:
    """Return what is signed (section 3.3.4): the sha-256 of the options, then of the document."""
    parts = (canonical_bytes(dict(options)), canonical_bytes(dict(unsecured)))
    return b"".join(hashlib.sha256(part).digest() for part in parts)


def verify_proof(
    document: Mapping[str, Any], source: str = "", now: datetime | None = None
) -> Proof:
    """Return the one proof of a document, once it holds (sections 3.3.2 and 3.3.6).

    Stricter than the specification: there is one proof, it has no other members than those that are
    checked here, its key is named by a did:key, and its signature has its one form.

    Raises SignatureError: Y005 for a document without such a proof, Y006 where the signature is not
    that of the document by that key, Y007 for a time in the future.
    """
    options = document.get("proof")
    if not isinstance(options, dict):
        raise _unlike("it has no proof" if options is None else "it has not one proof", source)
    _check_options(options, document, source)
    key = _key(options["verificationMethod"], source)
    created = read_time(options["created"])
    if created is None:
        raise _unlike("the time of its proof is not one with a time zone", source)
    signature = multibase(options["proofValue"])
    if signature is None or len(signature) != 64:
        raise _unlike("its signature is not 64 bytes in base58btc", source)
    unsecured = {name: value for name, value in document.items() if name != "proof"}
    stated = {name: value for name, value in options.items() if name != "proofValue"}
    try:
        message = hash_data(unsecured, stated)
    except TrustError as error:
        raise _unlike(error.problems[0].message, source) from None
    _check_signature(key, signature, message, source)
    if created > (now or datetime.now(UTC)) + CLOCK_TOLERANCE:
        message_text = f"The document was signed in the future, at {options['created']}."
        raise SignatureError.of("Y007", message_text, "Compare the clocks.", source)
    return Proof(key, created, options["proofValue"])


def read_time(text: object) -> datetime | None:
    """Return a time with its zone (xsd:dateTimeStamp); None for anything else."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _check_options(options: Mapping[str, Any], document: Mapping[str, Any], source: str) -> None:
    """Raise SignatureError (Y005) for the options of a proof that are not exactly those we make."""
    needed = _NEEDED | ({"@context"} if "@context" in document else set())
    if set(options) != needed:
        names = ", ".join(sorted(map(str, set(options) ^ needed)))
        raise _unlike(f"its proof lacks, or has beside the usual, {names[:200]}", source)
    texts = [options[name] for name in _NEEDED]
    if not all(isinstance(one, str) for one in texts):
        raise _unlike("a member of its proof is not text", source)
    if (options["type"], options["cryptosuite"]) != ("DataIntegrityProof", CRYPTOSUITE):
        raise _unlike(f"its proof is of another kind than {CRYPTOSUITE}", source)
    if options["proofPurpose"] != "assertionMethod":
        raise _unlike(f"its proof is for {options['proofPurpose']!r:.60}, not to assert", source)
    if "@context" in needed and options["@context"] != document["@context"]:
        raise _unlike("its proof is of another context", source)


def _key(method: str, source: str) -> PublicKey:
    try:
        key = read_public_key(method)
    except TrustError as error:
        raise SignatureError(*error.problems, source=source) from None
    if method != key.verification_method:
        raise _unlike(f"its key is not named as {key.verification_method!r}", source)
    return key


def _check_signature(key: PublicKey, signature: bytes, message: bytes, source: str) -> None:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 (slow to import)
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 (slow to import)

    holds = int.from_bytes(signature[32:], "little") < _ORDER
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(key.raw).verify(signature, message)
    except (InvalidSignature, ValueError):
        holds = False
    if not holds:
        message_text = f"The signature is not that of the document by {key.did}."
        hint = "The document was changed after it was signed, or another key signed it."
        raise SignatureError.of("Y006", message_text, hint, source)


def _unlike(reason: str, source: str) -> PolicyEngineError:
    message = f"The document is not signed as it has to be: {reason.removesuffix('.')}."
    return SignatureError.of("Y005", message, "", source)
