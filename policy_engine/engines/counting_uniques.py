"""How many rows of a table are unique on sets of its columns."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import to_numpy
from policy_engine.engines.contents import array_marks
from policy_engine.kernels.unique_counts import count_unique_rows

ColumnSets = Sequence[tuple[str, ...]]


def unique_rows(table: pa.Table, sets: ColumnSets) -> tuple[int, ...]:
    """Return how many rows are unique on each set of columns, of one column at least.

    A missing value is a value like any other.
    """
    names = list(dict.fromkeys(name for one in sets for name in one))
    numbers = {name: number for number, name in enumerate(names)}
    codes = [_codes(table.column(name)) for name in names]
    return tuple(count_unique_rows(codes, [tuple(map(numbers.__getitem__, one)) for one in sets]))


def _codes(column: pa.ChunkedArray) -> NDArray[np.int32]:
    """Return the codes of a column's values from 0, (rows,), equal where values are."""
    values = array_marks(column.combine_chunks())
    if pa.types.is_floating(values.type) and values.type.bit_width > _HALF:
        values = pc.add(values, pa.scalar(0.0, values.type))  # both zeros are one value
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    codes = to_numpy(values.indices, missing=len(values.dictionary))
    return codes.astype(np.int32, copy=False)


_HALF = 16
