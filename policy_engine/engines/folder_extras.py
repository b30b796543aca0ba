"""What lies in the folder of a table besides its files, and readers of the table pass over."""

import re
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
_HEAD, _CHUNK, _SUM = 8, 512, 4
"""The bytes of a checksum file before the sums, and of a sum of so many bytes (Hadoop)."""
_HINT = "Take it out of the folder."


def check_folder(folder: Path, parts: Sequence[Path]) -> None:
    """Raise CertificateError (V002) for files in a table's folder that are not its parts.

    There may be an empty `_SUCCESS`, and checksums of parts, as Hadoop writes them. A part without
    rows has a name that tells nothing.
    """
    others = [one for one in sorted(folder.rglob("*")) if one.is_file() and one not in {*parts}]
    names = [one.relative_to(folder).as_posix() for one in others if not _is_known(one, parts)]
    problems = [Problem("V002", f"The folder holds {name!r}.", _HINT) for name in names]
    for part in parts:
        if len(parts) > 1 and not _PART.fullmatch(part.name) and _is_empty(part):
            message = f"The part {part.relative_to(folder).as_posix()!r} has no rows."
            problems.append(Problem("V002", message, _HINT))
    if problems:
        raise CertificateError(*problems, source=str(folder))


def _is_known(file: Path, parts: Sequence[Path]) -> bool:
    """Tell whether a file is one that programs leave beside the parts of a table."""
    if file.name == "_SUCCESS":
        return not file.stat().st_size
    part = file.with_name(file.name.removeprefix(".").removesuffix(".crc"))
    if file.name != f".{part.name}.crc" or not (part in parts or part.name == "_SUCCESS"):
        return False
    sums = -(-part.stat().st_size // _CHUNK) if part.exists() else 0
    head = file.read_bytes()[:4]
    return head == b"crc\0" and file.stat().st_size == _HEAD + _SUM * sums


def _is_empty(part: Path) -> bool:
    """Tell whether a part has no rows."""
    return file_format(part) != "npy" and read_table(part).num_rows == 0
