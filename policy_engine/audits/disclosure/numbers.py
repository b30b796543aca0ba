"""Columns of many numbers over one domain, without a text for each of them."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.utility.matching import MatchedColumn
from policy_engine.engines.arrays import is_text, to_numpy, value_type
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.engines.text_types import EXACT_DIGITS, most_digits, read_texts
from policy_engine.kernels.spread import exact

LEAST_ROWS = 20_000
"""From so many rows on, the texts of all numbers would take most of the time."""


def match_numbers(name: str, original: pa.Table, release: pa.Table) -> MatchedColumn | None:
    """Return what `match_values` does of a column of many finite numbers, but for the labels, which
    are the numbers; None of any other column, or where floats do not tell all numbers apart."""
    rows, field = original.num_rows, original.schema.field(name)
    may_be = is_untyped(field) or not is_text(value_type(field.type))
    if rows < LEAST_ROWS or not may_be:
        return None
    sides = [_floats(table.column(name)) for table in (original, release)]
    before, after = sides
    if before is None or after is None:
        return None
    both = np.concatenate([before, after])
    missing = np.isnan(both)
    values, present = np.unique(both[~missing], return_inverse=True)
    if not np.isfinite(values).all():
        return None
    has_missing = bool(missing.any())
    codes = np.zeros(len(both), dtype=np.int32)
    codes[~missing] = present + has_missing
    position = np.concatenate([[0.0] * has_missing, values])
    labels: NDArray[Any] = np.concatenate([[np.nan] * has_missing, values])
    if len(labels) < LEAST_ROWS:
        texts = [repr(one).removesuffix(".0") for one in values.tolist()]
        labels = np.array([""] * has_missing + texts, dtype=object)
    return MatchedColumn(
        name=name,
        role="",
        kind="masked",
        labels=labels,
        position=position,
        is_ordered=True,
        has_missing=has_missing,
        before=exact(codes[:rows], len(labels)),
        after=exact(codes[rows:], len(labels)),
    )


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64] | None:
    """Return the numbers of a column, nan where there is none; None if floats do not hold them."""
    values = plain_array(column)
    kind = values.type
    if is_text(kind):
        values, kind = read_texts(values.cast(pa.string()))
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return None
        if pa.types.is_floating(kind) and most_digits(values) > EXACT_DIGITS:
            return None
        values = values.cast(kind)
    if pa.types.is_integer(kind):
        numbers = to_numpy(values.drop_null())
        return (
            None if np.abs(numbers.astype(np.float64)).max(initial=0) >= _WHOLE else _cast(values)
        )
    return _cast(values) if pa.types.is_floating(kind) else None


_WHOLE = 2.0**53


def _cast(values: pa.Array) -> NDArray[np.float64]:
    return np.asarray(to_numpy(values.cast(pa.float64(), safe=False), missing=np.nan))
