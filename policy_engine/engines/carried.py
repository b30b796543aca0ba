"""What a file holds besides its values: metadata, unused dictionary values, bits of floats."""

import base64
import gzip
import json
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from policy_engine.data.table_files import ARRAY_FORMATS, file_format, list_table_files
from policy_engine.data.typed_files import ARROW, JSON_LINES
from policy_engine.engines.array_files import read_arrays, write_arrays
from policy_engine.engines.arrays import unchunk
from policy_engine.engines.folder_extras import check_folder
from policy_engine.engines.number_lists import is_array_of_numbers
from policy_engine.engines.parquet_extras import HINT, extra_contents
from policy_engine.engines.plain_floats import has_other_floats, holds_floats, plain_floats
from policy_engine.engines.tables import read_table, write_to
from policy_engine.errors import CertificateError, OutputError, Problem

_CHUNK = 1 << 20
_MOST_UNPACKED = 1 << 24
_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
_SPARK = b"org.apache.spark.version"
_VERSION = re.compile(rb"[0-9]{1,2}([.][0-9]{1,3}){1,3}")
_SPARK_TYPES = re.compile(
    r"string|long|integer|short|byte|double|float|boolean|date|timestamp(_ntz)?|void|null"
    r"|decimal[(][0-9]{1,2},[0-9]{1,2}[)]"
)
_MORE_SCHEMA = 512
"""By how many bytes another program may serialise a schema longer than Arrow does."""
_EXTRA, _NAME, _COMMENT = 4, 8, 16  # flags of RFC 1952
_FIELD_ID = b"PARQUET:field_id"
_LIST_NAMES = ("item", "element", "array", "array_element")
"""How programs call what is in a list."""


def check_file_extras(path: Path) -> None:
    """Raise CertificateError (V002) where a file, or one in a folder, holds more than a table.

    It would reach the reader with the rows, although no bound was measured on it. The file has to
    be one that can be read.
    """
    files = list_table_files(path)
    if path.is_dir():
        check_folder(path, files)
    for file in files:
        kind = file_format(file)
        extras = _parquet_extras(file) if kind == "parquet" else ()
        extras = chain(_mark_extras(file), _gzip_extras(file)) if kind == "csv.gz" else extras
        extras = _mark_extras(file) if kind == "csv" else extras
        extras = _array_extras(file) if kind in ARRAY_FORMATS else extras
        extras = _typed_extras(file) if kind in (*ARROW, *JSON_LINES) else extras
        problems = [extras_problem(description, hint) for description, hint in dict(extras).items()]
        if problems:
            raise CertificateError(*problems, source=str(file))


FLOAT_HINT = "Leave missing numbers out, and write zeros without a sign."


def extras_problem(description: str, hint: str) -> Problem:
    """Return the problem (V002) of what a file holds besides its values."""
    return Problem(
        "V002", f"The file holds {description}, which the policy does not release.", hint
    )


_METADATA_HINT = "Write the table without metadata: in pyarrow, table.replace_schema_metadata()."
_GZIP_HINT = "Pack it with gzip -n."
_ARRAY_HINT = "Let policy-engine write it."


def _parquet_extras(path: Path) -> Iterator[tuple[str, str]]:
    extras = [*extra_contents(path)]
    yield from ((one, HINT) for one in extras)
    if not extras:  # else it may not be readable
        yield from _extras_of_types(path)


