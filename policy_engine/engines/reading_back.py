"""A release read back: its cells parsed, its classes formed, the loss of each cell."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.cells import Cell, read_cell
from policy_engine.engines.arrays import from_texts, to_numpy
from policy_engine.engines.encoding import encode
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels.grouping import Groups, classes_of


def groups(table: pa.Table, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> Groups:
    """Group the rows of a release by their cells, and price every cell.

    Raises CertificateError (V002) where a column is missing or a cell has no shape known.
    """
    codes, losses = [], []
    for name in quasi:
        cell_of, texts = _cells(name, table.column(name))
        loss = _losses(name, [_cell(name, text) for text in texts])
        codes.append(cell_of)
        losses.append(loss[cell_of])
    class_of, count = classes_of(codes)
    return Groups(
        class_of=class_of,
        count=count,
        sensitive={
            name: encode(name, table.column(name), numbers=True, generalised=False).values()
            for name in sensitive
        },
        loss=np.column_stack(losses),
    )


def _cells(name: str, column: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[str | None]]:
    """Return the number of each row's cell, and the distinct cells; missing is one of them."""
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.cast(pa.string()).dictionary_encode()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            message = f"The column {name!r} is of type {column.type}, which holds no cells."
            raise CertificateError.of("V002", message) from None
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    texts = whole.dictionary.cast(pa.string()).to_pylist()
    rows = to_numpy(whole.indices, missing=len(texts))
    missing = [None] if whole.null_count else []
    return rows.astype(np.int32), [*texts, *missing]


def _cell(name: str, text: str | None) -> Cell:
    try:
        return read_cell(text)
    except ValueError:
        message = f"The column {name!r} holds a cell that is no range, set or value."
        raise CertificateError.of("V002", message) from None


def _losses(name: str, found: list[Cell]) -> NDArray[np.float64]:
    """Return the normalised certainty penalty of every distinct cell.

    A range: its width over that of the whole column, and 1 where the value may be missing
    too. A set: its members over all values of the column, missing being one; a single value
    costs nothing.
    """
    if not any(cell.is_range for cell in found):
        domain = len({value for cell in found for value in cell.values})
        domain += any(cell.may_be_missing for cell in found)
        sizes = np.array([len(cell.values) + cell.may_be_missing for cell in found])
        return np.where(sizes > 1, sizes / max(domain, 1), 0.0)
    present = [bool(cell.values) for cell in found]
    low, high = _ends(name, [cell for cell in found if cell.values])
    loss = np.zeros(len(found))
    loss[present] = high - low
    mixed = [bool(cell.values) and cell.may_be_missing for cell in found]
    return np.where(mixed, 1.0, loss)


def _ends(name: str, found: list[Cell]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and upper ends of cells, placed from 0 to 1 on the axis of the column."""
    texts = from_texts([cell.values[end] for end in (0, -1) for cell in found])
    try:
        encoded = encode(name, pa.chunked_array([texts]), numbers=True)
    except DataError:
        encoded = None
    if encoded is None or not encoded.is_ordered:
        message = f"The column {name!r} holds ranges, and cells that lie on no axis with them."
        raise CertificateError.of("V002", message)
    low, high = np.split(encoded.position[encoded.codes], 2)
    if (encoded.codes[: len(found)] > encoded.codes[len(found) :]).any():
        message = f"The column {name!r} holds a range whose ends are not in order."
        raise CertificateError.of("V002", message)
    return low, high
