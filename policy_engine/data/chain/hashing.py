"""How each entry is bound to the one before it, by a hash with or without a key."""

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field

from policy_engine.data.chain.entries import ChainEntry, Kind

_NOT_UTF_8, _SNAPSHOT_PREFIX = b"\xff", b"\xfe"


@dataclass(frozen=True)
class HashChain:
    """A chain of SHA-256, or of HMAC-SHA256 under a key (RFC 2104)."""

    key: bytes | None = field(default=None, repr=False)

    @property
    def kind(self) -> Kind:
        """The name of the chain in entries."""
        return "hmac-sha-256" if self.key else "sha-256"

    def hash(self, entry: ChainEntry) -> str:
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
        """Return the digest, in hexadecimal, of what is stored beside the entries."""
        if self.key is None:
            return hashlib.sha256(text).hexdigest()
        return hmac.new(self.key, _SNAPSHOT_PREFIX + text, hashlib.sha256).hexdigest()

    def entry_faults(self, entry: ChainEntry) -> Iterator[str]:
        """Yield the problems of a single entry."""
        if entry.chain != self.kind:
            yield f"its chain is {entry.chain!r}, but {self.kind!r} is expected"
        elif self.hash(entry) != entry.hash:
            other_key = ", or was made with another key" if self.key else ""
            yield f"it was changed{other_key}: its hash does not match its content"
