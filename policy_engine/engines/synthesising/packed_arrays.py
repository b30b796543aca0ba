"""Arrays as one file (npz), read within bounds: whoever made it chose what it says of itself."""

import io
import math
import re
import zipfile
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.synthesising.counted import Arrays

_DATE = (1980, 1, 1, 0, 0, 0)
_LEAST, _RATIO = 2**26, 100
"""Bytes that any file may unpack to, and how many times its size: counts and texts are fewer."""
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '(\|[iu]1|<[iu][248]|<f[48])', "
    rb"'fortran_order': (True|False), 'shape': \(([0-9, ]{0,60})\), \} *\n",
    re.DOTALL,
)
"""What numpy writes before the numbers of an array, its type and shape."""


def packed_arrays(arrays: Arrays) -> bytes:
    """Return arrays as the bytes of an npz file, which say nothing of when it was made."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy", _DATE)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o600 << 16
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, arrays[name], allow_pickle=False)
    return packed.getvalue()


def unpacked_arrays(packed: bytes, names: Collection[str]) -> Arrays:
    """Return the arrays of a file that holds those of the `names`, and no others.

    Nothing is unpacked of a file that would be far larger. Raises ValueError, or as `zipfile`
    does, where it is not such a file.
    """
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        entries = {one.filename: one for one in archive.infolist()}
        if {*entries} != {f"{name}.npy" for name in names} or len(entries) < len(
            archive.infolist()
        ):
            raise ValueError("arrays are missing, or are there that no generator has")
        if any(one.compress_type not in _PLAIN for one in entries.values()):
            raise ValueError("an array is packed in another way")
        if sum(one.file_size for one in entries.values()) > max(_LEAST, _RATIO * len(packed)):
            raise ValueError("the arrays are far larger than their file")
        return {name: _array(archive.read(entries[f"{name}.npy"])) for name in names}


_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def _array(content: bytes) -> NDArray[Any]:
    """Return an array of numbers. What it says of its size is true, or it is refused."""
    header = _HEADER.match(content)
    if header is None or int.from_bytes(header[1], "little") + 10 != header.end():
        raise ValueError("an array is not one of numbers")
    kind = np.dtype(header[2].decode())
    shape = tuple(map(int, re.findall(rb"[0-9]+", header[4])))
    if math.prod(shape) * kind.itemsize != len(content) - header.end():
        raise ValueError("an array is larger, or smaller, than it says")
    flat = np.frombuffer(content, kind, offset=header.end())
    return flat.reshape(shape, order="F" if header[3] == b"True" else "C")
