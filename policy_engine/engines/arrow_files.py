"""Write Arrow IPC files that hold nothing but their values.

An array has memory where values are missing, which no reader shows and which may be what was there
before: here it is zero. So equal tables have equal bytes, and a file that has others holds more.
"""

from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import constant, to_numpy, unchunk
from policy_engine.errors import OutputError

_BATCH = 65_536
_BITS = 8


def write_arrow(file: IO[bytes], table: pa.Table) -> None:
    """Write an Arrow IPC file, which Feather's second version is too, uncompressed, in batches of a
    fixed size.

    Raises OutputError (O002) for columns of types other than numbers, truth values, texts, bytes
    and times.
    """
    fields = [pa.field(one.name, one.type) for one in table.schema]
    schema, options = pa.schema(fields), pa.ipc.IpcWriteOptions(compression=None)
    with pa.ipc.new_file(file, schema, options=options) as writer:
        for start in range(0, table.num_rows, _BATCH):
            part = table.slice(start, _BATCH)
            arrays = [
                _plain(field.name, unchunk(column))
                for field, column in zip(fields, part.columns, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def _plain(name: str, values: pa.Array) -> pa.Array:
    """Return the same values in memory of their own, with zeros where they are missing."""
    kind = values.type
    if pa.types.is_null(kind):
        return pa.nulls(len(values))
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _plain_texts(values)
    if pa.types.is_boolean(kind):
        return _from_buffers(values, _packed(to_numpy(values)))
    is_fixed = pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
    if not is_fixed:
        message = f"An Arrow file of a release cannot hold the column {name!r}, of type {kind}."
        raise OutputError.of("O002", message, "Write Parquet.")
    width = kind.bit_width // _BITS
    memory = np.frombuffer(values.buffers()[1] or b"", np.uint8)[values.offset * width :]
    rows = memory[: len(values) * width].reshape(-1, width).copy()
    rows[~_present(values)] = 0
    return _from_buffers(values, pa.py_buffer(rows.tobytes()))


def _plain_texts(values: pa.Array) -> pa.Array:
    filled = pc.fill_null(values, constant("").cast(values.type))
    _, offsets_there, memory = filled.buffers()
    offsets = np.frombuffer(offsets_there, np.int32)[filled.offset :][: len(filled) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    content = memory.slice(first, last - first).to_pybytes() if memory else b""
    starts = pa.py_buffer((offsets - offsets[0]).tobytes())
    return _from_buffers(values, starts, pa.py_buffer(content))


def _from_buffers(values: pa.Array, *buffers: pa.Buffer) -> pa.Array:
    bitmap = _packed(_present(values)) if values.null_count else None
    return pa.Array.from_buffers(values.type, len(values), [bitmap, *buffers], values.null_count)


def _present(values: pa.Array) -> NDArray[np.bool_]:
    return to_numpy(values.is_valid())


def _packed(bits: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(bits, bitorder="little").tobytes())
