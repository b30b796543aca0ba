"""What is written in a Parquet file around its values: pages, indexes, statistics, who wrote it.

Read by the structures of parquet-format, since Arrow tells only some of it, and lets through what
belongs to no row: https://github.com/apache/parquet-format
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import IO, NamedTuple

from policy_engine.data.parquet_schema import LeafColumn, leaf_columns
from policy_engine.data.parquet_thrift import CompactReader, Fields

_MAGIC = b"PAR1"
_HEADER = 1 << 16
"""Bytes that are read for the header of a page, and doubled until it is complete."""
_LARGEST = 1 << 24
_VERSIONS = (1, 2)
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_HEADS = {_DATA: "data", _DICTIONARY: "dictionary", _DATA_V2: "data_v2"}
_MOST_OF_NOTHING = 16
"""The most bytes of a page without values."""


class Page(NamedTuple):
    """A page of a column chunk: its header by kind, and where its content lies, in how many bytes
    before they are packed."""

    head: Fields
    kind: int
    place: int
    size: int
    unpacked: int


@dataclass(frozen=True)
class ChunkNotes:
    """What is written about one column of one row group, which has so many rows: the values that
    its statistics, those of its pages and its index name as the least and greatest ones, as they
    are stored, how many are said to be missing and to differ (`counts`), its pages, and the bits of
    its Bloom filter."""

    leaf: LeafColumn
    row_group: int
    rows: int
    codec: int
    least: frozenset[bytes] = field(repr=False)
    greatest: frozenset[bytes] = field(repr=False)
    counts: tuple[int | None, int | None]
    pages: tuple[Page, ...] = field(repr=False)
    bloom_filter: bytes = field(repr=False)

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the column, and of the lists and values within."""
        return self.leaf.path

    @property
    def named(self) -> frozenset[bytes]:
        """The least and greatest values that are named."""
        return self.least | self.greatest


@dataclass(frozen=True)
class FileNotes:
    """What is written in a file besides its values; `unknown` bytes belong to no part of it, and
    `metadata` are the keys and values that it has for programs."""

    created_by: str
    unknown: int
    chunks: tuple[ChunkNotes, ...]
    metadata: tuple[tuple[bytes, bytes], ...]


