"""What every entry of a chain has: its number, the hash of the one before, and its own."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Kind = Literal["sha-256", "hmac-sha-256"]
Hash = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
START = "0" * 64
"""The previous hash of the first entry."""
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


class ChainRecord(BaseModel):
    """What an entry, or a part of one, is made of: only declared fields, and never changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class ChainEntry(ChainRecord):
    """An entry of a chain, with what binds it to the entry before it.

    `number` counts from 1, `previous` is the hash of the entry before, `logged` the clock's time of
    writing, in UTC. `hash` is the hash of the canonical JSON of everything else.
    """

    format: Literal[1] = 1
    chain: Kind
    number: Annotated[int, Field(ge=1)]
    previous: Hash
    logged: str
    hash: Hash = START

    def text(self) -> bytes:
        """Return the entry as it is stored: canonical JSON on one line, without the line end."""
        return canonical(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the entry as a JSON object."""
        return self.model_dump(exclude_none=True)

    def hashed_text(self) -> bytes:
        """Return the text that the hash is computed from."""
        return canonical(self.model_dump(exclude={"hash"}, exclude_none=True))


def canonical(value: Any) -> bytes:
    """Return the canonical JSON text of a value: keys sorted, no blanks, UTF-8, no NaN."""
    return _ENCODER.encode(value).encode()


def now() -> str:
    """Return the current time in the format of entries."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
