"""The signed form of a certificate or an attestation: a credential whose subject it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from policy_engine.errors import CertificateError, SignatureError
from policy_engine.trust.credentials import Credential, read_credential, sign_credential
from policy_engine.trust.proofs import Signer

KIND = "pe:ReleaseCertificate"
ATTESTED = "pe:OutputAttestation"
"""The type of the credential of an attestation: no certificate is read as one, nor the reverse."""
_SUBJECT, _CONTEXT = "credentialSubject", "@context"


@dataclass(frozen=True)
class Signature:
    """What a signed certificate, or attestation, has around its facts, and the credential that it
    is.

    Its proof held when it was signed or read. Whether the key is trusted for it is another
    question, and whether the facts are still those that were signed as well: `to_jsonld` writes
    what readers will verify again.
    """

    envelope: Mapping[str, Any]
    credential: Credential

    def around(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """Return the credential as a whole, about what is written of the certificate."""
        facts = {name: value for name, value in written.items() if name != _CONTEXT}
        proof = {"proof": self.envelope["proof"]}
        before = {name: value for name, value in self.envelope.items() if name != "proof"}
        return {**before, _SUBJECT: facts, **proof}


def sign_written(
    written: Mapping[str, Any],
    signer: Signer,
    valid_until: datetime | None = None,
    status: Mapping[str, Any] | None = None,
    evidence: Sequence[Mapping[str, str]] = (),
    kind: str = KIND,
) -> Signature:
    """Return the signature of what is written of a certificate, or of another `kind`.

    `status` is the entry of a status list by which it can be withdrawn, `evidence` what the issuer
    relied on, such as the signature of the policy. Raises TrustError (Y004)
    for a certificate that has no canonical form.
    """
    facts = {name: value for name, value in written.items() if name != _CONTEXT}
    document = sign_credential(
        kind,
        [facts],
        signer,
        context=written[_CONTEXT],
        valid_until=valid_until,
        status=status,
        evidence=evidence,
    )
    return _signature(document, kind)


def unwrap(document: Any, source: str = "", kind: str = KIND) -> tuple[Any, Signature | None]:
    """Return what the document of a certificate, or of another `kind`, says, and its signature,
    None where it has none.

    Raises CertificateError (Y003, Y005, Y006, Y007) where it is signed and its proof does not hold.
    """
    if not isinstance(document, dict) or not {_SUBJECT, "proof", "issuer"} & document.keys():
        return document, None
    try:
        signature = _signature(document, kind)
    except SignatureError as error:
        raise CertificateError(*error.problems, source=source) from None
    subjects = signature.credential.subjects
    if len(subjects) != 1 or _CONTEXT in subjects[0]:
        message = "The document is signed, and is not about one output."
        raise CertificateError.of("Y005", message, source=source)
    return {_CONTEXT: signature.credential.context, **subjects[0]}, signature


def _signature(document: Mapping[str, Any], kind: str) -> Signature:
    credential = read_credential(document, kind)
    envelope = {name: value for name, value in document.items() if name != _SUBJECT}
    return Signature(envelope, credential)


def named_file(document: Any) -> object:
    """Return the file that a document names in the way of a certificate, signed or not, whether or
    not it is one. Raises KeyError and TypeError where it names none."""
    facts = document.get(_SUBJECT, document)
    return facts["pe:certificate"]["file"]