def read_notes(path: Path) -> FileNotes:
    """Return what a Parquet file holds around its values.

    Raises one of `parquet_thrift.ERRORS` where it is not laid out as parquet-format says, or has
    parts that no table needs: pages of no rows, fields that are not known, texts of its own.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 8, 0))
        length, magic = struct.unpack("<I4s", file.read(8))
        if magic != _MAGIC or length + 12 > size:
            raise ValueError("not a Parquet file")
        file.seek(size - 8 - length)
        reader = CompactReader(file.read(length))
        meta = reader.structure("FileMetaData")
        leaves = leaf_columns(meta["schema"])
        parts = [(0, 4), (size - 8 - length, size - 8 - length + reader.place), (size - 8, size)]
        groups, chunks = meta.get("row_groups", []), []
        file.seek(0)
        if file.read(4) != _MAGIC or meta["version"] not in _VERSIONS:
            raise ValueError("another beginning, or a version that there is not")
        if sum(not group["num_rows"] for group in groups) > 1:
            raise ValueError("more than one group of no rows")
        if len(meta.get("column_orders", leaves)) != len(leaves):
            raise ValueError("orders of other columns")
        if sum(group["num_rows"] for group in groups) != meta["num_rows"]:
            raise ValueError("other rows than those of its groups")
        for number, group in enumerate(groups):
            sorting = [one["column"] for one in group.get("sorting_columns", [])]
            if len({*sorting}) < len(sorting) or not {*sorting} <= {*range(len(leaves))}:
                raise ValueError("an order by other columns")
            for column, leaf in zip(group["columns"], leaves, strict=True):
                notes, used = _chunk(file, column, leaf, (number, group["num_rows"]))
                chunks.append(notes)
                parts += used
    created = meta.get("created_by", b"").decode("utf-8", "replace")
    metadata = tuple((one["key"], one.get("value", b"")) for one in meta.get("metadata", []))
    return FileNotes(created, size - _covered(parts), tuple(chunks), metadata)


def _covered(parts: list[tuple[int, int]]) -> int:
    """Return how many bytes some parts of a file cover together."""
    covered = end = 0
    for start, stop in sorted(parts):
        covered += max(stop - max(start, end), 0)
        end = max(end, stop)
    return covered


def _chunk(
    file: IO[bytes], column: Fields, leaf: LeafColumn, group: tuple[int, int]
) -> tuple[ChunkNotes, list[tuple[int, int]]]:
    """Return what is written about a column chunk, and the parts of the file that are its own.

    `group` is the number of its row group, and how many rows that has.
    """
    meta: Fields = column["meta"]
    path = tuple(one.decode() for one in meta["path"])
    if path != leaf.path or meta["type"] != leaf.type or meta.get("index_page"):
        raise ValueError("a chunk of another column")
    statistics = meta.get("statistics", {})
    noted = [statistics]
    starts = [meta[one] for one in ("data_page", "dictionary_page") if meta.get(one)]
    start, size = min(starts, default=0), meta["compressed_size"]
    pages, parts = _pages(file, start, start + size) if starts or size else ([], [])
    _check_counts(meta, pages, leaf, group[1])
    data = [one for one in pages if one.kind != _DICTIONARY]
    noted += [page.head["statistics"] for page in data if "statistics" in page.head]
    indexes, index_parts = _indexes(file, column, len(data))
    _check_places(indexes, data, parts)
    _check_indexes(indexes, data, leaf)
    parts += [*index_parts, *_copy(file, meta, start + size)]
    bloom_filter, filter_parts = _bloom_filter(file, meta)
    parts += filter_parts
    missing, different = (statistics.get(one) for one in ("null_count", "distinct_count"))
    if not _are_counts(statistics, meta["num_values"]):
        raise ValueError("a column that counts more values than it has")
    least, greatest = (_named(noted, indexes, side) for side in ("min", "max"))
    if not group[1] and (least or greatest):
        raise ValueError("values of no rows")
    counts = (missing, different)
    codec, laid_out = meta["codec"], tuple(pages)
    notes = ChunkNotes(leaf, *group, codec, least, greatest, counts, laid_out, bloom_filter)
    return notes, parts


def _copy(file: IO[bytes], meta: Fields, place: int) -> list[tuple[int, int]]:
    """Return where a copy of what the footer says of a chunk follows it, as some programs write."""
    try:
        fields, length = _structure_at(file, place, "ColumnMetaData")
    except (ValueError, IndexError):
        return []
    is_copy = fields and all(meta.get(name) == value for name, value in fields.items())
    return [(place, place + length)] if is_copy else []


def _bloom_filter(file: IO[bytes], meta: Fields) -> tuple[bytes, list[tuple[int, int]]]:
    """Return the bits of the Bloom filter of a chunk, none without one, and where it lies."""
    if not meta.get("bloom_filter"):
        return b"", []
    place = meta["bloom_filter"]
    header, length = _structure_at(file, place, "BloomFilter")
    file.seek(place + length)
    size = header["size"]
    if size < 0 or size % 32 or meta.get("bloom_filter_length", length + size) != length + size:
        raise ValueError("a Bloom filter of another size")
    return file.read(size), [(place, place + length + size)]


def _named(noted: Sequence[Fields], indexes: Fields, side: str) -> frozenset[bytes]:
    """Return the values that statistics, by the old and the new field, and an index name as the
    least ("min") or the greatest ("max")."""
    values = [fields.get(name) for fields in noted for name in (side, f"{side}_value")]
    return frozenset(one for one in (*values, *indexes.get(f"{side}_values", [])) if one)


def _pages(file: IO[bytes], place: int, stop: int) -> tuple[list[Page], list[tuple[int, int]]]:
    """Return the pages between two places, and where each lies with its header."""
    pages: list[Page] = []
    parts: list[tuple[int, int]] = []
    while place < stop:
        header, length = _structure_at(file, place, "PageHeader")
        kind, size = header["type"], header["compressed_size"]
        if _HEADS.get(kind) not in header or sum(one in header for one in _HEADS.values()) != 1:
            raise ValueError("a page of no known kind")
        if kind == _DICTIONARY and pages:
            raise ValueError("a second dictionary")
        if size < 0 or place + length + size > stop:
            raise ValueError("a page that is larger than its column")
        head = header[_HEADS[kind]]
        page = Page(head, kind, place + length, size, header["uncompressed_size"])
        if not head["num_values"] and page.unpacked > _MOST_OF_NOTHING:
            raise ValueError("a page of no values that has content")
        if "crc" in header and (header["crc"] & 0xFFFFFFFF) != zlib.crc32(content_of(file, page)):
            raise ValueError("a checksum of something else")
        if not _are_counts(head.get("statistics", {}), head["num_values"]):
            raise ValueError("a page that counts more values than it has")
        pages.append(page)
        parts.append((place, place + length + size))
        place += length + size
    return pages, parts


def _are_counts(statistics: Fields, values: int) -> bool:
    """Tell whether statistics count no more than there is, and no NaN, which no output has."""
    counts = (statistics.get(one, 0) for one in ("null_count", "distinct_count"))
    return all(0 <= one <= values for one in counts) and not statistics.get("nan_count")


def content_of(file: IO[bytes], page: Page) -> bytes:
    """Return the content of a page as it is stored."""
    file.seek(page.place)
    return file.read(page.size)


def _check_counts(meta: Fields, pages: Sequence[Page], leaf: LeafColumn, rows: int) -> None:
    """Raise ValueError where pages have more or fewer values than their column and its rows."""
    values = sum(one.head["num_values"] for one in pages if one.kind != _DICTIONARY)
    if values != meta["num_values"] or (not (leaf.repeated and rows) and values != rows):
        raise ValueError("pages of other rows")
    if leaf.repeated and values < rows:
        raise ValueError("pages of fewer rows")
    data = [one.head["num_values"] for one in pages if one.kind != _DICTIONARY]
    if len(data) > 1 and not all(data):
        raise ValueError("a page of no values beside others")
    counts = meta.get("encoding_stats", [])
    kinds = {(one["page_type"], one["encoding"]) for one in counts}
    if len(kinds) < len(counts) or any(one["count"] < 0 for one in counts):
        raise ValueError("counts of pages that there are not")
    if not kinds <= {(page, encoding) for page in _HEADS for encoding in range(10)}:
        raise ValueError("pages that there are not")
    if counts and sum(one["count"] for one in counts) != len(pages):
        raise ValueError("a count of other pages")
    encodings = meta.get("encodings", [])
    if len({*encodings}) < len(encodings) or not {*encodings} <= {*range(10)}:
        raise ValueError("encodings that there are not")


def _indexes(file: IO[bytes], column: Fields, pages: int) -> tuple[Fields, list[tuple[int, int]]]:
    """Return what the indexes of a column's pages say, and where they lie."""
    parts, indexes = [], Fields()
    for name, kind in (("offset_index", "OffsetIndex"), ("column_index", "ColumnIndex")):
        if column.get(name):
            fields, length = _structure_at(file, column[name], kind)
            parts.append((column[name], column[name] + min(length, column[f"{name}_length"])))
            indexes |= fields
    lists = ("pages", "null_pages", "min_values", "max_values", "null_counts", "text_sizes")
    if any(len(indexes[one]) != pages for one in lists if one in indexes):
        raise ValueError("an index of other pages")
    return indexes, parts


