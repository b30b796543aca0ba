"""What a file carries besides its cells: metadata, values that no row has, names in headers."""

import base64
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from policy_engine.data.table_files import file_format, list_table_files
from policy_engine.engines.arrays import is_text
from policy_engine.errors import CertificateError, Problem

_CHUNK = 1 << 20
_MOST_UNPACKED = 1 << 24
_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
_EXTRA, _NAME, _COMMENT = 4, 8, 16  # flags of RFC 1952
_NUMBER_OF_FIELD = b"PARQUET:field_id"


def check_carried(path: Path) -> None:
    """Raise CertificateError (V002) where a file, or one of a folder, holds more than a table.

    A reader would be given it with the rows, and no bound was measured on it. The file is one
    that was read before.
    """
    for file in list_table_files(path):
        kind = file_format(file)
        found = _of_parquet(file) if kind == "parquet" else ()
        found = _of_gzip(file) if kind == "csv.gz" else found
        problems = [_problem(what, hint) for what, hint in dict(found).items()]
        if problems:
            raise CertificateError(*problems, source=str(file))


def _problem(what: str, hint: str) -> Problem:
    return Problem("V002", f"The file holds {what}, which the policy does not release.", hint)


_PLAIN = "Write the table without metadata: in pyarrow, table.replace_schema_metadata()."
_USED = "Write texts as such: in pyarrow, cast dictionaries to string."
_UNNAMED = "Pack it with gzip -n."


def _of_parquet(path: Path) -> Iterator[tuple[str, str]]:
    with pq.ParquetFile(path) as file:
        yield from _of_schema(file)
        texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
    # Columns of texts alone: of others Arrow does not tell what is in their dictionaries.
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        # Each group of rows may have the dictionary of all.
        table = file.read(texts).unify_dictionaries()
    for name in table.column_names:
        if _has_unused(table.column(name)):
            yield f"values in the dictionary of {name!r} that no row has", _USED


def _is_text(kind: pa.DataType) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _has_unused(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_dictionary(column.type) or not column.num_chunks:
        return False
    used = pc.unique(pa.chunked_array([chunk.indices for chunk in column.chunks])).drop_null()
    return len(used) < len(column.chunk(0).dictionary)


def _of_schema(file: pq.ParquetFile) -> Iterator[tuple[str, str]]:
    """Yield metadata other than what Arrow and Spark write of the columns' types."""
    names = file.schema_arrow.names
    known = {b"ARROW:schema": _is_arrow, _SPARK_SCHEMA: _is_spark}
    for key, value in (file.metadata.metadata or {}).items():
        is_version = key == b"org.apache.spark.version" and value.replace(b".", b"").isdigit()
        if not is_version and not (key in known and known[key](value, names)):
            yield "metadata", _PLAIN
    for field in file.schema_arrow:
        if set(field.metadata or ()) - {_NUMBER_OF_FIELD}:
            yield "metadata", _PLAIN
    for group in range(file.metadata.num_row_groups):
        row_group = file.metadata.row_group(group)
        if any(row_group.column(place).metadata for place in range(row_group.num_columns)):
            yield "metadata", _PLAIN


def _is_arrow(value: bytes, names: list[str]) -> bool:
    """Tell whether a schema of Arrow is that of the columns and nothing else."""
    with suppress(ValueError, OSError):
        schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(value)))
        has_more = schema.metadata or any(field.metadata for field in schema)
        return schema.names == names and not has_more
    return False


def _is_spark(value: bytes, names: list[str]) -> bool:
    """Tell whether a schema of Spark is that of the columns, without what they may say of them."""
    with suppress(ValueError, KeyError, TypeError):
        schema = json.loads(value)
        fields = schema["fields"]
        parts = {"name", "type", "nullable", "metadata"}
        plain = all(set(one) == parts and not one["metadata"] for one in fields)
        return set(schema) == {"type", "fields"} and [o["name"] for o in fields] == names and plain
    return False


def _of_gzip(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what stands in the header of a member; the name of the file itself may."""
    for flags, name in _members(path):
        if flags & (_EXTRA | _COMMENT) or (flags & _NAME and f"{name}.gz" != path.name):
            yield "a name or a comment in its gzip header", _UNNAMED


def _members(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the flags of the header of every gzip member, and the name where it comes first."""
    with path.open("rb") as file:
        rest = file.read(_CHUNK)
        while rest:
            head = rest[:_CHUNK]
            name = head[10:].split(b"\0", 1)[0] if head[3] & _NAME else b""
            yield head[3], name.decode("latin-1")
            member = zlib.decompressobj(31)
            while not member.eof and rest:
                member.decompress(rest, _MOST_UNPACKED)
                kept = member.unused_data if member.eof else member.unconsumed_tail
                rest = kept if kept or member.eof else file.read(_CHUNK)
            if member.eof and len(rest) < _CHUNK:
                rest += file.read(_CHUNK)
            rest = rest.lstrip(b"\0")  # padding
