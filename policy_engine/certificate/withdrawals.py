"""What was withdrawn: statements about outputs, and status lists of certificates."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.data import storage
from policy_engine.data.storage import Location, read_errors
from policy_engine.errors import PolicyEngineError, Problem, SignatureError
from policy_engine.release.staging import WITHDRAWAL
from policy_engine.trust.canonical_json import read_document
from policy_engine.trust.credentials import read_credential, sign_credential
from policy_engine.trust.multikeys import PublicKey
from policy_engine.trust.proofs import Signer, read_time
from policy_engine.trust.status_lists import KIND as LIST_KIND
from policy_engine.trust.status_lists import StatusList, entry_index, read_status_list
from policy_engine.trust.trust_file import Trust

KIND = "pe:Withdrawal"
_CONTEXT = {"pe": "https://w3id.org/policy-engine/ns#"}
_MEMBERS = {"id", "pe:sha256", "pe:since", "pe:reason"}
_NO_LISTS: Mapping[str, StatusList] = MappingProxyType({})


@dataclass(frozen=True)
class WithdrawalStatement:
    """That an output was withdrawn, signed by somebody."""

    asset: str
    output_digest: str
    since: datetime
    reason: str
    key: PublicKey

    def is_of(self, proof: Proof) -> bool:
        """Tell whether it is about the output of a certificate or an attestation."""
        return (self.asset, self.output_digest) == (proof_asset(proof), proof.output_digest)


def sign_withdrawal(
    certificate: Certificate, reason: str, signer: Signer, since: datetime | None = None
) -> str:
    """Return the statement that the output of a certificate is withdrawn, as a credential."""
    moment = since or datetime.now(UTC)
    subject = {
        "id": certificate.plan.publish.asset,
        "pe:sha256": certificate.output_digest,
        "pe:since": f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "pe:reason": reason,
    }
    document = sign_credential(KIND, [subject], signer, context=_CONTEXT, time=moment)
    return json.dumps(document, indent=2) + "\n"


@dataclass(frozen=True)
class Withdrawals:
    """Statements, and status lists by their names, that somebody who decides has been given."""

    statements: tuple[WithdrawalStatement, ...] = ()
    lists: Mapping[str, StatusList] = field(default_factory=lambda: _NO_LISTS)

    def joined(self, statements: Iterable[WithdrawalStatement]) -> "Withdrawals":
        """Return the same with more statements."""
        return Withdrawals((*self.statements, *statements), self.lists)

    def merged(self, other: "Withdrawals") -> "Withdrawals":
        """Return what either says was withdrawn. Raises SignatureError (Y014) for two status lists
        of one name by different keys."""
        lists = dict(self.lists)
        for name, status in other.lists.items():
            lists[name] = _versions(lists.get(name, status), status)
        return Withdrawals((*self.statements, *other.statements), lists)

    def withdrawn(self, proof: Proof, trust: Trust | None, now: datetime) -> datetime | None:
        """Return since when an output is withdrawn; None where it is not, as far as can be said.

        A withdrawal counts from the moment that it is known, whatever time is asked about. Raises
        SignatureError (Y014) where it has an entry in a status list that was not given, is not
        signed by a key that may, or has no such entry: it may have been withdrawn. Where a
        statement says that it was, that is known without the list.
        """
        times = [one.since for one in self.statements if one.is_of(proof)]
        try:
            listed = self._listed(proof, trust, now)
        except SignatureError:
            if not times:
                raise
            listed = None
        return min([*times, *([listed] if listed else [])], default=None)

    def _listed(self, proof: Proof, trust: Trust | None, now: datetime) -> datetime | None:
        signature = proof.signature
        entry = signature.credential.status if signature else None
        if entry is None or signature is None:
            return None
        name = str(entry.get("statusListCredential", ""))
        status = self.lists.get(name)
        if status is None or status.key is None:
            if trust is None and not self.lists:
                return None  # nobody looks at status lists here
            raise _unknown(proof, f"its status list {name!r:.200} was not given", "Give it.")
        if status.valid_until is not None and status.valid_until <= now:
            raise _unknown(proof, "its status list is not valid any more", "Fetch it again.")
        issuer = signature.credential.proof.key
        if status.key != issuer and not _may_sign(status, proof, trust, now):
            raise _unknown(proof, f"its status list is signed by {status.key.did}, which may not")
        try:
            return status.withdrawn(entry_index(entry))
        except (IndexError, ValueError) as error:
            raise _unknown(proof, f"{error}") from None


def _may_sign(status: StatusList, proof: Proof, trust: Trust | None, now: datetime) -> bool:
    if trust is None or status.key is None:
        return False
    # An attestation does not say what its output was made from.
    datasets = [one.asset for one in proof.plan.reads] if isinstance(proof, Certificate) else []
    asset = proof_asset(proof)
    return trust.certificate_refusal(status.key, status.signed, asset, datasets, now) is None


def _unknown(proof: Proof, reason: str, hint: str = "") -> PolicyEngineError:
    message = f"Whether {proof_asset(proof)} was withdrawn is not known: {reason}."
    return SignatureError.of("Y014", message, hint)


def withdrawal_problem(proof: Proof, since: datetime) -> Problem:
    """Return why a withdrawn output counts for nothing."""
    message = f"{proof_asset(proof)} is withdrawn since {since:%Y-%m-%dT%H:%M:%SZ}."
    return Problem("Y015", message)


def read_statements(
    texts: Iterable[tuple[str, bytes]], now: datetime | None = None
) -> Iterator[WithdrawalStatement]:
    """Yield the statements in texts, by their sources: a status list is one that somebody named,
    and never one that lies in a folder. Raises SignatureError as `read_withdrawals` does."""
    for source, text in texts:
        yield read_statement(read_document(text, source), source, now)


def read_withdrawals(
    texts: Iterable[tuple[str, bytes]], now: datetime | None = None
) -> Withdrawals:
    """Return what texts say was withdrawn: statements and status lists, by their sources.

    Raises SignatureError: Y003 and Y005 to Y007 for another text, one whose proof does not hold, or
    a status list that is not valid now; Y014 for two lists of one name by different keys. What one
    of several versions by one key says was withdrawn, was.
    """
    statements, lists = list[WithdrawalStatement](), dict[str, StatusList]()
    for source, text in texts:
        document = read_document(text, source)
        if document.get("type") == ["VerifiableCredential", LIST_KIND]:
            one = read_status_list(document, source, now)
            lists[one.name] = _versions(lists.get(one.name, one), one, source)
        else:
            statements.append(read_statement(document, source, now))
    return Withdrawals(tuple(statements), lists)


def _versions(one: StatusList, other: StatusList, source: str = "") -> StatusList:
    """Return two versions of a list as one; Y014 where they are by different keys."""
    if other.key != one.key:
        message = f"Two status lists are called {one.name!r:.200}, by different keys."
        raise SignatureError.of("Y014", message, source=source)
    return other.joined(one)


def read_statement(
    document: Mapping[str, Any], source: str = "", now: datetime | None = None
) -> WithdrawalStatement:
    """Return the statement in a document. Raises SignatureError as `read_withdrawals` does."""
    credential = read_credential(document, KIND, source, now)
    [subject, *others] = credential.subjects
    since = read_time(subject.get("pe:since"))
    texts: Sequence[object] = [subject.get(name) for name in sorted(_MEMBERS)]
    if others or set(subject) != _MEMBERS or since is None or not _are_texts(texts):
        message = "The document does not say which output was withdrawn, since when and why."
        raise SignatureError.of("Y005", message, source=source)
    named = str(subject["id"]), str(subject["pe:sha256"])
    return WithdrawalStatement(*named, since, str(subject["pe:reason"]), credential.proof.key)


def _are_texts(values: Sequence[object]) -> bool:
    return all(isinstance(one, str) for one in values)


def statements_beside(location: Location) -> Iterator[tuple[str, bytes]]:
    """Yield the statements beside certificates, each with its source.

    They are in the folder at a location, and in that of what is there: an output may be a folder
    itself. Raises DataError (C003) where one cannot be read.
    """
    with read_errors(location):
        folders = [storage.parent(location)]
        folders += [location] if storage.is_folder(location) else []
        for folder in folders:
            names = storage.names(folder) if storage.is_folder(folder) else ()
            for name in names:
                if name.endswith(WITHDRAWAL):
                    place = storage.join(folder, name)
                    yield str(place), storage.read_bytes(place)
