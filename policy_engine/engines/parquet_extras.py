"""What a Parquet file holds besides the values of its rows, around them."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from policy_engine.data.parquet_footer import ChunkNotes, read_notes
from policy_engine.data.parquet_thrift import ERRORS
from policy_engine.engines.arrays import is_text, value_type
from policy_engine.engines.parquet_pages import WIDTHS, page_extras

HINT = "Write the table again, such as with pyarrow.parquet.write_table()."
_WRITERS = re.compile(
    r"((parquet-(cpp-arrow|cpp|mr|rs)|fastparquet-python|DuckDB|[Pp]olars( [(](python|rust)[)])?)?"
    r"( version v?[0-9]{1,3}([.][0-9]{1,3}){0,3}(-SNAPSHOT)?)?( \(build [0-9a-f]{0,40}\))?)?"
)
"""What programs that write Parquet say of themselves."""
_SHORTENED = 64
"""To so many bytes at most, of whole letters, parquet-mr, parquet-rs and Polars shorten texts in
statistics and indexes."""


def extra_contents(path: Path) -> Iterator[str]:
    """Yield what a file holds that is not part of its table: bytes between its parts, another name
    of a writer, and statistics or indexes with values that no row has."""
    try:
        notes = read_notes(path)
    except ERRORS:
        yield _ODD
        return
    if notes.unknown:
        yield f"{notes.unknown:,} bytes that belong to no part of its table"
    if not _WRITERS.fullmatch(notes.created_by):
        yield "another name of what wrote it than programs have"
    try:
        with path.open("rb") as file:
            for chunk in notes.chunks:
                yield from page_extras(file, chunk, partial(_has_values, path))
    except ERRORS:
        yield _ODD
        return
    keys = [key for key, _ in notes.metadata]
    if len({*keys}) < len(keys):
        yield "metadata"
    with pq.ParquetFile(path) as table:
        others = [*_extension_types(table.schema_arrow)]
        yield from others
        if others:
            return
        places = Counter[tuple[int, str]]()
        for chunk in notes.chunks:
            column = (chunk.row_group, chunk.path[0])
            yield from _statistics_extras(table, chunk, places[column])
            places[column] += 1


_ODD = "parts that are not laid out as in a Parquet file"


def _extension_types(schema: pa.Schema) -> Iterator[str]:
    """Yield the columns of types with names and settings of their own, which no output has."""
    for field in schema:
        for kind in _types_within(field.type):
            if isinstance(kind, pa.BaseExtensionType):
                yield f"the column {field.name!r} of the extension type {kind.extension_name}"


def _types_within(kind: pa.DataType) -> Iterator[pa.DataType]:
    """Yield a type, and those of which it consists."""
    yield kind
    if pa.types.is_dictionary(kind):
        yield from _types_within(kind.value_type)
    elif pa.types.is_nested(kind):
        for place in range(kind.num_fields):
            yield from _types_within(kind.field(place).type)


def _has_values(path: Path, name: str, values: Collection[bytes]) -> bool:
    """Tell whether a column of a file has some stored values, False for types that are not
    compared."""
    column = pq.read_table(path, columns=[name], partitioning=None).column(name)
    kind = value_type(column.type)
    is_compared = is_text(kind) or _layout(kind) is not None
    return is_compared and not _values_missing(column, values)


def _statistics_extras(table: pq.ParquetFile, chunk: ChunkNotes, place: int) -> Iterator[str]:
    """Yield that the statistics of a column are not those of its rows; `place` is that of the
    chunk's values among those within their column."""
    name, (missing, different) = chunk.path[0], chunk.counts
    if len(chunk.path) > 1:
        missing = different = None
    if not (chunk.named or missing or different):
        return
    if not _have_lengths(chunk):
        yield f"statistics of {name!r} with values that are not of its type"
        return
    column = _leaf(table.read_row_group(chunk.row_group, [name]).column(name), place)
    if missing not in (None, column.null_count) or different not in (None, _distinct(column)):
        yield f"statistics of {name!r} with counts that are not those of its rows"
    if chunk.named and not are_bounds_of(column, chunk.least, chunk.greatest):
        yield f"statistics of {name!r} with values that no row has"


def _have_lengths(chunk: ChunkNotes) -> bool:
    """Tell whether the values that statistics name are as long as those of their type."""
    width = WIDTHS.get(chunk.leaf.type, chunk.leaf.width)
    return not width or all(len(one) == width for one in chunk.named)


def _leaf(column: pa.ChunkedArray, place: int) -> pa.ChunkedArray:
    """Return one of the columns of values of a column, which may be in lists and structures."""
    return [*_leaves(column)][place]


def _leaves(column: pa.ChunkedArray) -> Iterator[pa.ChunkedArray]:
    """Yield the columns of values within a column, in the order of the schema of Parquet."""
    kind = column.type
    if pa.types.is_map(kind):
        for name in ("keys", "items"):
            parts = [getattr(chunk, name) for chunk in column.chunks]
            yield from _leaves(pa.chunked_array(parts, getattr(kind, f"{name[:-1]}_type")))
    elif pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from _leaves(pc.struct_field(column, [place]))
    elif pa.types.is_nested(kind):
        yield from _leaves(pc.list_flatten(column))
    else:
        yield column


