"""Whether the pages of a Parquet file hold the values of its rows and nothing else.

Readers take as many values from a page as its header counts, and leave what follows. Pages are
unpacked and counted by https://parquet.apache.org/docs/file-format/data-pages/encodings/; those by
differences (DELTA_*) and those packed by the old LZ4 or LZO are not looked into.
"""

from collections.abc import Callable, Iterator
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.parquet_footer import ChunkNotes, Page, content_of
from policy_engine.data.parquet_schema import LeafColumn
from policy_engine.engines.parquet_blooms import bloom_filter
from policy_engine.engines.parquet_frames import unpack

_DICTIONARY, _DATA_V2 = 2, 3
_CODECS = {0: "", 1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
WIDTHS = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8}
"""The bytes of the values of physical types; booleans are bits, texts have their lengths before
them, and fixed bytes the length of their type."""
_BOOLEAN, _INT32, _INT96, _TEXTS, _FIXED = 0, 1, 3, 6, 7
_NANOSECONDS, _FIRST_DAY = 86_400 * 10**9, 2_440_588
"""Those of a day, and the Julian day of 1 January 1970."""
_PLAIN, _PLAIN_DICTIONARY, _RLE, _RLE_DICTIONARY, _SPLIT = 0, 2, 3, 8, 9
Ints = NDArray[np.int64]


HasValues = Callable[[str, frozenset[bytes]], bool]


class _Content(NamedTuple):
    """The values of a page as they are laid out, how many are not missing, and in how many rows
    they begin."""

    data: bytes
    present: int
    rows: int = 0


def page_extras(file: IO[bytes], chunk: ChunkNotes, has_values: HasValues) -> Iterator[str]:
    """Yield what the pages of a column hold besides the values of its rows.

    A dictionary may be that of all row groups: `has_values` tells whether the column has some
    stored values. Raises ValueError or IndexError where pages are not laid out as they say.
    """
    if chunk.codec not in _CODECS:
        return
    name, used, entries, rows = chunk.path[0], set[int](), list[bytes](), 0
    stored: set[bytes] | None = set()
    for page in chunk.pages:
        content = _unpacked(file, chunk, page)
        indices, is_plain = None, True
        if page.kind == _DICTIONARY:
            values = _Content(content, page.head["num_values"])
            entries = [*_split(values, chunk.leaf)]
            are_values = _are_plain(values, chunk.leaf)
        else:
            values = _values_of(content, chunk.leaf, page)
            rows += values.rows
            indices = _indices(values, page, len(entries))
            is_plain = page.head["encoding"] == _PLAIN
            used.update(() if indices is None else np.unique(indices).tolist())
            are_values = indices is not None or _are_values(values, chunk.leaf, page)
        if chunk.bloom_filter and indices is None:
            is_split = is_plain and chunk.leaf.type != _BOOLEAN and stored is not None
            stored = {*(stored or ()), *_split(values, chunk.leaf)} if is_split else None
        if not are_values:
            yield f"bytes in the pages of {name!r} that are no values"
    if rows != chunk.rows:
        raise ValueError("other rows than those of the group")
    unused = frozenset(one for place, one in enumerate(entries) if place not in used)
    if max(used, default=-1) >= len(entries) or (unused and not has_values(name, unused)):
        yield f"values in the dictionary of {name!r} that no row has"
    if len({*entries}) < len(entries):
        yield f"values in the dictionary of {name!r} that are there twice"
    size = len(chunk.bloom_filter)
    if size and (stored is None or bloom_filter(stored, size) != chunk.bloom_filter):
        yield f"a Bloom filter of {name!r} with values that no row has"


def _split(values: _Content, leaf: LeafColumn) -> Iterator[bytes]:
    """Yield values one by one, as they are stored."""
    place, data = 0, values.data
    size = WIDTHS.get(leaf.type, leaf.width)
    for _ in range(values.present):
        if leaf.type == _TEXTS:
            size = int.from_bytes(data[place : place + 4], "little")
            place += 4
        yield data[place : place + size]
        place += size


def _unpacked(file: IO[bytes], chunk: ChunkNotes, page: Page) -> bytes:
    """Return the content of a page, unpacked; of the second version, with its levels before it."""
    content, codec = content_of(file, page), _CODECS[chunk.codec]
    levels = 0
    if page.kind == _DATA_V2:
        levels = page.head["definition_length"] + page.head["repetition_length"]
        codec = codec if page.head.get("is_compressed", True) else ""
    packed, size = content[levels:], page.unpacked - levels
    if codec and packed:
        packed = unpack(packed, size, codec)
    if len(packed) != size:
        raise ValueError("of another size")
    return content[:levels] + packed


def _values_of(content: bytes, leaf: LeafColumn, page: Page) -> _Content:
    """Return the values behind the levels of a page. Raises ValueError for other levels."""
    count, place = page.head["num_values"], 0
    present = rows = count
    for most, key in ((leaf.repeated, "repetition"), (leaf.missing, "definition")):
        if page.kind == _DATA_V2:
            size = page.head[f"{key}_length"]
        elif most:
            size = int.from_bytes(content[place : place + 4], "little")
            place += 4
        else:
            size = 0
        levels = content[place : place + size]
        place += size
        if len(levels) < size or (size and not most):
            raise ValueError("levels of nothing")
        if not most:
            continue
        depths, end = _hybrid(levels, count, most.bit_length())
        if end != len(levels):
            raise ValueError("bytes behind the levels")
        if key == "definition":
            present = int((depths == most).sum())
        else:
            rows = int((depths == 0).sum())
    # Some programs count missing values only where they write statistics.
    counts = (page.head.get("num_rows", rows), page.head.get("num_nulls", 0))
    if not leaf.repeated and counts not in ((rows, 0), (rows, count - present)):
        raise ValueError("counts of other rows")
    return _Content(content[place:], present, rows)