def _check_places(indexes: Fields, data: Sequence[Page], parts: Sequence[tuple[int, int]]) -> None:
    """Raise ValueError where an index has other places than those of the pages."""
    places = [(one["offset"], one["size"]) for one in indexes.get("pages", [])]
    last = parts[len(parts) - len(data) :]
    if places and places != [(start, stop - start) for start, stop in last]:
        raise ValueError("an index of other places")


def _check_indexes(indexes: Fields, data: Sequence[Page], leaf: LeafColumn) -> None:
    """Raise ValueError where indexes have other rows, counts and orders than the pages."""
    values = [one.head["num_values"] for one in data]
    starts = [one["first_row"] for one in indexes.get("pages", [])]
    if starts and (starts[0] or starts != sorted(starts) or starts[-1] > sum(values)):
        raise ValueError("an index of other rows")
    if starts and not leaf.repeated and starts != [*accumulate(values[:-1], initial=0)]:
        raise ValueError("an index of other rows")
    nulls = indexes.get("null_counts", [])
    if any(not 0 <= one <= most for one, most in zip(nulls, values, strict=False)):
        raise ValueError("an index that counts more values than there are")
    for name, depth in (("repetition_levels", leaf.repeated), ("definition_levels", leaf.missing)):
        counts = indexes.get(name, [])
        if counts and (len(counts) != len(data) * (depth + 1) or sum(counts) != sum(values)):
            raise ValueError("an index of other levels")
        if any(one < 0 for one in counts):
            raise ValueError("an index of other levels")
    if indexes.get("boundary_order", 0) not in (0, 1, 2):
        raise ValueError("an order that there is not")


def _structure_at(file: IO[bytes], place: int, name: str) -> tuple[Fields, int]:
    """Return the structure at a place of a file, and its length."""
    size = _HEADER
    if not 0 <= place < file.seek(0, 2):
        raise ValueError("a place outside the file")
    while True:
        file.seek(place)
        reader = CompactReader(file.read(size))
        try:
            return reader.structure(name), reader.place
        except IndexError:
            size *= 2
            if size > _LARGEST:
                raise
