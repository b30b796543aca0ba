"""The shapes that files of numpy's arrays say in their headers, read without numpy."""

import ast
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

from policy_engine.data.table_files import file_format

_MAGIC, _LENGTH_BYTES = b"\x93NUMPY", {1: 2, 2: 4}
_MOST = 10_000
"""So long is a header at most, as numpy has it."""


def array_shape(path: Path, name: str) -> tuple[int, ...] | None:
    """Return the shape of an array in a .npy file, or of that name in a .npz file, (rows, ...).

    None of a file that has no such header: what reads it says what is wrong.
    """
    try:
        if file_format(path) == "npy":
            with path.open("rb") as file:
                return _shape_in(file)
        with ZipFile(path) as archive, archive.open(f"{name}.npy") as member:
            return _shape_in(member)
    except (OSError, BadZipFile, KeyError, ValueError, SyntaxError, RuntimeError):
        return None


def _shape_in(file: IO[bytes]) -> tuple[int, ...] | None:
    """Return the shape in a header (numpy.lib.format: a magic text, a version, the length of a
    dictionary of literals, and that)."""
    start = file.read(len(_MAGIC) + 2)
    size = _LENGTH_BYTES.get(start[-2]) if start[:-2] == _MAGIC else None
    length = int.from_bytes(file.read(size), "little") if size else _MOST + 1
    if length > _MOST:
        return None
    header = ast.literal_eval(file.read(length).decode("latin-1"))
    shape = header.get("shape") if isinstance(header, dict) else None
    is_shape = isinstance(shape, tuple) and all(isinstance(one, int) for one in shape)
    return shape if is_shape else None
