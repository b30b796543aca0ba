"""Attestations: a person's statement about an output that no engine can certify."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator

from policy_engine import terms
from policy_engine.certificate.signature import ATTESTED, Signature, sign_written, unwrap
from policy_engine.data import storage
from policy_engine.data.storage import Location
from policy_engine.errors import CertificateError, DataError, PolicyError, RequestError, join_names
from policy_engine.policy import Policy, Rule
from policy_engine.policy.attestable import attestable
from policy_engine.policy.syntax.json_text import read_json
from policy_engine.trust.proofs import Signer

KEY = "pe:attestation"
ATTESTATION = ".attestation.json"
"""The suffix of an attestation's file name, after the name of the output."""
_CONTEXT: Mapping[str, Any] = MappingProxyType(
    {
        "prov": "http://www.w3.org/ns/prov#",
        "pe": "https://w3id.org/policy-engine/ns#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "generatedAtTime": {"@id": "prov:generatedAtTime", "@type": "xsd:dateTime"},
        KEY: {"@type": "@json"},
    }
)


class Attestation(BaseModel):
    """A person's statement that an output is what its policy asks for; nothing is measured.

    It has the digests of the policy and of the output, like a certificate, so that neither can be
    changed unnoticed; `file` is the name of the output's file. `by` is the person, and `evidence`
    what the statement is based on. `signature` is by whose key it is signed, None where nobody
    signed it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    policy: str
    policy_digest: str
    asset: str
    actions: tuple[str, ...]
    file: str = ""
    output_digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    by: str
    evidence: str = ""
    time: datetime
    _signature: Signature | None = PrivateAttr(default=None)

    @field_validator("time")
    @classmethod
    def _was(cls, time: datetime) -> datetime:
        if time.tzinfo is None or time > datetime.now(UTC):
            raise ValueError("the time has no zone, or is in the future")
        return time

    @property
    def signature(self) -> Signature | None:
        """The signature, with everything that is signed around the statement."""
        return self._signature

    def signed(self, signer: Signer, *, valid_until: datetime | None = None) -> "Attestation":
        """Return the attestation as a credential of who signs (W3C VC Data Model 2.0).

        It is valid from now on, until `valid_until` if that is given. Raises TrustError (Y004)
        where it cannot be signed.
        """
        return self._with_signature(
            sign_written(self._written(), signer, valid_until, kind=ATTESTED)
        )

    def _with_signature(self, signature: Signature) -> "Attestation":
        other = self.model_copy()
        other._signature = signature  # noqa: SLF001 (of the copy)
        return other

    def to_jsonld(self) -> str:
        """Return the attestation as JSON-LD, in the terms of PROV-O where it has them; a signed one
        as a Verifiable Credential."""
        written = self._written()
        whole = written if self._signature is None else self._signature.around(written)
        return json.dumps(whole, indent=2) + "\n"

    def _written(self) -> dict[str, Any]:
        return {
            "@context": dict(_CONTEXT),
            "@id": self.asset,
            "@type": "prov:Entity",
            "prov:wasAttributedTo": {"@id": self.by},
            "generatedAtTime": self.time.isoformat(),
            KEY: self.model_dump(mode="json"),
        }

    def summary(self) -> str:
        """Return a sentence for a derivation, with the person's name: nothing was measured."""
        evidence = f" by {self.evidence!r}" if self.evidence else ""
        return (
            f"attested by {self.by}{evidence}, and not certified; output sha-256 "
            f"{self.output_digest}"
        )


def attest(
    policy: Policy, output: Location, by: str, *, asset: str = "", evidence: str = ""
) -> Attestation:
    """Return a person's attestation that a file or folder is an output of a policy.

    `asset` names the output if several of the policy can be attested. Raises CertificateError
    (V012) for an output that is certified instead, or that the policy does not have, RequestError
    (D001) for a person that is not an IRI, DataError if the output cannot be read.
    """
    if not terms.has_known_scheme(by) or terms.name_problem(by):
        message = f"The person who attests must be named by an IRI. Given: {by!r}."
        raise RequestError.of("D001", message)
    rule = _rule(policy, asset)
    with storage.read_errors(output):
        digest = storage.digest(output)
    return Attestation(
        policy=policy.uid,
        policy_digest=policy.digest,
        asset=rule.output,
        actions=tuple(action.iri for action in rule.actions),
        file=storage.name(output),
        output_digest=digest,
        by=terms.canonical(by),
        evidence=evidence,
        time=datetime.now(UTC),
    )


def read_attestation(text: str | bytes, source: str = "") -> Attestation:
    """Read an attestation, signed or not. Raises CertificateError (V005) if the text is not one,
    and as `unwrap` does if it is signed and its proof does not hold."""
    try:
        document = read_json(text)
        value, signature = unwrap(document.value, source, ATTESTED)
        attestation = Attestation.model_validate_json(json.dumps(value[KEY]))
    except (ValueError, KeyError, TypeError, PolicyError) as error:
        message = f"The text is not an attestation of this version ({type(error).__name__})."
        raise CertificateError.of("V005", message, source=source) from None
    if document.problems or json.loads(attestation.to_jsonld()) != value:
        message = "The attestation contradicts itself, or has fields that attestations do not have."
        raise CertificateError.of("V005", message, source=source)
    return attestation if signature is None else attestation._with_signature(signature)  # noqa: SLF001


def is_attested(output: Location) -> bool:
    """Tell whether the attestation of an output is where `attest` writes it: beside it."""
    name = f"{storage.name(output)}{ATTESTATION}"
    return storage.is_taken(storage.join(storage.parent(output), name))


def load_attestation(path: Path) -> Attestation | None:
    """Read a file; None if there is none or it says that it is something else.

    Raises CertificateError: V005 for a broken attestation, V004 if the file beside it is not the
    attested one.
    """
    try:
        text = path.read_bytes() if path.is_file() else b""
    except OSError as error:
        message = f"The attestation cannot be read: {error.strerror or error}."
        raise DataError.of("C003", message, source=str(path)) from None
    if f'"{KEY}": {{'.encode() not in text:
        return None
    attestation = read_attestation(text, str(path))
    output = path.with_name(attestation.file) if attestation.file else path
    if output != path and output.exists():
        check_attested([attestation], storage.digest(output), str(output))
    return attestation


def check_attested(attestations: list[Attestation], digest: str, source: str) -> None:
    """Raise CertificateError (V004) for an output that none of the attestations is for."""
    if all(one.output_digest != digest for one in attestations):
        message = f"It is not the output that was attested: its sha-256 is {digest}."
        raise CertificateError.of("V004", message, source=source)


def _rule(policy: Policy, asset: str) -> Rule:
    outputs = attestable(policy)
    name = terms.canonical(asset) if asset else ""
    if len(outputs) == 1 and not name:
        return next(iter(outputs.values()))
    if name in outputs:
        return outputs[name]
    if not outputs:
        problem = (
            f"no output{f' {asset!r}' if asset else ''} to attest, nor any that can be attested"
        )
    else:
        problem = f"no output {asset!r} to attest" if asset else "several outputs to attest"
    message = (
        f"{policy.uid} has {problem}.{f' Allowed are {join_names(outputs)}.' if outputs else ''}"
    )
    hint = "Anonymised data and trained models are certified when they are made, never attested."
    raise CertificateError.of("V012", message, hint)
