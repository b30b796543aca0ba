"""What is checked of synthetic rows, read back, by the input: it shares nothing with generators."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import to_numpy, unchunk
from policy_engine.engines.synthesising.coding import ColumnValues
from policy_engine.engines.synthesising.equal_cells import cell_numbers, rows_of
from policy_engine.engines.tables import infer_types

Bools = NDArray[np.bool_]


def foreign_cells(output: pa.Table, source: pa.Table, names: Sequence[str]) -> tuple[int, ...]:
    """Return how many cells of each column lie outside of what the input has.

    A number or a time lies within if it is from the input's least to its greatest, any other value
    if it is one of the input, and a missing cell if the input has one, too.
    """
    output, source = (one.select(list(names)) for one in (output, source))
    before, after = (infer_types(one) for one in (source, output))
    values, cells = cell_numbers([source], output)
    among = (np.isin(*both) for both in zip(cells.T, values.T, strict=True))
    return tuple(
        _foreign(unchunk(after.column(name)), unchunk(before.column(name)), is_known)
        for name, is_known in zip(names, among, strict=True)
    )


def foreign_values(columns: Sequence[ColumnValues], source: pa.Table) -> dict[str, int]:
    """Return how many of the values that a generator holds lie outside of what the input has, by
    column."""
    counts = {}
    for one in columns:
        name = one.field.name
        own = pa.table([one.values], schema=pa.schema([one.field]))
        counts[name] = foreign_cells(own, source, [name])[0]
    return counts


def exact_copies(output: pa.Table, source: pa.Table, names: Sequence[str]) -> int:
    """Return how many rows of a table are rows of its input, in all of some columns."""
    own, made = map(rows_of, cell_numbers([source], output.select(list(names))))
    return int(np.isin(made, own).sum())


def _foreign(cells: pa.Array, values: pa.Array, is_known: Bools) -> int:
    """Return how many cells are neither known values nor, of numbers and times, between some."""
    if is_known.all() or not _is_ordered(values.type) or values.null_count == len(values):
        return int((~is_known).sum())
    return int((~(is_known | to_numpy(_within_range(cells, values)))).sum())


def _is_ordered(kind: pa.DataType) -> bool:
    """Tell whether values of a type are numbers or times."""
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(is_number or pa.types.is_temporal(kind))


def _within_range(cells: pa.Array, values: pa.Array) -> pa.Array:
    """Return which cells are from the least to the greatest value, (cells,)."""
    if pa.types.is_float16(values.type):  # which has no order in Arrow
        values = values.cast(pa.float32())
    if cells.type != values.type:
        try:
            cells = cells.cast(values.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return pc.is_in(cells, value_set=cells[:0])
    ends = pc.min_max(values)
    return pc.and_(pc.greater_equal(cells, ends["min"]), pc.less_equal(cells, ends["max"]))
