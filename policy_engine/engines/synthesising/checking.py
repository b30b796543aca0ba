"""What is checked of synthetic rows, read back, by the input: it shares nothing with generators."""

import os
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import to_numpy, unchunk
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.tables import infer_types

_NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"


def foreign_cells(output: pa.Table, source: pa.Table, names: Sequence[str]) -> tuple[int, ...]:
    """Return how many cells of each column lie outside of what the input has.

    A number or a time lies within if it is from the input's least to its greatest, any other value
    if it is one of the input, and a missing cell if the input has one, too.
    """
    after, before = (infer_types(one.select(list(names))) for one in (output, source))
    return tuple(
        _foreign(unchunk(after.column(name)), unchunk(before.column(name))) for name in names
    )


def exact_copies(output: pa.Table, source: pa.Table, names: Sequence[str]) -> int:
    """Return how many rows of a table are rows of its input, in all of some columns."""
    key = os.urandom(16)
    after, before = (
        row_keys(infer_types(one.select(list(names))).columns, key) for one in (output, source)
    )
    return int(np.isin(_as_one(after), _as_one(before)).sum())


def _as_one(keys: NDArray[np.uint64]) -> NDArray[np.void]:
    """Return keys of two words each as values that compare at once, (rows,)."""
    return np.ascontiguousarray(keys).view(np.dtype("V16"))[:, 0]


def _foreign(cells: pa.Array, values: pa.Array) -> int:
    present, own = cells.drop_null(), values.drop_null()
    missing = 0 if values.null_count else cells.null_count
    within = _within_range if _is_ordered(values.type) else _among
    inside = int(to_numpy(within(present, own)).sum()) if len(present) and len(own) else 0
    return missing + len(present) - inside


def _is_ordered(kind: pa.DataType) -> bool:
    """Tell whether values of a type are numbers or times."""
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(is_number or pa.types.is_temporal(kind))


def _within_range(cells: pa.Array, values: pa.Array) -> pa.Array:
    """Return which cells are from the least to the greatest value, (cells,).

    NaN, which has no place in the order, is within if it is one of the values.
    """
    if cells.type != values.type:
        try:
            cells = cells.cast(values.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return pc.is_in(cells, value_set=cells[:0])
    ends = pc.min_max(values)
    within = pc.and_(pc.greater_equal(cells, ends["min"]), pc.less_equal(cells, ends["max"]))
    return pc.or_(within, pc.is_in(cells, value_set=values.unique()))


def _among(cells: pa.Array, values: pa.Array) -> pa.Array:
    """Return which cells are among some values, (cells,).

    Texts of which not all are numbers may be written as numbers where no others are left.
    """
    if cells.type == values.type:
        return pc.is_in(cells, value_set=values.unique())
    texts = values.unique().cast(pa.string())
    among = pc.is_in(cells.cast(pa.string()), value_set=texts)
    if not _is_ordered(cells.type) or pa.types.is_temporal(cells.type):
        return among
    numbers = texts.filter(pc.match_substring_regex(texts, _NUMBER)).cast(pa.float64())
    return pc.or_(among, pc.is_in(cells.cast(pa.float64()), value_set=numbers))
