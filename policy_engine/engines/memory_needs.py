"""Whether a table can be held by this machine, told before it is read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

from policy_engine.data.available_memory import available_memory, format_size
from policy_engine.data.row_count import estimate_lines
from policy_engine.data.table_files import list_table_files, read_format
from policy_engine.errors import DataError, PolicyEngineError

_CELL = 4  # bytes: the code of a text, or where it begins
_SURE = 2
"""By so much an estimate of the lines of a file has to be above what there is."""


@contextmanager
def held_in_memory(path: Path, columns: Sequence[str]) -> Iterator[None]:
    """Refuse to read columns of a table within the block that this machine cannot hold.

    Raises DataError (R011) beforehand where the cells alone, without anything that is done with
    them, need more memory than there is; or where it is used up within.
    """
    needed, available = least_memory(path, columns), available_memory()
    if needed > available:
        raise _too_large(path, f"at least {format_size(needed)}", available)
    try:
        yield
    except MemoryError:
        raise _too_large(path, "more", available) from None


def _too_large(path: Path, needed: str, available: int) -> PolicyEngineError:
    message = f"The local engine holds a table in memory. This one needs {needed}; there are "
    hint = "Run it on Spark (--engine spark), each of whose machines holds a part, or free memory."
    return DataError.of("R011", f"{message}{format_size(available)}.", hint, str(path))


def least_memory(path: Path, columns: Sequence[str]) -> int:
    """Return how many bytes the cells of columns take in memory at least; 0 of what cannot be told
    without reading it."""
    with suppress(OSError, ValueError, pa.ArrowException, DataError):
        return sum(_least_of_file(file, columns) for file in list_table_files(path))
    return 0


def _least_of_file(file: Path, columns: Sequence[str]) -> int:
    kind = read_format(file)
    if kind == "parquet":
        import pyarrow.parquet as pq  # noqa: PLC0415 (as used)

        metadata = pq.read_metadata(file)
        fields = metadata.schema.to_arrow_schema()
        return int(
            metadata.num_rows * sum(_width(one.type) for one in fields if one.name in columns)
        )
    lines = estimate_lines(file) if kind == "csv" else None
    return (lines or 0) * _CELL * len(columns) // _SURE


def _width(kind: pa.DataType) -> int:
    """Return how many bytes a cell of a type takes at least."""
    if pa.types.is_dictionary(kind):
        return int(kind.index_type.bit_width // 8)
    try:
        return int(kind.bit_width // 8)
    except ValueError:  # of no fixed width
        return _CELL
