"""Read and write files of numpy's arrays: .npy and .npz. Nothing in them is ever unpickled."""

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.table_files import IMAGE, Format, array_names, file_format
from policy_engine.engines.arrays import from_numpy, from_texts, is_text, to_numpy, unchunk
from policy_engine.engines.number_lists import from_lists, is_array_of_numbers, to_lists
from policy_engine.errors import DataError, OutputError, PolicyEngineError, join_names

_KINDS = "biufU"
_WIDEST = 8
_MOST_AXES = 4
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time of a member of a zip file: when a file was written is not released."""


class _Header(NamedTuple):
    """What an array's file says of it, and how many bytes this takes."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]
    length: int


def read_arrays(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return some or all arrays of a file as the columns of a table, rows along the first axis.

    Arrays of more axes are fixed-size lists, nested as the axes are. Raises DataError for a damaged
    file and for arrays of different lengths (C010), objects and other types that no column has
    (C009), texts that are not Unicode (C008), and OSError.
    """
    arrays: dict[str, NDArray[Any]] = {}
    lengths: dict[str, int] = {}
    with _read_errors(path):
        for name, file, size in _members(path):
            header = _read_header(file, name, path)
            lengths[name] = header.shape[0]
            if columns is None or name in columns:
                arrays[name] = _read_array(file, header, size)
    if len({*lengths.values()}) > 1:
        lengths_text = ", ".join(f"{length:,} of {name!r}" for name, length in lengths.items())
        message = f"The arrays differ in their number of rows: {lengths_text}."
        raise DataError.of("C010", message, "One row of each belongs together.", str(path))
    return pa.table({name: _to_column(name, arrays[name], path) for name in columns or arrays})


@contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (BadZipFile, ValueError, EOFError, RuntimeError, zlib.error):
        message = f"The file is not one of numpy's .{file_format(path)} files, or it is damaged."
        raise DataError.of("C010", message, source=str(path)) from None


def _members(path: Path) -> Iterator[tuple[str, IO[bytes], int]]:
    """Yield the name of each array in a file, the array's file, and its size in bytes."""
    if file_format(path) == "npy":
        with path.open("rb") as file:
            yield IMAGE, file, path.stat().st_size
        return
    with ZipFile(path) as archive:
        for name in array_names(archive):
            info = archive.getinfo(f"{name}.npy")
            if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise ValueError(info.compress_type)
            with archive.open(info) as member:
                yield name, member, info.file_size


def _read_header(file: IO[bytes], name: str, path: Path) -> _Header:
    """Return the header of an array, without reading the array.

    Raises ValueError where it is not one, DataError (C009) for types and shapes that no column has.
    """
    version = np.lib.format.read_magic(file)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(version)
    try:
        shape, is_fortran, dtype = readers[version](file)
    except Exception as error:
        raise ValueError(name) from error
    _check_type(name, dtype, len(shape), path)
    least = 3 if file_format(path) == "npy" else 1
    if not least <= len(shape) <= _MOST_AXES or 0 in shape[1:]:
        message = f"The array {name!r} has the shape {shape}."
        hint = "Allowed are (rows, height, width) and (rows, height, width, channels)"
        hint += "." if least > 1 else ", (rows,) and (rows, numbers)."
        raise DataError.of("C009", message, hint, str(path))
    return _Header(shape, is_fortran, dtype, file.tell())


def _check_type(name: str, dtype: np.dtype[Any], axes: int, path: Path) -> None:
    """Raise DataError (C009) for an array of objects, or of a type that no column has."""
    if dtype.hasobject:
        message = f"The array {name!r} holds Python objects, which are never unpickled."
        hint = "Allowed are numbers, texts and truth values."
        raise DataError.of("C009", message, hint, str(path))
    is_known = dtype.kind in _KINDS and (dtype.kind == "U" or dtype.itemsize <= _WIDEST)
    if not is_known or (axes > 1 and dtype.kind in "bU"):
        message = f"The array {name!r} is of type {dtype} and of {axes} axes."
        hint = "Allowed are integers and floats, and on one axis also texts and truth values."
        raise DataError.of("C009", message, hint, str(path))


def _read_array(file: IO[bytes], header: _Header, size: int) -> NDArray[Any]:
    """Return the array behind a header. Raises ValueError where it does not fill its file."""
    length = math.prod(header.shape) * header.dtype.itemsize
    if header.length + length != size:
        raise ValueError(size)
    numbers = np.frombuffer(file.read(length), header.dtype)
    if header.is_fortran:
        numbers = numbers.reshape(header.shape[::-1]).T
    native = header.dtype.newbyteorder("=")
    return np.ascontiguousarray(numbers.reshape(header.shape), native)


def _to_column(name: str, array: NDArray[Any], path: Path) -> pa.Array:
    if array.dtype.kind != "U":
        return to_lists(array) if array.ndim > 1 else from_numpy(array)
    try:
        return from_texts(array.tolist())
    except ValueError:  # no text at all, or half of a surrogate pair
        message = f"The array {name!r} holds text that is not Unicode."
        raise DataError.of("C008", message, source=str(path)) from None


def write_arrays(file: IO[bytes], table: pa.Table, kind: Format) -> None:
    """Write the columns of a table as arrays to an open file; the same columns, the same bytes.

    Missing numbers of a column of floats, or of lists of them, are NaN. Raises OutputError (O002)
    for columns that no array can hold, OSError.
    """
    if kind == "npy" and table.column_names != [IMAGE]:
        message = f"A .npy file holds one array, which is named {IMAGE!r}. The columns are "
        message += f"{join_names(table.column_names)}."
        raise OutputError.of("O002", message, "Write a .npz file.")
    arrays = {name: _to_array(name, table.column(name), kind) for name in table.column_names}
    if kind == "npy":
        np.lib.format.write_array(file, arrays[IMAGE], allow_pickle=False)
        return
    _write_archive(file, arrays)


def _write_archive(file: IO[bytes], arrays: Mapping[str, NDArray[Any]]) -> None:
    with ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            info = ZipInfo(f"{name}.npy", _EPOCH)
            info.create_system = 3  # the same bytes on every system
            is_large = array.nbytes >= 2**31 - 2**16
            with archive.open(info, "w", force_zip64=is_large) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _to_array(name: str, column: pa.ChunkedArray, kind: Format) -> NDArray[Any]:
    """Return a column as an array. Raises OutputError (O002) where no array can hold it."""
    values = unchunk(column)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if "\0" in name:
        raise _unwritable(name, "has a name that a zip file would cut off", kind)
    if values.null_count and not pa.types.is_floating(values.type):
        raise _unwritable(name, "has missing values", kind)
    if is_array_of_numbers(values.type):
        return _images(name, values, kind)
    if kind == "npz" and is_text(values.type):
        return _texts(name, values, kind)
    is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    if kind == "npz" and (is_number or pa.types.is_boolean(values.type)):
        return to_numpy(values, missing=math.nan if pa.types.is_floating(values.type) else 0)
    raise _unwritable(name, f"is of type {values.type}", kind)


def _images(name: str, lists: pa.Array, kind: Format) -> NDArray[Any]:
    try:
        images = from_lists(lists, missing=math.nan)
    except ValueError as error:
        raise _unwritable(name, f"holds {error}", kind) from None
    least = 3 if kind == "npy" else 1
    if not least <= images.ndim <= _MOST_AXES or 0 in images.shape[1:]:
        raise _unwritable(name, f"is an array of the shape {images.shape}", kind)
    return images


def _texts(name: str, texts: pa.Array, kind: Format) -> NDArray[Any]:
    array = np.array(texts.to_pylist(), dtype=np.str_)
    if array.tolist() != texts.to_pylist():
        raise _unwritable(name, "has texts that end with a null character", kind)
    return array


def _unwritable(name: str, what: str, kind: Format) -> PolicyEngineError:
    message = f"The column {name!r} {what}. A .{kind} file cannot hold it."
    return OutputError.of("O002", message, "Write Parquet.")
