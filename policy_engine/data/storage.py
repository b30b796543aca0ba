"""Places for files: on this machine, or behind a URI that pyarrow opens."""

import errno
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO
from urllib.parse import quote, unquote

from policy_engine.errors import DataError, OutputError

Location = str | Path
"""A local path, or a URI (hdfs:, s3a:, gs:, abfs:, file: ...) without percent-encoding, as in
Spark."""

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/")
_ALIASES = {"s3a": "s3", "s3n": "s3"}
_NO_RENAME = {"s3", "gcs"}


def is_remote(location: Location) -> bool:
    """Tell whether a location is a URI of another machine; `file:` is this one."""
    match = _SCHEME.match(location) if isinstance(location, str) else None
    return match is not None and match[1].lower() != "file"


def local_path(location: Location) -> Path:
    """Return the path of a location on this machine."""
    if isinstance(location, str) and location.lower().startswith("file:/"):
        return Path(re.sub("^/+", "/", location[len("file:") :]))
    return Path(location)


@contextmanager
def read_errors(location: Location) -> Iterator[None]:
    """Turn errors inside into DataError (C003) of one line."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError, ImportError) as error:
        message = f"The file cannot be read: {_error_reason(error)}."
        raise DataError.of("C003", message, source=str(location)) from None


@contextmanager
def write_errors(location: Location) -> Iterator[None]:
    """Turn errors inside into OutputError (O002) of one line."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError, ImportError) as error:
        message = f"The output cannot be written: {_error_reason(error)}."
        raise OutputError.of("O002", message, source=str(location)) from None


def join(folder: Location, name: str) -> Location:
    """Return the location of a file or folder within a folder."""
    return folder / name if isinstance(folder, Path) else f"{folder.rstrip('/')}/{name}"


def parent(location: Location) -> Location:
    """Return the folder that a location is in, or the location itself where it is in none."""
    if isinstance(location, Path):
        return location.parent
    if not is_remote(location):
        return str(local_path(location).parent)
    above = location.rstrip("/").rpartition("/")[0]
    return above if re.search(":/+[^/]", above) else location


def name(location: Location) -> str:
    """Return the last part of a location."""
    return location.name if isinstance(location, Path) else location.rstrip("/").rpartition("/")[2]


def exists(location: Location) -> bool:
    """Tell whether there is a file or folder. Raises OSError where that cannot be told."""
    if not is_remote(location):
        return local_path(location).exists()
    return bool(_file_type(location) != _file_types().NotFound)


def is_taken(location: Location) -> bool:
    """Tell whether a name is taken, even by a link to nothing. Raises OSError."""
    if is_remote(location):
        return exists(location)
    try:
        local_path(location).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def is_same(one: Location, other: Location) -> bool:
    """Tell whether two existing locations are the same."""
    if str(one).rstrip("/") == str(other).rstrip("/"):
        return True
    if is_remote(one) or is_remote(other):
        return False
    path, other_path = local_path(one), local_path(other)
    return path.exists() and other_path.exists() and path.samefile(other_path)


def is_folder(location: Location) -> bool:
    """Tell whether there is a folder. Raises OSError where that cannot be told."""
    if not is_remote(location):
        return local_path(location).is_dir()
    return bool(_file_type(location) == _file_types().Directory)


def names(folder: Location) -> tuple[str, ...]:
    """Return the names of what a folder holds, sorted. Raises OSError."""
    if not is_remote(folder):
        return tuple(sorted(path.name for path in local_path(folder).iterdir()))
    return tuple(sorted(entry.base_name for entry in _list_folder(folder, recursive=False)))


def data_files(folder: Location) -> tuple[str, ...]:
    """Return the relative names of a folder's files, sorted, those of folders in it too.

    Names that Spark does not read as data are left out: those that begin with a dot or an
    underscore, such as `_SUCCESS` and checksums. Raises OSError.
    """
    if is_remote(folder):
        start = len(_file_system(folder)[1].rstrip("/")) + 1
        files = [f.path[start:] for f in _list_folder(folder, recursive=True) if f.is_file]
    else:
        root = local_path(folder)
        paths = (path for path in root.rglob("*") if path.is_file())
        files = [path.relative_to(root).as_posix() for path in paths]
    return data_files_among(files)


