"""How large a Parquet file is once it is read, and whether all of it can be: its footer says little
of texts that repeat, and nothing of pages that are damaged."""

from pathlib import Path
from typing import Any

from policy_engine.errors import DataError, PolicyEngineError

_ROWS = 8192
"""So many rows are decoded at once."""
_BITS = 8


def decoded_size(path: Path, limit: int) -> int:
    """Return how many bytes a Parquet file takes once it is read, as far as that is below a limit.

    All columns are decoded, a few rows at once, and the checksums of pages compared, where the file
    has any. Those of a fixed width are counted beforehand: a file that says to have many more rows
    than it has room for is too large, and not read. Raises DataError (C003) for what is not such a
    file, or is damaged.
    """
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 (slow to import)

    total = count = 0
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            rows = int(file.metadata.num_rows)
            plain = {field.name: width for field in file.schema_arrow if (width := _width(field))}
            total += rows * sum(plain.values()) // _BITS
            for batch in file.iter_batches(_ROWS, use_threads=False) if total <= limit else ():
                count += batch.num_rows
                named = zip(batch.schema.names, batch.columns, strict=True)
                total += sum(array_size(column) for name, column in named if name not in plain)
                if total > limit:
                    break
    except (ArrowException, OSError):
        raise _damaged_error() from None
    if total <= limit and count != rows:
        raise _damaged_error()
    return total


def _damaged_error() -> PolicyEngineError:
    """Return the error of what cannot be read as a Parquet file."""
    return DataError.of("C003", "The file is not one of Parquet, or is damaged.")


def _width(field: Any) -> int:
    """Return the bits of each value of a column; 0 where they differ, or cannot be told."""
    from pyarrow import types  # noqa: PLC0415 (slow to import)

    kind = field.type
    is_fixed = (
        types.is_primitive(kind) or types.is_decimal(kind) or types.is_fixed_size_binary(kind)
    )
    return int(kind.bit_width) if is_fixed else 0


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
