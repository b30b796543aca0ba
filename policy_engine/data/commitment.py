"""A commitment to what is not released: it binds who makes it, and tells nobody anything."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Hexadecimal = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""32 bytes as 64 hexadecimal digits: a SHA-256, an HMAC of it, or a nonce."""

Scheme = Literal["pe-record-1-hmac-sha256"]
_DOMAIN = b"policy-engine record 1\n"


class Commitment(BaseModel):
    """A value that only whoever has the nonce can compute, and only for the facts committed to.

    Under the scheme `pe-record-1-hmac-sha256` it is the HMAC-SHA256 (RFC 2104), with a nonce of
    32 random bytes for its key, of the line `policy-engine record 1` and the facts as JSON:
    ASCII, without blanks, the keys of every object sorted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    scheme: Scheme = "pe-record-1-hmac-sha256"
    value: Hexadecimal

    @classmethod
    def make(cls, facts: Mapping[str, Any], nonce: str) -> "Commitment":
        """Return the commitment to facts, under a nonce in hexadecimal digits."""
        text = json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()
        return cls(value=hmac.new(bytes.fromhex(nonce), _DOMAIN + text, hashlib.sha256).hexdigest())

    def matches(self, facts: Mapping[str, Any], nonce: str) -> bool:
        """Tell whether facts and a nonce are those that were committed to."""
        return hmac.compare_digest(self.value, Commitment.make(facts, nonce).value)


def new_nonce() -> str:
    """Return 32 bytes of the system's randomness, as hexadecimal digits."""
    return secrets.token_hex(32)