def data_files_among(files: Iterable[str]) -> tuple[str, ...]:
    """Return those of the relative names of files that Spark reads as data, sorted."""
    return tuple(sorted(file for file in files if not any(map(_is_ignored, file.split("/")))))


MISSING_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""The value in a folder's name that means a missing one."""


def partition_values(file: str) -> dict[str, str | None]:
    """Return the values in the names of a file's folders, as in `year=2020/`, by column.

    `file` is relative to the table's folder. Values are texts as written; a missing one is None.
    """
    pairs = [part.partition("=") for part in file.split("/")[:-1]]
    values = {unquote(name): unquote(value) for name, mark, value in pairs if name and mark}
    return {
        name: None if value in ("", MISSING_PARTITION) else value for name, value in values.items()
    }


def escape_folder_name(column: str) -> str:
    """Return a column's name escaped as in the name of a folder."""
    return re.sub(r"""[\x00-\x1f"#%'*/:=?\\\x7f{[\]^]""", lambda m: f"%{ord(m[0]):02X}", column)


def read_bytes(location: Location) -> bytes:
    """Return what a file holds. Raises OSError."""
    with _open_input(location) as file:
        return file.read()


def digest(location: Location) -> str:
    """Return the sha-256 of a file's bytes, or of a folder's manifest.

    The manifest has a line per data file, as `sha256sum` prints it. Raises OSError, also for a
    folder on this machine that holds a link: readers follow those to files without a line.
    """
    if is_folder(location):
        root = str(location)
        if not is_remote(location):
            # Reading a policy takes neither (nor below).
            from policy_engine.data.folder_contents import check_no_links  # noqa: PLC0415

            check_no_links(local_path(location))
        return manifest_digest({file: digest(join(root, file)) for file in data_files(location)})
    with _open_input(location) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def manifest_digest(digests: dict[str, str]) -> str:
    """Return the sha-256 of the manifest of files, given the sha-256 of each by its name."""
    lines = (_manifest_line(digests[name], name) for name in sorted(digests))
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()


def _manifest_line(digest: str, name: str) -> str:
    """Return a file's line; a line break in its name is escaped."""
    escaped = name.replace("\\", r"\\").replace("\n", r"\n").replace("\r", r"\r")
    return f"{'' if escaped == name else chr(92)}{digest}  {escaped}\n"


def tree_digest(folder: Path) -> str:
    """Return the sha-256 of all that a folder on this machine holds.

    That is every file by its bytes and every folder by its path, hidden and empty ones too; paths
    are compared as bytes. Raises OSError for links, sockets and devices, which can change while
    the folder does not, or have no bytes.
    """
    from policy_engine.data.folder_contents import tree_entries  # noqa: PLC0415

    entries = sorted(tree_entries(os.fsencode(folder)))
    return hashlib.sha256(json.dumps(entries).encode()).hexdigest()


def write_bytes(location: Location, data: bytes) -> None:
    """Write a file whole. Raises OSError.

    A local one is flushed to the disk; only its owner can read a new one.
    """
    if is_remote(location):
        system, path = _file_system(location)
        with system.open_output_stream(path) as stream:
            stream.write(data)
        return
    with open_private(local_path(location), os.O_TRUNC) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def open_private(path: Path, flag: int) -> BinaryIO:
    """Open a file for writing; where it is new, only its owner can read it.

    `flag` is os.O_EXCL, which requires a new one, or os.O_TRUNC. Raises OSError.
    """
    binary = getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | flag | binary, 0o600), "wb")


def make_folder(location: Location) -> None:
    """Make a folder, and those above it. Raises OSError."""
    if is_remote(location):
        system, path = _file_system(location)
        system.create_dir(path, recursive=True)
    else:
        local_path(location).mkdir(parents=True, exist_ok=True)


def make_private_folder(location: Location) -> None:
    """Make a new folder in an existing one. Raises OSError.

    On this machine only its owner can read it; other storage has its own rules.
    """
    if is_remote(location):
        make_folder(location)
    else:
        local_path(location).mkdir(0o700)


