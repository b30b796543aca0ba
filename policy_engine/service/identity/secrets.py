"""Secrets that are given once and kept as digests."""

import hashlib
import hmac
import secrets

_BYTES = 32
_KEY_MARK = "pe"


def new_secret() -> str:
    """Return a secret of 256 bits, as text that a URL and a header can hold."""
    return secrets.token_urlsafe(_BYTES)


def digest_of(secret: str) -> str:
    """Return what is kept of a secret: of 256 random bits a plain hash tells nothing."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_same(first: str, second: str) -> bool:
    """Tell whether two texts are the same, in a time that does not depend on where they differ."""
    return hmac.compare_digest(first.encode(), second.encode())


def csrf_token(secret: str) -> str:
    """Return what a page of the service sends with changes: only who has the cookie can make it."""
    return hmac.digest(secret.encode(), b"csrf", "sha256").hex()


def new_key() -> tuple[str, str]:
    """Return the prefix of a new key, by which it is looked up and recognised, and the key."""
    prefix = secrets.token_hex(6)
    return prefix, f"{_KEY_MARK}_{prefix}_{new_secret()}"


def prefix_of(key: str) -> str:
    """Return the prefix of a key; empty where it is not one of ours."""
    parts = key.split("_", 2)
    is_ours = len(parts) == 3 and parts[0] == _KEY_MARK
    return parts[1] if is_ours else ""
