"""Public keys by the names that say them whole: Multikey, and did:key (Ed25519 alone)."""

import re
from dataclasses import dataclass
from functools import cached_property

from policy_engine.errors import PolicyEngineError, TrustError

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {letter: value for value, letter in enumerate(_ALPHABET)}
_ED25519 = b"\xed\x01"
"""The header of an Ed25519 public key: multicodec 0xed, as a varint."""
_DID = "did:key:"
_MULTIBASE = re.compile(r"z[1-9A-HJ-NP-Za-km-z]{1,128}", re.ASCII)
_PRIME = 2**255 - 19
_SMALL_ORDER = frozenset(
    {
        0,
        1,
        _PRIME - 1,
        2707385501144840649318225287225658788936804267575313519463743609750303402022,
        55188659117513257062467267217118295137698188065244968500265048394206261417927,
    }
)
"""The y of the eight points of small order: a signature under one says nothing of its message."""


@dataclass(frozen=True)
class PublicKey:
    """An Ed25519 public key: 32 bytes that encode a point (RFC 8032, section 5.1.2).

    Raises TrustError (Y003) for bytes that encode none in the one form it has, or a point of small
    order, under which one signature would do for many messages.
    """

    raw: bytes

    def __post_init__(self) -> None:
        y = int.from_bytes(self.raw, "little") & (2**255 - 1)
        if len(self.raw) != 32 or y >= _PRIME or y in _SMALL_ORDER:
            raise TrustError.of("Y003", "The bytes of the key are not those of an Ed25519 key.")

    @cached_property
    def multikey(self) -> str:
        """The key as a Multikey (W3C Controlled Identifiers 1.0, section 2.2.2)."""
        return f"z{base58(_ED25519 + self.raw)}"

    @cached_property
    def did(self) -> str:
        """The key as a did:key."""
        return f"{_DID}{self.multikey}"

    @cached_property
    def verification_method(self) -> str:
        """The name that proofs have for the key."""
        return f"{self.did}#{self.multikey}"

    def __str__(self) -> str:
        return self.did


def read_public_key(name: str) -> PublicKey:
    """Return the key that a Multikey, a did:key or a verification method of one names.

    Raises TrustError (Y003) where the name is none of these, is of another kind of key, or is not
    written in the one form that it has.
    """
    multikey = name.removeprefix(_DID)
    if "#" in multikey and multikey != name:
        multikey, _, fragment = multikey.partition("#")
        if fragment != multikey:
            raise _unknown(name)
    content = multibase(multikey)
    if content is None or not content.startswith(_ED25519):
        raise _unknown(name)
    try:
        return PublicKey(content.removeprefix(_ED25519))
    except TrustError:
        raise _unknown(name) from None


def _unknown(name: str) -> PolicyEngineError:
    message = f"{name!r:.120} is not the name of an Ed25519 key, as z6Mk... or did:key:z6Mk... are."
    return TrustError.of("Y003", message)


def base58(content: bytes) -> str:
    """Return bytes in base58btc."""
    number, letters = int.from_bytes(content, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        letters = _ALPHABET[digit] + letters
    return _ALPHABET[0] * (len(content) - len(content.lstrip(b"\0"))) + letters


def multibase(text: str) -> bytes | None:
    """Return the bytes of a base58btc text with its multibase prefix `z`; None for anything else.

    There is one text for any bytes: what would be written otherwise is not read.
    """
    if not _MULTIBASE.fullmatch(text):
        return None
    number = 0
    for letter in text[1:]:
        number = number * 58 + _DIGITS[letter]
    zeros = len(text) - 1 - len(text[1:].lstrip(_ALPHABET[0]))
    content = b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")
    return content if base58(content) == text[1:] else None
