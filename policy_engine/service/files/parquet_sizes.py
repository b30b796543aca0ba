"""How large a Parquet file is once it is read: its footer says little of texts that repeat."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from policy_engine.errors import DataError

_ROWS = 8192
"""So many rows are decoded at once."""
_BITS = 8


def decoded_size(path: Path, limit: int) -> int:
    """Return how many bytes a Parquet file takes once it is read, as far as that is below a limit.

    Columns of a fixed width are counted, and all others decoded, a few rows at once. Raises
    DataError (C003) for what is not such a file.
    """
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 (slow to import)

    total: int = 0
    try:
        with parquet.ParquetFile(path) as file:
            rows = int(file.metadata.num_rows)
            plain = {field.name: width for field in file.schema_arrow if (width := _width(field))}
            total += rows * sum(plain.values()) // _BITS
            others = [one.name for one in file.schema_arrow if one.name not in plain]
            for size in _sizes(file, others) if others else ():
                total += size
                if total > limit:
                    break
    except (ArrowException, OSError):
        raise DataError.of("C003", "The file is not one of Parquet, or is damaged.") from None
    return total


def _width(field: Any) -> int:
    """Return the bits of each value of a column; 0 where they differ, or cannot be told."""
    from pyarrow import types  # noqa: PLC0415 (slow to import)

    kind = field.type
    is_fixed = (
        types.is_primitive(kind) or types.is_decimal(kind) or types.is_fixed_size_binary(kind)
    )
    return int(kind.bit_width) if is_fixed else 0


def _sizes(file: Any, names: list[str]) -> Iterator[int]:
    """Yield the bytes of a few rows of columns after the others."""
    for batch in file.iter_batches(_ROWS, columns=names, use_threads=False):
        yield sum(array_size(column) for column in batch.columns)


def array_size(array: Any) -> int:
    """Return the bytes of an array of Arrow in which every value is written out."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    import pyarrow.compute as pc  # noqa: PLC0415 (slow to import)

    kind = array.type
    if pa.types.is_dictionary(kind):
        values = kind.value_type
        if not (pa.types.is_string(values) or pa.types.is_binary(values)):
            return array_size(array.dictionary_decode())
        lengths = pc.binary_length(array.dictionary).cast(pa.int64())
        return int(pc.sum(lengths.take(array.indices)).as_py() or 0) + 4 * len(array)
    if pa.types.is_struct(kind):
        return sum(array_size(one) for one in array.flatten())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return array_size(array.flatten()) + 4 * len(array)
    return max(int(array.nbytes), len(array))  # nulls alone take no bytes, but time
