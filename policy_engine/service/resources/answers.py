"""Answers to calls that have a key, kept for a day: a call that is repeated is not done twice."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.files.keys import key_file
from policy_engine.service.store.answers import KeptAnswer
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database

LIFE = timedelta(hours=24)
_MOST_KEYS = 10_000
"""So many calls of one person are remembered at once."""
_LARGEST = 4 * 2**20
"""Bytes of an answer that is kept; of a larger one it is known that it was given."""
_NONCE = 12


@dataclass(frozen=True)
class Answer:
    """What a call was answered with."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class KeyedCall:
    """A call with a key: `of` is the digest of what it asks for."""

    person_id: str
    key: str
    of: str

    @property
    def digest(self) -> str:
        """What the call is found again by."""
        return hashlib.sha256(f"{self.person_id} {self.key}".encode()).hexdigest()


@dataclass(frozen=True)
class KeptAnswers:
    """The answers of the last 24 hours to calls with a key.

    They are encrypted by a key of the folder and that of the call: who reads the database alone
    learns none of them.
    """

    database: Database
    folder: Path

    def claim(self, call: KeyedCall) -> Answer | None:
        """Return the answer that a call was given before; None where it is to be answered now.

        Raises ServiceError: N011 for a key of another call, N004 for a call that is being answered,
        or was broken off, N006 for too many keys.
        """
        try:
            with self.database.writing() as session:
                session.execute(delete(KeptAnswer).where(KeptAnswer.created < now() - LIFE))
                row = session.get(KeptAnswer, call.digest)
                if row is not None:
                    return self._again(call, row)
                _check_room(session, call.person_id)
                row = KeptAnswer(digest=call.digest, person_id=call.person_id, call=call.of)
                session.add(row)
        except IntegrityError:  # another call came first
            raise _unfinished() from None
        return None

    def keep(
        self, call: KeyedCall, status: int, headers: Mapping[str, str], content: bytes | None
    ) -> None:
        """Keep the answer to a call that was claimed; without a content, only that it was given."""
        with self.database.writing() as session:
            row = session.get(KeptAnswer, call.digest)
            if row is not None:
                row.status, row.headers = status, dict(headers)
                row.content = None if content is None else self._sealed(call, content)

    def forget(self, call: KeyedCall) -> None:
        """Forget a call that was not carried out: it may be tried again by the same key."""
        with self.database.writing() as session:
            session.execute(delete(KeptAnswer).where(KeptAnswer.digest == call.digest))

    def _again(self, call: KeyedCall, row: KeptAnswer) -> Answer:
        if row.call != call.of:
            message = "The Idempotency-Key was used for another call within the last 24 hours."
            raise ServiceError.of("N011", message, "Take a new key for each call.")
        if row.status is None:
            raise _unfinished()
        return Answer(row.status, row.headers, self._opened(call, row.content))

    def _sealed(self, call: KeyedCall, content: bytes) -> bytes | None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        if len(content) > _LARGEST:
            return None
        nonce = secrets.token_bytes(_NONCE)
        return nonce + AESGCM(self._key(call)).encrypt(nonce, content, call.of.encode())

    def _opened(self, call: KeyedCall, sealed: bytes | None) -> bytes:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 (slow to import)
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        if sealed is None:
            message = "The call was answered, and the answer is not kept: it has data or a secret, "
            message += "or is large."
            raise ServiceError.of("N004", message, "To ask again, take a new Idempotency-Key.")
        nonce, content = sealed[:_NONCE], sealed[_NONCE:]
        try:
            return AESGCM(self._key(call)).decrypt(nonce, content, call.of.encode())
        except InvalidTag:
            message = "The call was answered by a service that has another key."
            raise ServiceError.of("N004", message, "Look at what it did.") from None

    def _key(self, call: KeyedCall) -> bytes:
        secret = key_file(self.folder, "answers").read_bytes()
        return hmac.digest(secret, f"{call.person_id} {call.key}".encode(), "sha256")


def _check_room(session: Session, person_id: str) -> None:
    own = select(func.count()).where(KeptAnswer.person_id == person_id)
    if (session.scalar(own) or 0) >= _MOST_KEYS:
        message = f"At most {_MOST_KEYS:,} of your calls are remembered at once."
        raise ServiceError.of("N006", message, "Send no Idempotency-Key with calls you can repeat.")


def _unfinished() -> PolicyEngineError:
    message = "A call with this Idempotency-Key is being answered, or was broken off."
    return ServiceError.of("N004", message, "Try again in a moment; then look at what it did.")