def _distinct(column: pa.ChunkedArray) -> int:
    plain = column.cast(value_type(column.type)) if pa.types.is_dictionary(column.type) else column
    return int(pc.count_distinct(plain, mode="only_valid").as_py())


def are_bounds_of(
    column: pa.ChunkedArray, least: Collection[bytes], greatest: Collection[bytes]
) -> bool:
    """Tell whether the least and greatest values that statistics name are those of a column, or
    such as programs make of its long texts; True for types that are not compared."""
    odd = _values_missing(column, {*least, *greatest})
    if not odd:
        return True
    if not is_text(value_type(column.type)):
        return False
    beginnings = _beginnings(column)
    followers = {follower for one in beginnings for follower in _followers(one)}
    return odd.intersection(least) <= beginnings and odd.intersection(greatest) <= followers


def _values_missing(column: pa.ChunkedArray, named: Collection[bytes]) -> set[bytes]:
    """Return the stored values that no row of a column has, none for types that are not
    compared."""
    kind = value_type(column.type)
    plain = column.cast(kind) if pa.types.is_dictionary(column.type) else column
    if is_text(kind):
        return _missing_of(named, pa.array(named, pa.large_binary()), plain.cast(pa.large_binary()))
    layout = _layout(kind)
    if layout is None:
        return set()
    if pa.types.is_uint32(kind) and all(len(one) == 8 for one in named):  # as old programs write it
        layout = np.dtype("<i8")
    if any(len(one) != layout.itemsize for one in named):
        return {*named}
    stored = np.frombuffer(b"".join(named), layout)
    if pa.types.is_floating(kind):
        values = pa.array(stored.astype(np.float64) + 0.0)  # -0.0 is 0.0
        return _missing_of(named, values, _unsigned_zeros(plain))
    if pa.types.is_date(kind):
        plain = plain.cast(pa.int32())
    wide = pa.uint64() if pa.types.is_uint64(kind) else pa.int64()
    return _missing_of(named, pa.array(stored).cast(wide), plain.cast(wide))


def _missing_of(named: Collection[bytes], values: pa.Array, column: pa.ChunkedArray) -> set[bytes]:
    """Return the stored values whose values are not in a column."""
    is_one = pc.is_in(values, column).to_pylist()
    return {one for one, is_value in zip(named, is_one, strict=True) if not is_value}


def _unsigned_zeros(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.add(column.cast(pa.float64()), 0.0)


def _layout(kind: pa.DataType) -> np.dtype[np.generic] | None:
    """Return how values of a type are stored, None for types that are not compared."""
    if pa.types.is_boolean(kind):
        return np.dtype("<u1")
    if pa.types.is_floating(kind):
        return np.dtype(f"<f{kind.bit_width // 8}")
    if pa.types.is_date32(kind) or (pa.types.is_signed_integer(kind) and kind.bit_width <= 32):
        return np.dtype("<i4")
    if pa.types.is_unsigned_integer(kind):
        return np.dtype("<u8" if kind.bit_width == 64 else "<u4")
    return np.dtype("<i8") if pa.types.is_int64(kind) else None


def _beginnings(column: pa.ChunkedArray) -> set[bytes]:
    """Return what a program that shortens the texts of a column makes of the least of them."""
    texts = column.cast(pa.large_string())
    is_long = pc.greater(pc.binary_length(texts), _SHORTENED)
    # A letter takes a byte at least.
    letters = pc.utf8_slice_codeunits(texts.filter(is_long), 0, _SHORTENED)
    return {_beginning(one) for one in pc.unique(letters).to_pylist() if one is not None}


def _beginning(text: str) -> bytes:
    """Return as many letters of a text as fit."""
    return text.encode()[:_SHORTENED].decode(errors="ignore").encode()


def _followers(beginning: bytes) -> Iterator[bytes]:
    """Yield what programs make of the greatest text: one that is greater than all that begin so.

    parquet-rs and Polars count its last letter up, which leaves its length, or an earlier one and
    drop those behind; parquet-mr counts a byte up, the last one that can be.
    """
    text = beginning.decode()
    for place in range(len(text) - 1, -1, -1):
        if follower := _letter_behind(text[place]):
            yield text[:place].encode() + follower
            break
    for place in range(len(beginning) - 1, -1, -1):
        for byte in range(beginning[place] + 1, 256):
            changed = beginning[:place] + bytes([byte]) + beginning[place + 1 :]
            with suppress(UnicodeDecodeError):
                changed.decode()
                yield changed
                return


def _letter_behind(letter: str) -> bytes:
    """Return the next letter if it takes as many bytes, else none."""
    with suppress(ValueError):  # surrogates, and the last letter
        follower = chr(ord(letter) + 1).encode()
        return follower if len(follower) == len(letter.encode()) else b""
    return b""