def _extras_of_types(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what the types of a file and its texts hold besides the table."""
    with pq.ParquetFile(path) as file:
        yield from _schema_extras(file)
    for name in _columns_of_other_floats(path):
        yield other_floats(name), FLOAT_HINT


def _columns_of_other_floats(path: Path) -> Iterator[str]:
    with pq.ParquetFile(path) as file:
        names = [field.name for field in file.schema_arrow if holds_floats(field.type)]
        for batch in file.iter_batches(columns=names) if names else ():
            for name in batch.schema.names:
                if has_other_floats(batch.column(name)):
                    yield name


def other_floats(name: str) -> str:
    """Return that a column has floats in another than their one form."""
    return f"floats in {name!r} that are NaN, or zeros with a sign"


def _schema_extras(file: pq.ParquetFile) -> Iterator[tuple[str, str]]:
    """Yield metadata other than what Arrow and Spark write about the types of the columns."""
    names = file.schema_arrow.names
    readers = {b"ARROW:schema": _is_arrow, _SPARK_SCHEMA: _is_spark, _SPARK: _is_version}
    for key, value in (file.metadata.metadata or {}).items():
        if not (key in readers and readers[key](value, names)):
            yield "metadata", _METADATA_HINT
    if any(_has_metadata(field) for field in file.schema_arrow):
        yield "metadata", _METADATA_HINT
    for group in range(file.metadata.num_row_groups):
        row_group = file.metadata.row_group(group)
        if any(row_group.column(place).metadata for place in range(row_group.num_columns)):
            yield "metadata", _METADATA_HINT


def _has_metadata(field: pa.Field) -> bool:
    """Tell whether a field, or one within it, has metadata or a name of its own for what is in a
    list."""
    kind, inner = field.type, (field.type.field(place) for place in range(field.type.num_fields))
    is_named = is_array_of_numbers(kind) and kind.value_field.name not in _LIST_NAMES
    has_own = bool(set(field.metadata or ()) - {_FIELD_ID})
    return has_own or is_named or any(map(_has_metadata, inner))


def _is_arrow(value: bytes, names: list[str]) -> bool:
    """Tell whether a serialised Arrow schema describes the columns and nothing else."""
    with suppress(ValueError, OSError, pa.ArrowException):
        content = base64.b64decode(value, validate=True)
        reader = pa.BufferReader(content)
        schema = pa.ipc.read_schema(reader)
        size = 2 * len(schema.serialize()) + _MORE_SCHEMA
        if content[reader.tell() :].strip(b"\0\xff") or len(content) > size:
            return False
        has_more = schema.metadata or any(_has_metadata(field) for field in schema)
        return schema.names == names and not has_more
    return False


def _is_version(value: bytes, _: list[str]) -> bool:
    return _VERSION.fullmatch(value) is not None


def _is_spark(value: bytes, names: list[str]) -> bool:
    """Tell whether a serialised Spark schema describes the columns, without metadata on them, as
    Spark itself writes it."""
    with suppress(ValueError, KeyError, TypeError):
        fields = json.loads(value)["fields"]
        parts = [_spark_field(name, field) for name, field in zip(names, fields, strict=True)]
        schema = {"type": "struct", "fields": parts}
        return json.dumps(schema, separators=(",", ":"), ensure_ascii=False) == value.decode()
    return False


def _spark_field(name: str, field: dict[str, object]) -> dict[str, object]:
    """Return what Spark says of a column of this type. Raises ValueError for other types."""
    kind, nullable = _spark_type(field["type"]), bool(field["nullable"])
    return {"name": name, "type": kind, "nullable": nullable, "metadata": {}}


def _spark_type(kind: object) -> object:
    if isinstance(kind, dict):
        inner, has_missing = _spark_type(kind["elementType"]), bool(kind["containsNull"])
        return {"type": "array", "elementType": inner, "containsNull": has_missing}
    if not isinstance(kind, str) or not _SPARK_TYPES.fullmatch(kind):
        raise ValueError(kind)
    return kind


def _array_extras(path: Path) -> Iterator[tuple[str, str]]:
    """Yield that a file of arrays has bytes other than those that its arrays alone give."""
    arrays, kind = _plain_arrays(path), file_format(path)
    if not _is_written_so(path, lambda file: write_arrays(file, arrays, kind)):
        yield "other bytes than its values give, such as times of writing", _ARRAY_HINT


def _typed_extras(path: Path) -> Iterator[tuple[str, str]]:
    """Yield that an Arrow file or JSON lines have other bytes than their table alone gives, such as
    what was where values are missing, metadata, or keys in another order."""
    table, kind = read_table(path), file_format(path)
    if not _is_written_so(path, lambda file: write_to(file, table, kind)):
        yield "other bytes than its values give, such as metadata", _ARRAY_HINT


def _is_written_so(path: Path, write: Callable[[IO[bytes]], None]) -> bool:
    """Tell whether a file has exactly the bytes that are written; not so where none can be."""
    with TemporaryFile() as file:
        try:
            write(file)
        except OutputError:
            return False
        file.seek(0)
        return file_digest(file, "sha256").digest() == _digest_of(path)


def _plain_arrays(path: Path) -> pa.Table:
    arrays = read_arrays(path)
    columns = [plain_floats(unchunk(column)) for column in arrays.columns]
    return pa.table(columns, names=arrays.column_names)


def _digest_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()


def _gzip_extras(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what gzip headers hold besides the name of the file itself.

    Each could have another time, and there could be headers of nothing, as many as one likes.
    """
    members = list(_members(path))
    for flags, name, _, _ in members:
        if flags & (_EXTRA | _COMMENT) or (flags & _NAME and f"{name}.gz" != path.name):
            yield "a name or a comment in its gzip header", _GZIP_HINT
    if len({made for _, _, made, _ in members}) > 1:
        yield "several times or systems in its gzip headers", _GZIP_HINT
    if len(members) > 1 and not all(size for *_, size in members):
        yield "gzip headers without rows", _GZIP_HINT


def _mark_extras(path: Path) -> Iterator[tuple[str, str]]:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rb") as file:
        if file.read(len(BOM_UTF8)) == BOM_UTF8:
            yield "a byte-order mark", "Write UTF-8 without one."


def _members(path: Path) -> Iterator[tuple[int, str, bytes, int]]:
    """Yield, of every gzip member, the flags, the file name where it comes first, when and where
    it was made, and how many bytes it has unpacked."""
    with path.open("rb") as file:
        content = file.read(_CHUNK)
        while content:
            head = content[:_CHUNK]
            name = head[10:].split(b"\0", 1)[0] if head[3] & _NAME else b""
            size, member = 0, zlib.decompressobj(31)
            while not member.eof and content:
                size += len(member.decompress(content, _MOST_UNPACKED))
                remainder = member.unused_data if member.eof else member.unconsumed_tail
                content = remainder if remainder or member.eof else file.read(_CHUNK)
            yield head[3], name.decode("latin-1"), head[4:10], size
            if member.eof and len(content) < _CHUNK:
                content += file.read(_CHUNK)
            content = content.lstrip(b"\0")  # padding