def can_rename(location: Location) -> bool:
    """Tell whether a move there is atomic; object stores copy file by file."""
    return not is_remote(location) or _file_system(location)[0].type_name not in _NO_RENAME


def move(source: Location, target: Location) -> None:
    """Move a file or folder to a free location in the same storage. Raises OSError."""
    if not is_remote(source):
        local_path(source).rename(local_path(target))
    elif can_rename(source):
        system, path = _file_system(source)
        system.move(path, _file_system(target)[1])
    else:
        copy(source, target)
        remove(source)


def remove(location: Location) -> None:
    """Remove a file or a link, or a folder with its content; do nothing where there is none."""
    if not is_taken(location):
        return
    if not is_remote(location):
        path = local_path(location)
        is_tree = path.is_dir() and not path.is_symlink()
        shutil.rmtree(path) if is_tree else path.unlink()
        return
    system, path_there = _file_system(location)
    if is_folder(location):
        system.delete_dir(path_there)
    else:
        system.delete_file(path_there)


def remove_empty(folder: Location) -> None:
    """Remove a folder. Raises OSError where it holds anything."""
    if not is_remote(folder):
        local_path(folder).rmdir()
    elif names(folder):
        raise OSError(f"{folder} is not empty")
    else:
        remove(folder)


def sync(location: Location) -> None:
    """Flush a file or a folder's entries to the disk, where the system can. Raises OSError."""
    if is_remote(location) or not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(local_path(location), os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # folders, on some file systems
            raise
    finally:
        os.close(handle)


def copy(source: Location, target: Location) -> None:
    """Copy a file or folder to a free location in the same remote storage. Raises OSError."""
    system, source_path = _file_system(source)
    target_path = _file_system(target)[1]
    if not is_folder(source):
        system.copy_file(source_path, target_path)
        return
    files = {
        f.path: target_path + f.path[len(source_path) :]
        for f in _list_folder(source, recursive=True)
        if f.is_file
    }
    for folder in {copy_path.rpartition("/")[0] for copy_path in files.values()}:
        system.create_dir(folder, recursive=True)
    for file, copy_path in files.items():
        system.copy_file(file, copy_path)


def _is_ignored(part: str) -> bool:
    is_metadata = part.startswith(("_metadata", "_common_metadata"))
    is_hidden = part.startswith(".") or (part.startswith("_") and "=" not in part)
    return (is_hidden and not is_metadata) or part.endswith("._COPYING_")


def open_to_read(path: Path) -> BinaryIO:
    """Open a file on this machine for reading.

    Raises OSError, also for what may block or never end: a pipe, a socket, a device. Those of
    the shell, such as `/dev/stdin` and `<(command)`, are read.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or str(path).startswith(_SHELL_FILES)):
        raise OSError(errno.EINVAL, "it is a pipe, a socket or a device")
    return path.open("rb")


_SHELL_FILES = ("/dev/", "/proc/")


def _open_input(location: Location) -> IO[bytes]:
    if not is_remote(location):
        return open_to_read(local_path(location))
    system, path = _file_system(location)
    stream: IO[bytes] = system.open_input_file(path)
    return stream


def _file_type(location: Location) -> Any:
    system, path = _file_system(location)
    return system.get_file_info(path).type


def _list_folder(folder: Location, *, recursive: bool) -> Any:
    from pyarrow.fs import FileSelector  # noqa: PLC0415 (slow to import)

    system, path = _file_system(folder)
    return system.get_file_info(FileSelector(path, recursive=recursive))


def _file_types() -> Any:
    from pyarrow.fs import FileType  # noqa: PLC0415 (slow to import)

    return FileType


def _file_system(location: Location) -> tuple[Any, str]:
    """Return the file system of a URI, and the path in it."""
    from pyarrow.fs import FileSystem  # noqa: PLC0415 (slow to import)

    scheme, _, rest = str(location).partition(":")
    scheme = _ALIASES.get(scheme.lower(), scheme.lower())
    system, path = FileSystem.from_uri(f"{scheme}:{quote(rest, safe='/:@')}")
    return system, path


def _error_reason(error: Exception) -> str:
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(words).splitlines()[0].rstrip(".")
