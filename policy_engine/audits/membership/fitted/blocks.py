"""Records as a fitted model takes them, and as messages to another process."""

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from policy_engine.errors import AuditError, DataError

Block: TypeAlias = NDArray[Any] | pa.Table
"""Some records: an array (n, ...), or a table with a column for each feature."""

_HEADER = "header"
_TABLE = "table"


def as_matrix(block: Block, kind: DTypeLike) -> NDArray[Any]:
    """Return records as an array of one type; missing numbers of a table are nan.

    Raises AuditError (A003) where a column of a table does not hold numbers.
    """
    if isinstance(block, np.ndarray):
        return block.astype(kind, copy=False)
    texts = [one.name for one in block.schema if not is_number(one.type)]
    if texts:
        message = f"The model takes numbers. {len(texts):,} columns hold something else: "
        names = ", ".join(map(repr, texts[:5])) + (", ..." if len(texts) > 5 else "")
        hint = "Give the columns as the model was fitted on, or the pipeline that encodes them."
        raise AuditError.of("A003", f"{message}{names}.", hint)
    columns = [_numbers(column) for column in block.columns]
    return np.stack(columns, axis=1).astype(kind) if columns else np.empty((len(block), 0), kind)


def as_frame(block: pa.Table) -> Any:
    """Return a table as a frame of pandas. Raises DataError (C011) where that is not installed."""
    try:
        return block.to_pandas()
    except ImportError:
        message = "The model takes columns by name, and the package pandas is not installed."
        raise DataError.of("C011", message, "pip install 'policy-engine[pandas]'.") from None


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a message as bytes: a header that JSON has, and arrays of numbers or texts."""
    out = io.BytesIO()
    np.savez(out, **{_HEADER: np.array(json.dumps(dict(header))), **arrays})  # type: ignore[arg-type]
    return out.getvalue()


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a message; nothing is unpickled.

    Raises ValueError for what is not a message, or packed more tightly than these are, and whatever
    numpy makes of one that is forged.
    """
    with zipfile.ZipFile(io.BytesIO(message)) as members:
        if any(one.compress_type != zipfile.ZIP_STORED for one in members.infolist()):
            raise ValueError("The message is compressed.")
    with np.load(io.BytesIO(message), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(str(arrays.pop(_HEADER))), arrays


def arrays_of(block: Block) -> dict[str, NDArray[Any]]:
    """Return records as arrays for a message: themselves, or a table's Arrow stream."""
    if isinstance(block, np.ndarray):
        return {"array": block}
    out = io.BytesIO()
    with pa.ipc.new_stream(out, block.schema) as stream:
        stream.write_table(block)
    return {_TABLE: np.frombuffer(out.getbuffer(), dtype=np.uint8)}


def block_of(arrays: Mapping[str, NDArray[Any]]) -> Block:
    """Return the records of a message's arrays."""
    if _TABLE not in arrays:
        return arrays["array"]
    return pa.ipc.open_stream(arrays[_TABLE].tobytes()).read_all()


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column of a type holds numbers, or truth values."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    )


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    values = column.cast(pa.float64()).to_numpy()
    return np.asarray(values, dtype=np.float64)
