"""What is written in a Parquet file around its values: pages, indexes, statistics, who wrote it.

Read by the compact protocol of Thrift and the structures of parquet-format, since Arrow tells only
some of it: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

_MAGIC = b"PAR1"
_HEADER = 1 << 16
"""Bytes that are read for the header of a page, and doubled until it is complete."""
_LARGEST = 1 << 24
Fields = dict[int, Any]
"""The fields of a structure by their numbers: integers, bytes, lists, and structures again."""


@dataclass(frozen=True)
class ChunkNotes:
    """What is written about one column of one row group: the values that its statistics, those of
    its pages and its index name, as they are stored."""

    path: tuple[str, ...]
    row_group: int
    named: frozenset[bytes] = field(repr=False)


@dataclass(frozen=True)
class FileNotes:
    """What is written in a file besides its values; `unknown` bytes belong to no part of it."""

    created_by: str
    unknown: int
    chunks: tuple[ChunkNotes, ...]


def read_notes(path: Path) -> FileNotes:
    """Return what a Parquet file holds around its values.

    Raises ValueError, struct.error or IndexError where it is not laid out as parquet-format says.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 8, 0))
        length, magic = struct.unpack("<I4s", file.read(8))
        if magic != _MAGIC or length + 12 > size:
            raise ValueError("not a Parquet file")
        file.seek(size - 8 - length)
        footer = file.read(length)
        reader = _Compact(footer)
        meta = reader.struct()
        parts = [(0, 4), (size - 8 - length, size - 8 - length + reader.place), (size - 8, size)]
        chunks = []
        for number, group in enumerate(meta.get(4, [])):
            for column in group[1]:
                notes, used = _chunk(file, column, number)
                chunks.append(notes)
                parts += used
    created = meta.get(6, b"").decode("utf-8", "replace")
    return FileNotes(created, size - _covered(parts), tuple(chunks))


def _covered(parts: list[tuple[int, int]]) -> int:
    """Return how many bytes some parts of a file cover together."""
    covered = end = 0
    for start, stop in sorted(parts):
        covered += max(stop - max(start, end), 0)
        end = max(end, stop)
    return covered


def _chunk(file: IO[bytes], column: Fields, group: int) -> tuple[ChunkNotes, list[tuple[int, int]]]:
    """Return what is written about a column chunk, and the parts of the file that are its own."""
    meta: Fields = column[3]
    named = [*_statistics(meta.get(12, {}))]
    starts = [meta[one] for one in (9, 10, 11) if meta.get(one)]
    start, stop = min(starts), min(starts) + meta[7]
    parts = []
    place = start
    while place < stop:
        header, length = _structure_at(file, place)
        parts.append((place, place + length + header[3]))
        place += length + header[3]
        for kind in (5, 8):
            named += _statistics(header.get(kind, {}).get(5 if kind == 5 else 8, {}))
    for offset, size in ((4, 5), (6, 7)):
        if column.get(offset):
            metadata, length = _structure_at(file, column[offset])
            parts.append((column[offset], column[offset] + min(length, column[size])))
            if offset == 6:
                named += [one for field_ in (2, 3) for one in metadata.get(field_, [])]
    if meta.get(14):
        header, length = _structure_at(file, meta[14])
        parts.append((meta[14], meta[14] + length + header[1]))
    path = tuple(one.decode("utf-8", "replace") for one in meta[3])
    return ChunkNotes(path, group, frozenset(one for one in named if one)), parts


def _statistics(fields: Fields) -> Iterator[bytes]:
    """Yield the least and greatest values, old and new ones, of statistics."""
    yield from (fields[one] for one in (1, 2, 5, 6) if one in fields)


def _structure_at(file: IO[bytes], place: int) -> tuple[Fields, int]:
    """Return the structure at a place of a file, and its length."""
    size = _HEADER
    while True:
        file.seek(place)
        reader = _Compact(file.read(size))
        try:
            return reader.struct(), reader.place
        except (IndexError, struct.error):
            size *= 2
            if size > _LARGEST:
                raise


class _Compact:
    """A reader of Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data, self.place = data, 0

    def struct(self, depth: int = 0) -> Fields:
        """Return the structure that begins here."""
        if depth > 20:
            raise ValueError("structures are nested too deep")
        fields: Fields = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._signed()
            # Truth values of fields are their types.
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return struct.unpack("<d", self._bytes(8))[0]
        if kind == 8:
            return self._bytes(self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15, depth) for _ in range(size)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError(f"unknown type {kind}")

    def _byte(self) -> int:
        self.place += 1
        return self._data[self.place - 1]

    def _bytes(self, size: int) -> bytes:
        if self.place + size > len(self._data):
            raise IndexError("the data end")
        self.place += size
        return self._data[self.place - size : self.place]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
