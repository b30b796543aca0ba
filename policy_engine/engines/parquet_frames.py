"""Whether what packs a page of a Parquet file holds the page alone.

Formats of compression have room for comments, for frames that readers skip, and for more that
follows: https://www.rfc-editor.org/rfc/rfc1952 (gzip), https://www.rfc-editor.org/rfc/rfc8878
(zstd). Snappy and LZ4 have none.
"""

import zlib

import pyarrow as pa

_ZSTD = b"\x28\xb5\x2f\xfd"
_SIZES = (0, 2, 4, 8)
_RLE = 1
_GZIP_HEAD = b"\x1f\x8b\x08" + bytes(5)
_GZIP_LEVELS, _GZIP_SYSTEMS = (0, 2, 4), (0, 3, 10, 19, 255)
"""What libraries say of how well they packed, and of the system: zlib on Unix, Windows and macOS, 0
or 255 the others."""


def unpack(packed: bytes, size: int, codec: str) -> bytes:
    """Return what packed data hold. Raises ValueError where they hold more, or are damaged."""
    try:
        content: bytes = pa.decompress(packed, size, codec, asbytes=True)
    except (OSError, pa.ArrowException):
        raise ValueError("not packed as said") from None
    if not _is_alone(packed, size, codec):
        raise ValueError("more than what is packed")
    return content


def _is_alone(packed: bytes, size: int, codec: str) -> bool:
    if codec == "gzip":
        is_plain = packed[8] in _GZIP_LEVELS and packed[9] in _GZIP_SYSTEMS
        return packed.startswith(_GZIP_HEAD) and is_plain and _is_one_member(packed)
    if codec == "zstd":
        return _zstd_end(packed) == len(packed)
    return codec != "brotli" or not _can_unpack(packed[:-1], size)


def _is_one_member(packed: bytes) -> bool:
    member = zlib.decompressobj(wbits=31)
    member.decompress(packed)
    return member.eof and not member.unused_data


def _can_unpack(packed: bytes, size: int) -> bool:
    """Tell whether data of Brotli are complete."""
    try:
        pa.decompress(packed, size, "brotli")
    except (OSError, pa.ArrowException):
        return False
    return True


def _zstd_end(packed: bytes) -> int:
    """Return where the first frame of Zstandard ends. Raises ValueError for other frames."""
    flags = packed[4]
    if packed[:4] != _ZSTD or flags & 0b11011:  # a dictionary, or bits without a meaning
        raise ValueError("no frame of data")
    is_single, has_sum = flags & 32, flags & 4
    place = 5 + (not is_single) + (_SIZES[flags >> 6] or bool(is_single))
    is_last = 0
    while not is_last:
        head = int.from_bytes(packed[place : place + 3], "little")
        is_last, kind, length = head & 1, head >> 1 & 3, head >> 3
        if place + 3 > len(packed) or (kind == _RLE and not length):
            raise ValueError("a block of nothing")
        place += 3 + (1 if kind == _RLE else length)
    return place + (4 if has_sum else 0)
