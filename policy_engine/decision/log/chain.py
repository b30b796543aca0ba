"""How each entry is bound to the one before it, by a hash with or without a key."""

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from policy_engine.decision.log.entries import START, Entry, Kind, LoggedDeed, LogRecord, now
from policy_engine.decision.model import Decision
from policy_engine.engines import launching
from policy_engine.errors import DataError, OutputError

Key = str | Path | bytes | None
LEAST_KEY = 32
_NOT_UTF_8, _SNAPSHOT_PREFIX = b"\xff", b"\xfe"


@dataclass(frozen=True)
class Chain:
    """A chain of SHA-256, or of HMAC-SHA256 under a key (RFC 2104)."""

    key: bytes | None = field(default=None, repr=False)

    @property
    def kind(self) -> Kind:
        """The name of the chain in entries."""
        return "hmac-sha-256" if self.key else "sha-256"

    def hash(self, entry: Entry) -> str:
        """Return the hash that an entry should have."""
        return self.text_hash(entry.hashed_text())

    def text_hash(self, text: bytes) -> str:
        """Return the hash that an entry with this text should have."""
        if self.key is None:
            return hashlib.sha256(text).hexdigest()
        # Pseudonyms are HMACs of texts. The first byte, which no text begins with, keeps those who
        # can have values pseudonymised with the same key from having entries signed.
        return hmac.new(self.key, _NOT_UTF_8 + text, hashlib.sha256).hexdigest()

    def digest(self, text: bytes) -> str:
        """Return the digest, in hexadecimal, of what is stored beside a log."""
        if self.key is None:
            return hashlib.sha256(text).hexdigest()
        return hmac.new(self.key, _SNAPSHOT_PREFIX + text, hashlib.sha256).hexdigest()

    def next(self, last: Entry | None, content: Decision | LoggedDeed) -> Entry:
        """Return the entry for a content after the last entry. Raises as `following` does."""
        number, own_hash = (last.number, last.hash) if last else (0, START)
        return self.following(number, own_hash, content)

    def following(self, number: int, previous: str, content: Decision | LoggedDeed) -> Entry:
        """Return the entry for a decision or a duty event after the entry of that number and hash.

        Raises OutputError (O002) if the content cannot be encoded as UTF-8.
        """
        try:
            entry = Entry(
                chain=self.kind,
                number=number + 1,
                previous=previous,
                logged=now(),
                decision=LogRecord.from_decision(content)
                if isinstance(content, Decision)
                else None,
                deed=content if isinstance(content, LoggedDeed) else None,
            )
            return entry.model_copy(update={"hash": self.hash(entry)})
        except (ValidationError, UnicodeEncodeError):
            message = "The entry cannot be logged: a name in it cannot be encoded as UTF-8."
            raise OutputError.of("O002", message) from None

    def entry_faults(self, entry: Entry) -> Iterator[str]:
        """Yield the problems of a single entry."""
        if entry.chain != self.kind:
            yield f"its chain is {entry.chain!r}, but {self.kind!r} is expected"
        elif self.hash(entry) != entry.hash:
            other_key = ", or was made with another key" if self.key else ""
            yield f"it was changed{other_key}: its hash does not match its content"


def read_key(source: Key) -> bytes | None:
    """Return the key of a chain: the given bytes, or a file's content; of a text, without the
    blanks around it.

    Only an explicit key counts. The environment's key is for pseudonyms: an auditor who checks a
    log must not be able to look those up. Raises DataError (C013) if the key is missing or too
    short.
    """
    if source is None:
        return None

    key = launching.read_key(source) or b""
    if len(key) < LEAST_KEY:
        message = f"The key has {len(key)} bytes. A key has at least {LEAST_KEY}."
        raise DataError.of("C013", message, "Make one: openssl rand -hex 32 > key.")
    return key
