"""A list of one bit for each certificate: whether it was withdrawn (Bitstring Status List 1.0)."""

import base64
import binascii
import gzip
import io
import re
import zlib
from dataclasses import dataclass

LEAST_BITS = 131_072
"""A list is never shorter: which of its bits is looked at should tell little (section 6.1)."""
MOST_BITS = 2**23
_MULTIBASE = "u"
"""Base64url without padding, by the Multibase table."""
_ENCODED = re.compile(f"{_MULTIBASE}[A-Za-z0-9_-]+")
_LEVEL = 9


@dataclass(frozen=True, repr=False)
class StatusBits:
    """Bits in the order of their indexes, the first the highest of its byte."""

    content: bytes = bytes(LEAST_BITS // 8)

    def __len__(self) -> int:
        return len(self.content) * 8

    def __getitem__(self, index: int) -> bool:
        """Tell whether a bit is set. Raises IndexError for an index that the list does not have."""
        byte, place = _position(index, len(self))
        return bool(self.content[byte] >> (7 - place) & 1)

    def with_bit(self, index: int) -> "StatusBits":
        """Return the list with one more bit set. Raises IndexError as reading it does."""
        byte, place = _position(index, len(self))
        changed = bytearray(self.content)
        changed[byte] |= 1 << (7 - place)
        return StatusBits(bytes(changed))

    def encoded(self) -> str:
        """Return the list as a credential holds it (`encodedList`), the same text for the same
        bits: compressed by GZIP, in base64url after the letter of that in Multibase."""
        compressed = gzip.compress(self.content, _LEVEL, mtime=0)
        return _MULTIBASE + base64.urlsafe_b64encode(compressed).decode().rstrip("=")

    @classmethod
    def decoded(cls, text: str) -> "StatusBits":
        """Return the list that a credential holds.

        Raises ValueError, with the end of a sentence, where it is not one, is shorter than the
        specification allows, or longer than is ever read.
        """
        if not _ENCODED.fullmatch(text):
            raise ValueError("is not base64url in Multibase")
        try:
            compressed = base64.urlsafe_b64decode(text[1:] + "=" * (-len(text[1:]) % 4))
            with gzip.open(io.BytesIO(compressed)) as file:
                content = file.read(MOST_BITS // 8 + 1)
        except (binascii.Error, OSError, EOFError, zlib.error):
            raise ValueError("is not a compressed list") from None
        if not LEAST_BITS <= len(content) * 8 <= MOST_BITS:
            raise ValueError(f"does not have {LEAST_BITS:,} to {MOST_BITS:,} bits")
        return cls(content)


def _position(index: int, length: int) -> tuple[int, int]:
    """Return the byte of a bit and its place there. Raises IndexError."""
    if not 0 <= index < length:
        raise IndexError(f"the list has {length:,} bits")
    return divmod(index, 8)
