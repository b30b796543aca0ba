"""Write a file as a whole, or leave the old one as it was."""

import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

from policy_engine.data.places.patterns import files_at
from policy_engine.errors import OutputError, PolicyEngineError

_OPEN_FILES = ("/dev", "/dev/fd", "/proc/self/fd")
"""Folders of the files that a process has open: /dev/stdout is one, and is never moved."""


def write_file(
    path: Path, data: str | bytes, *inputs: Path, overwrite: bool = True, private: bool = False
) -> None:
    """Write a file by a rename, so that nobody ever sees a part of it.

    Until it is whole it is a file in the same folder that only its owner can read; then it has the
    mode of the umask, or stays the owner's where it is `private`. With `overwrite` an existing
    file is replaced, a symbolic link itself and not its target; without, one with other content
    is refused. A pipe and an open file (`/dev/stdout`) are appended to.

    Raises OutputError where it cannot be written (O002), is one of the inputs, or is taken (O001).
    """
    text = data.encode() if isinstance(data, str) else data
    try:
        _check_other(path, inputs)
        if _is_stream(path):
            with path.open("ab") as stream:  # which keeps what was written before
                stream.write(text)
        elif overwrite or not _holds(path, text):
            _write(path, text, overwrite=overwrite, private=private)
    except OSError as error:
        raise _unwritable_error(path, error) from None


def check_destination(path: Path, *inputs: Path, overwrite: bool = False) -> None:
    """Raise OutputError (O001, O002) where `write_file` would, as far as is known beforehand.

    It is for what is costly, or can be made only once. A file is made beside it, and removed.
    """
    if not overwrite:
        check_free(path)
    try:
        _check_other(path, inputs)
        if not _is_stream(path):
            _check_kind(path)
            number, name = tempfile.mkstemp(
                prefix=f".policy-engine.{os.getpid()}.", dir=path.parent
            )
            os.close(number)
            Path(name).unlink()
    except (OSError, ValueError) as error:
        raise _unwritable_error(path, error) from None


def check_private(path: Path, *inputs: Path, overwrite: bool = False) -> None:
    """Raise OutputError as `check_destination` does, and for what others may read: a pipe or an
    open file, such as /dev/stdout (O001)."""
    if _is_stream(path):
        message = f"What only the owner may read is written to a file. {str(path)!r} is not one."
        raise OutputError.of("O001", message, "Give another path.")
    check_destination(path, *inputs, overwrite=overwrite)


def check_free(path: Path) -> None:
    """Raise OutputError (O001) where the path exists, even as a link to nothing.

    A pipe and an open file are there to be written to.
    """
    try:
        if os.path.lexists(path) and not _is_stream(path):
            raise _exists_error(path)
    except (OSError, ValueError) as error:
        raise _unwritable_error(path, error) from None


def _check_other(path: Path, inputs: Sequence[Path]) -> None:
    """Raise OutputError (O001) where a path is one of the inputs."""
    files = (Path(one) for source in inputs for one in files_at(source))
    if any(path.exists() and source.exists() and path.samefile(source) for source in files):
        message = f"The output {str(path)!r} is the input itself."
        raise OutputError.of("O001", message, "Give another path.")


def _check_kind(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise OSError("something that is not a file is there")


def _is_stream(path: Path) -> bool:
    if not path.exists():
        return False
    mode = path.stat().st_mode
    is_open = str(path.parent) in _OPEN_FILES and not stat.S_ISDIR(mode)
    return (is_open and not stat.S_ISBLK(mode)) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _holds(path: Path, data: bytes) -> bool:
    """Tell whether a file that is not a link holds just this."""
    is_file = path.is_file() and not path.is_symlink()
    return is_file and path.stat().st_size == len(data) and path.read_bytes() == data


def _write(path: Path, data: bytes, *, overwrite: bool, private: bool) -> None:
    if not overwrite:
        check_free(path)
    else:
        _check_kind(path)
    number, name = tempfile.mkstemp(prefix=f".policy-engine.{os.getpid()}.", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(number)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod((0o600 if private else 0o666) & ~mask)
        if overwrite:
            Path(name).replace(path)
        else:
            _move_to_nothing(Path(name), path)
    finally:
        Path(name).unlink(missing_ok=True)


def _move_to_nothing(source: Path, target: Path) -> None:
    """Move a file to a free path, safely where another process does so at the same moment."""
    try:
        target.hardlink_to(source)
    except FileExistsError:
        raise _exists_error(target) from None
    except OSError:  # a file system without hard links
        check_free(target)
        source.rename(target)


def _unwritable_error(path: Path, error: Exception) -> PolicyEngineError:
    message = f"The file cannot be written: {getattr(error, 'strerror', None) or error}."
    return OutputError.of("O002", message, source=str(path))


def _exists_error(path: Path) -> PolicyEngineError:
    message = f"The output {str(path)!r} exists."
    return OutputError.of("O001", message, "Give another path, or overwrite=True to replace it.")
