"""The file of an audit trail, and the signature of its list."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from policy_engine.decision.package import Package
from policy_engine.errors import SignatureError
from policy_engine.trust.canonical_json import read_document
from policy_engine.trust.credentials import Credential, read_credential, sign_credential
from policy_engine.trust.proofs import Signer

KIND = "pe:AuditTrail"
_CONTEXT = {"pe": "https://w3id.org/policy-engine/ns#"}
_DIGEST = "pe:sha256"


@dataclass(frozen=True)
class AuditTrail(Package):
    """Policies with what they are read with, certificates, and chains of entries.

    A `log` or `ledger` is a file of lines, an entry each, as it was chained; a `signature` is of
    policies, a `status` a status list or a statement that a certificate was withdrawn, a `trust` a
    trust file.
    """

    noun: ClassVar[str] = "audit trail"
    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            "policy",
            "parent",
            "vocabulary",
            "context",
            "certificate",
            "attestation",
            "signature",
            "status",
            "trust",
            "log",
            "ledger",
        }
    )
    single: ClassVar[frozenset[str]] = kinds - {"policy", "parent", "vocabulary"}
    signature_file: ClassVar[str] = "signature.json"

    def signed(self, signer: Signer, time: datetime | None = None) -> "AuditTrail":
        """Return the trail with a credential of who packed it, about the sha-256 of its list."""
        subject = {_DIGEST: self.digest}
        document = sign_credential(KIND, [subject], signer, context=_CONTEXT, time=time)
        return replace(self, signature=(json.dumps(document, indent=1) + "\n").encode())

    def credential(self, now: datetime | None = None) -> Credential | None:
        """Return the signature, once it is known to be that of this trail; None without one.

        Raises SignatureError: Y003 and Y005 to Y007 where it is none, Y011 where it is of another.
        """
        if not self.signature:
            return None
        document = read_document(self.signature, self.signature_file)
        credential = read_credential(document, KIND, self.signature_file, now)
        if [dict(one) for one in credential.subjects] != [{_DIGEST: self.digest}]:
            message = "The signature is that of another audit trail."
            raise SignatureError.of("Y011", message, source=self.signature_file)
        return credential