def _indices(values: _Content, page: Page, size: int) -> Ints | None:
    """Return the places of values in a dictionary of a size, None for a page without."""
    if page.head["encoding"] not in (_PLAIN_DICTIONARY, _RLE_DICTIONARY):
        return None
    if not values.present and not values.data:
        return np.zeros(0, np.int64)
    width = values.data[0]
    if width > max(size.bit_length(), 1):
        raise ValueError("places in a larger dictionary")
    indices, end = _hybrid(values.data[1:], values.present, width)
    if end + 1 != len(values.data):
        raise ValueError("bytes behind the places in a dictionary")
    return indices


def _are_values(values: _Content, leaf: LeafColumn, page: Page) -> bool:
    encoding = page.head["encoding"]
    if encoding == _SPLIT:
        parts = np.frombuffer(values.data, np.uint8).reshape(-1, max(values.present, 1))
        return _are_plain(_Content(parts.T.tobytes(), values.present), leaf)
    if encoding == _PLAIN:
        return _are_plain(values, leaf)
    if encoding == _RLE and leaf.type == _BOOLEAN:
        size = int.from_bytes(values.data[:4], "little")
        return _hybrid(values.data[4:], values.present, 1)[1] == size == len(values.data) - 4
    return True


def _are_plain(values: _Content, leaf: LeafColumn) -> bool:
    """Tell whether values fill their page, and whether their type has these numbers."""
    if _size_of_plain(leaf, values) != len(values.data):
        return False
    if leaf.type == _INT96:
        return _are_times(values)
    if leaf.type == _BOOLEAN:
        return not values.present % 8 or not values.data[-1] >> values.present % 8
    if leaf.type != _INT32 or leaf.bounds is None:
        return True
    numbers = np.frombuffer(values.data, "<i4")
    return bool(np.all((leaf.bounds[0] <= numbers) & (numbers <= leaf.bounds[1])))


def _are_times(values: _Content) -> bool:
    """Tell whether times are in the one form of their program: with nanoseconds of their day, which
    some count back before 1970, and with no more of them since then than 64 bits hold, since
    readers wrap round."""
    times = np.frombuffer(values.data, np.dtype([("nanoseconds", "<i8"), ("day", "<u4")]))
    nanoseconds, days = times["nanoseconds"], times["day"].astype(np.int64) - _FIRST_DAY
    least = np.where(days <= 0, 1 - _NANOSECONDS, 0)
    if not np.all((least <= nanoseconds) & (nanoseconds < _NANOSECONDS)):
        return False
    if (nanoseconds < 0).any() and ((days < 0) & (nanoseconds > 0)).any():
        return False
    total = days * _NANOSECONDS + nanoseconds
    return np.array_equal(total // _NANOSECONDS, days - (nanoseconds < 0))


def _size_of_plain(leaf: LeafColumn, values: _Content) -> int:
    """Return the bytes that so many values take."""
    if leaf.type == _BOOLEAN:
        return (values.present + 7) // 8
    if leaf.type != _TEXTS:
        width = leaf.width if leaf.type == _FIXED else WIDTHS[leaf.type]
        return values.present * width
    place, data = 0, values.data
    for _ in range(values.present):
        place += 4 + int.from_bytes(data[place : place + 4], "little")
    return place


def _hybrid(data: bytes, count: int, width: int) -> tuple[Ints, int]:
    """Return so many numbers of some bits, in runs or packed, and where they end."""
    values, place, number = [np.zeros(0, np.int64)], 0, 0
    while number < count:
        head, place = _varint(data, place)
        most = count - number if not head & 1 else count - number + _MOST_PADDED + 7
        if (head >> 1) * (8 if head & 1 else 1) > most:
            raise ValueError("more numbers than values")
        if head & 1:
            size = (head >> 1) * width
            packed = data[place : place + size]
            # Some programs leave out the zeros at the end of the last group.
            values.append(_unpack(packed.ljust(size, b"\0"), width, (head >> 1) * 8))
            place = min(place + size, len(data))
            number += (head >> 1) * 8
        else:
            size = (width + 7) // 8
            value = int.from_bytes(data[place : place + size], "little")
            values.append(np.full(head >> 1, value, np.int64))
            place, number = place + size, number + (head >> 1)
        if not head >> 1:
            raise ValueError("a run of nothing")
    numbers = np.concatenate(values)
    if number - count >= max(len(values[-1]), 1) or not _is_padding(numbers, count):
        raise ValueError("more numbers than values")
    return numbers[:count], place


def _is_padding(numbers: Ints, count: int) -> bool:
    """Tell whether what follows some numbers fills their last group: zeros, or, as some programs
    leave them there, numbers that came so far before."""
    extra = numbers[count:]
    if not extra.any():
        return len(extra) < _MOST_PADDED
    before = (numbers[count - far : len(numbers) - far] for far in range(1, min(count, _FAR) + 1))
    return any(np.array_equal(extra, one) for one in before)


_MOST_PADDED, _FAR = 504, 4096
"""How many numbers fill a group at most, and how far away those are that are left in it."""


def _unpack(packed: bytes, width: int, count: int) -> Ints:
    if not width:
        return np.zeros(count, np.int64)
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")
    rows = bits.reshape(count, width).astype(np.int64)
    return np.asarray(rows @ (np.int64(1) << np.arange(width, dtype=np.int64)))


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place
        if shift > 35:
            raise ValueError("a number that is too long")
