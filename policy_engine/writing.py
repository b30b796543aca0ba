"""Write a file whole, or leave what was there as it was."""

import os
import tempfile
from pathlib import Path

from policy_engine.errors import OutputError


def write_whole(path: Path, data: str | bytes, *inputs: Path) -> None:
    """Write a file over what is there, by a rename, so that nobody ever sees a part of it.

    Raises OutputError where it cannot be written (O002), or is one of the inputs (O001).
    """
    try:
        if any(path.exists() and path.samefile(source) for source in inputs):
            message = f"The output {str(path)!r} is the input itself."
            raise OutputError.of("O001", message, "Give another path.")
        _write(path, data.encode() if isinstance(data, str) else data)
    except OSError as error:
        message = f"The file cannot be written: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(path)) from None


def _write(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():  # a pipe, or /dev/stdout
        path.write_bytes(data)
        return
    number, name = tempfile.mkstemp(prefix=f".policy-engine.{os.getpid()}.", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
