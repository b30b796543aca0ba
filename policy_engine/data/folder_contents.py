"""What a folder on this machine holds beside the data that its digest covers."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

_LOGS = frozenset({"_delta_log", "_spark_metadata", ".hoodie", "metadata"})
"""Folders that say to readers of Delta Lake, Structured Streaming, Hudi and Iceberg which files are
the table; a plain reader reads all files."""


def check_no_links(folder: Path) -> None:
    """Raise OSError where a folder holds a link, at any depth.

    No walk follows a link to a folder, and readers do: they would read files that no digest covers.
    """
    for root, folders, files in os.walk(folder, onerror=_fail):
        for name in (*folders, *files):
            if Path(root, name).is_symlink():
                relative = Path(root, name).relative_to(folder).as_posix()
                raise OSError(f"{relative!r} in the folder is a link")


def table_log(folder: Path) -> str:
    """Return the name of a folder within one that says which files are the table, empty for none.

    Raises OSError where that cannot be told.
    """
    for root, folders, _ in os.walk(folder, onerror=_fail):
        for name in sorted(folders):
            if name.lower() in _LOGS:
                return Path(root, name).relative_to(folder).as_posix()
    return ""


def _fail(error: OSError) -> None:
    raise error


def tree_entries(root: bytes, relative: bytes = b"") -> Iterator[tuple[str, str, str]]:
    """Yield the name of everything in a folder, in hexadecimal, its kind and its sha-256.

    Raises OSError for what is neither a file nor a folder.
    """
    with os.scandir(os.path.join(root, relative)) as scan:  # noqa: PTH118 (names are bytes)
        entries = list(scan)
    for entry in entries:
        name = os.path.join(relative, entry.name)  # noqa: PTH118
        if entry.is_dir(follow_symlinks=False):
            yield name.hex(), "folder", ""
            yield from tree_entries(root, name)
        elif entry.is_file(follow_symlinks=False):
            with open(entry.path, "rb") as file:  # noqa: PTH123
                yield name.hex(), "file", hashlib.file_digest(file, "sha256").hexdigest()
        else:
            raise OSError(f"{os.fsdecode(name)!r} is a link, or not a file at all")
