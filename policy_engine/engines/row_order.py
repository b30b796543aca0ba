"""The order of the rows of a release by buckets, by what is released of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines import tables
from policy_engine.engines.distinct_values import text_ranks
from policy_engine.engines.encoding import encode


def sort_keys(table: pa.Table, names: Sequence[str]) -> Iterator[NDArray[Any]]:
    """Yield what rows are ordered by: rows that tie in all are equal, however they are written."""
    for name in names:
        numbers = tables.is_untyped(table.schema.field(name))
        column = encode(name, table.column(name), numbers=numbers, is_generalised=False)
        yield column.codes
        if column.respelt or column.has_missing:
            yield text_ranks(table.column(name))
