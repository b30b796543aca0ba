"""What lies in the folder of a table besides its files, and readers of the table pass over."""

import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from policy_engine.data.table_files import file_format
from policy_engine.engines.tables import read_table
from policy_engine.errors import CertificateError, Problem

_PART = re.compile(
    r"(part|data)[-_.]?[0-9]{1,6}(-[0-9a-f-]{1,40}([-.]c[0-9]{1,6})?)?"
    r"([.](snappy|zstd|gz|lz4|lz4raw|brotli))?[.](csv|csv[.]gz|parquet|npz)"
)
"""How programs name the parts of a table: a number, and one of the run that wrote them."""
_HEAD, _CHUNK = b"crc\0\0\0\2\0", 512
"""How Hadoop begins a checksum file, which names the bytes that each of its sums covers."""
_HINT = "Take it out of the folder."


def check_folder(folder: Path, parts: Sequence[Path]) -> None:
    """Raise CertificateError (V002) for what is in a table's folder and is not one of its parts.

    There may be an empty `_SUCCESS`, and checksums of parts, as Hadoop writes them, and folders
    with parts. A part without rows has a name that tells nothing.
    """
    parts_and_folders = {*parts}.union(*(part.parents for part in parts))
    others = [
        one
        for one in sorted(folder.rglob("*"))
        if one not in parts_and_folders or _is_link(one, parts)
    ]
    names = [one.relative_to(folder).as_posix() for one in others if not _is_known(one, parts)]
    problems = [Problem("V002", f"The folder holds {name!r}.", _HINT) for name in names]
    for part in parts:
        if len(parts) > 1 and not _PART.fullmatch(part.name) and _is_empty(part):
            message = f"The part {part.relative_to(folder).as_posix()!r} has no rows."
            problems.append(Problem("V002", message, _HINT))
    if problems:
        raise CertificateError(*problems, source=str(folder))


def _is_link(path: Path, parts: Sequence[Path]) -> bool:
    """Tell whether a path leads elsewhere, other than a part, whose content is looked into."""
    return path.is_symlink() and path not in parts


def _is_known(path: Path, parts: Sequence[Path]) -> bool:
    """Tell whether a path is that of a file that programs leave beside the parts of a table."""
    if path.is_symlink() or not path.is_file():
        return False
    if path.name == "_SUCCESS":
        return not path.stat().st_size
    part = path.with_name(path.name.removeprefix(".").removesuffix(".crc"))
    if path.name != f".{part.name}.crc" or not (part in parts or part.name == "_SUCCESS"):
        return False
    return path.read_bytes() == _HEAD + _sums(part)


def _sums(part: Path) -> bytes:
    """Return the checksums of the chunks of a file; none of one that does not exist."""
    content = part.read_bytes() if part.is_file() else b""
    chunks = (content[start : start + _CHUNK] for start in range(0, len(content), _CHUNK))
    return b"".join(zlib.crc32(chunk).to_bytes(4, "big") for chunk in chunks)


def _is_empty(part: Path) -> bool:
    """Tell whether a part has no rows."""
    return file_format(part) != "npy" and read_table(part).num_rows == 0
