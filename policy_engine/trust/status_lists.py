"""Status lists: which certificates an issuer withdrew, since when (Bitstring Status List 1.0)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import or_
from types import MappingProxyType
from typing import Any

from policy_engine.errors import PolicyEngineError, SignatureError
from policy_engine.trust.canonical_json import read_document
from policy_engine.trust.credentials import check_time, read_credential, sign_credential
from policy_engine.trust.multikeys import PublicKey
from policy_engine.trust.proofs import Signer, read_time
from policy_engine.trust.status_bits import StatusBits

KIND = "BitstringStatusListCredential"
ENTRY = "BitstringStatusListEntry"
_CONTEXT = {"pe": "https://w3id.org/policy-engine/ns#"}
_LIST, _PURPOSE = "BitstringStatusList", "revocation"
_NEEDED = {"id", "type", "statusPurpose", "encodedList"}
_ALLOTTED, _SINCE = "pe:allotted", "pe:withdrawn"
_INDEX = re.compile("0|[1-9][0-9]{0,6}", re.ASCII)
_NONE: Mapping[int, datetime] = MappingProxyType({})


@dataclass(frozen=True)
class StatusList:
    """The certificates of an issuer, by index: how many there are, and which were withdrawn.

    `name` is the IRI that certificates call the list by, `since` says for indexes when they were
    withdrawn. `key` signed the list at `signed`; None for one that nobody signed yet. After
    `valid_until`, if that is given, it says nothing of who was withdrawn since.
    """

    name: str
    bits: StatusBits = field(default_factory=StatusBits)
    allotted: int = 0
    since: Mapping[int, datetime] = field(default_factory=lambda: _NONE)
    key: PublicKey | None = None
    signed: datetime = datetime(1, 1, 1, tzinfo=UTC)
    valid_until: datetime | None = None

    def allot(self, count: int) -> tuple["StatusList", tuple[dict[str, str], ...]]:
        """Return the list with places for more certificates, and their entries (section 2.1).

        Raises SignatureError (Y014) where the list is full.
        """
        places = range(self.allotted, self.allotted + count)
        if places.stop > len(self.bits):
            message = f"The status list has {len(self.bits):,} places, and all of them are taken."
            raise SignatureError.of("Y014", message, "Begin another one.")
        return replace(self, allotted=places.stop), tuple(map(self._entry, places))

    def _entry(self, index: int) -> dict[str, str]:
        return {
            "id": f"{self.name}#{index}",
            "type": ENTRY,
            "statusPurpose": _PURPOSE,
            "statusListIndex": str(index),
            "statusListCredential": self.name,
        }

    def withdrawn(self, index: int) -> datetime | None:
        """Return since when a certificate is withdrawn, None where it is not.

        Raises IndexError for an index that the list does not have. Where the list does not say
        since when, it is since the list was signed.
        """
        return self.since.get(index, self.signed) if self.bits[index] else None

    def with_withdrawal(self, index: int, since: datetime) -> "StatusList":
        """Return the list with a certificate withdrawn; one that is stays so since it was."""
        if self.withdrawn(index) is not None:
            return self
        bits = self.bits.with_bit(index)
        return replace(self, bits=bits, since={**self.since, index: since})

    def joined(self, other: "StatusList") -> "StatusList":
        """Return the newer of two versions, with what is withdrawn by either: that never ends."""
        newer, older = (self, other) if self.signed >= other.signed else (other, self)
        longer = max(len(newer.bits.content), len(older.bits.content))
        contents = (one.bits.content.ljust(longer, b"\0") for one in (newer, older))
        bits = StatusBits(bytes(map(or_, *contents)))
        return replace(newer, bits=bits, since={**newer.since, **older.since})

    def signed_text(
        self, signer: Signer, time: datetime | None = None, valid_until: datetime | None = None
    ) -> str:
        """Return the list as a signed credential (section 2.2), which is what is published."""
        since = {str(index): f"{self.since[index]:%Y-%m-%dT%H:%M:%SZ}" for index in self.since}
        subject = {
            "id": f"{self.name}#list",
            "type": _LIST,
            "statusPurpose": _PURPOSE,
            "encodedList": self.bits.encoded(),
            _ALLOTTED: self.allotted,
            _SINCE: since,
        }
        document = sign_credential(
            KIND,
            [subject],
            signer,
            context=_CONTEXT,
            time=time,
            valid_until=valid_until,
            identifier=self.name,
        )
        return json.dumps(document, indent=2) + "\n"


def read_status_list(
    document: Mapping[str, Any], source: str = "", now: datetime | None = None
) -> StatusList:
    """Return a list whose proof holds, and that is valid now.

    Raises SignatureError: Y005 for another document, Y006 and Y007 as `verify_proof` does, and Y007
    for a list that is not valid yet, or any more: a certificate may have been withdrawn since.
    """
    credential = read_credential(document, KIND, source, now)
    check_time(credential, now or datetime.now(UTC), source)
    [subject, *others] = credential.subjects
    name = credential.identifier
    names = set(subject)
    is_list = (subject.get("type"), subject.get("statusPurpose")) == (_LIST, _PURPOSE)
    if others or not is_list or not _NEEDED <= names <= _NEEDED | {_ALLOTTED, _SINCE} or not name:
        raise _unlike("it has others members than a list of withdrawn certificates", source)
    try:
        bits = StatusBits.decoded(str(subject["encodedList"]))
    except ValueError as error:
        raise _unlike(f"its encodedList {error}", source) from None
    allotted = subject.get(_ALLOTTED, len(bits))
    if type(allotted) is not int or not 0 <= allotted <= len(bits):
        raise _unlike("the number of its certificates is not one", source)
    proof = credential.proof
    since = _since(subject.get(_SINCE, {}), source)
    until = credential.valid_until
    return StatusList(name, bits, allotted, since, proof.key, proof.created, until)


def load_status_list(text: str | bytes, source: str = "") -> StatusList:
    """Return the list in a text. Raises as `read_status_list` does."""
    return read_status_list(read_document(text, source), source)


def entry_index(entry: Mapping[str, Any]) -> int:
    """Return the index in a certificate's entry. Raises ValueError for one of another list."""
    index, purpose = str(entry.get("statusListIndex", "")), entry.get("statusPurpose")
    if purpose != _PURPOSE or not _INDEX.fullmatch(index):
        raise ValueError("its entry is not one of a list of withdrawn certificates")
    return int(index)


def _since(value: Any, source: str) -> Mapping[int, datetime]:
    if not isinstance(value, dict):
        raise _unlike("its times are not an object", source)
    times: Sequence[tuple[str, datetime | None]] = [(i, read_time(t)) for i, t in value.items()]
    if not all(_INDEX.fullmatch(index) and time is not None for index, time in times):
        raise _unlike("one of its times is not one", source)
    return {int(index): time for index, time in times if time is not None}


def _unlike(reason: str, source: str) -> PolicyEngineError:
    message = f"The document is not a status list as it has to be: {reason}."
    return SignatureError.of("Y005", message, "", source)
