"""A table in buckets: exact quasi-identifiers in one table, sensitive values in another."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines import field_marks
from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.distinct_values import text_ranks
from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.identifiers import redacted_column
from policy_engine.engines.masking.perturbing import RowKeys, masking_key
from policy_engine.engines.preparation import Overview, check_feasible
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.kernels.bucketization import NotEligible, anatomy_of_rows, distinct_l
from policy_engine.kernels.diversity import histogram
from policy_engine.kernels.grouping import classes_of
from policy_engine.methods.buckets import BUCKET, COUNT
from policy_engine.plan.steps import Anonymize, Publish

Ints = NDArray[np.int64]
_LABEL = 0x6275636B657473
"""What tells the draws of buckets from those of maskings and samples under the same key."""


class BucketedTable(NamedTuple):
    """The two tables, each in an order that follows from what it has."""

    quasi: pa.Table
    sensitive: pa.Table


def bucketize(
    table: pa.Table, step: Anonymize, output: Publish, key: bytes | None
) -> BucketedTable:
    """Return the released columns with the bucket of every row, and the sensitive values by bucket.

    Rows of one value are dealt to the buckets of Anatomy at random, by the owner's `key` or one
    that is kept nowhere: whoever has not got it cannot deal them again. Raises DataError (R002,
    R003) where the table as a whole cannot hold the bounds, and (R015) where a value is too
    frequent for Anatomy.
    """
    [name] = step.columns.sensitive_names
    # As the certificate will compare sensitive texts when it reads them back from a file.
    values = encode(name, table.column(name), numbers=True, is_generalised=False)
    codes = values.values()
    counts = {name: histogram(np.zeros(len(codes), dtype=np.int64), 1, codes)}
    check_feasible(Overview(table.num_rows, None, counts, {}), step)
    if step.recoding.buckets == "anatomy":
        buckets = _anatomy(table, step, codes, key)
    else:
        buckets = _equal_buckets(table, step, codes)
    columns = [one for one in output.columns if one != name]
    quasi = _quasi_table(table, step, columns, buckets)
    return BucketedTable(quasi, _sensitive_table(table, name, values, buckets))


def _anatomy(table: pa.Table, step: Anonymize, codes: NDArray[np.int32], key: bytes | None) -> Ints:
    missing = codes < 0
    dealt = np.where(missing, codes.max(initial=-1) + 1, codes)
    words = RowKeys.of(table, masking_key(key)).words(_LABEL, 1)[:, 0]
    buckets = anatomy_of_rows(dealt, words, step.least_values, step.k, int(missing.sum()))
    if isinstance(buckets, NotEligible):
        largest = int(np.bincount(dealt).max())
        raise _not_eligible_error(step, largest, int((~missing).sum()), buckets.most)
    return buckets


def _not_eligible_error(step: Anonymize, largest: int, valued: int, most: int) -> PolicyEngineError:
    [name] = step.columns.sensitive_names
    l = step.least_values  # noqa: E741
    message = (
        f"Anatomy with l {l} needs that no value of {name!r} has more than 1/{l} of the rows that "
        f"have one, which are {valued:,}. The most frequent, or a missing one, has {largest:,}."
    )
    hint = f"On this table, l can be at most {most}."
    if most < 2:
        hint = "On this table, no l is possible: ask for distinct-l."
    return DataError.of("R015", message, hint)


def _equal_buckets(table: pa.Table, step: Anonymize, codes: NDArray[np.int32]) -> Ints:
    """Return buckets of equal quasi-identifiers, or of several that follow each other in order."""
    quasi = [_encoded(table, name).codes for name in step.columns.quasi_names]
    class_of, _ = classes_of(quasi)
    assignment = distinct_l(class_of, codes, step.least_values, step.k)
    # The table as a whole has k rows and l values, so that there is one bucket at least.
    assert not isinstance(assignment, NotEligible)  # noqa: S101
    return assignment.bucket_of


# -- the tables -----------------------------------------------------------------------------------


def _quasi_table(table: pa.Table, step: Anonymize, names: Sequence[str], buckets: Ints) -> pa.Table:
    """Return columns with the bucket of every row, in the order of what they hold together."""
    visible_names = [name for name in names if name not in step.columns.redact]
    rows = np.lexsort([buckets, *reversed([*_sort_keys(table, visible_names)])])
    taken = table.select(visible_names).take(from_numpy(rows))
    columns: dict[str, tuple[pa.Field, Any]] = {}
    for name in names:
        if name in step.columns.redact:
            values = redacted_column(len(rows))
            columns[name] = pa.field(name, values.type), values
        else:
            columns[name] = table.schema.field(name), taken.column(name)
    columns[BUCKET] = pa.field(BUCKET, pa.int64()), from_numpy(buckets[rows])
    schema = pa.schema([field for field, _ in columns.values()])
    return pa.table([values for _, values in columns.values()], schema=schema)


def _sort_keys(table: pa.Table, names: Sequence[str]) -> Iterator[NDArray[Any]]:
    """Yield what rows are ordered by: rows that tie in all are equal, however they are written."""
    for name in names:
        column = _encoded(table, name)
        yield column.codes
        if column.respelt or column.has_missing:
            yield text_ranks(table.column(name))


def _sensitive_table(table: pa.Table, name: str, values: ColumnCodes, buckets: Ints) -> pa.Table:
    """Return how often each value occurs in each bucket, sorted by bucket, then by value."""
    keys: list[NDArray[Any]] = [
        buckets,
        values.codes.astype(np.int64),
        text_ranks(table.column(name)),
    ]
    rows = np.lexsort(keys[::-1])
    is_new = np.any([np.diff(key[rows], prepend=-1) != 0 for key in keys], axis=0)
    firsts = np.flatnonzero(is_new)
    counts = np.diff(firsts, append=len(rows))
    fields = [pa.field(BUCKET, pa.int64()), table.schema.field(name), pa.field(COUNT, pa.int64())]
    first_rows = rows[firsts]
    values_column = table.column(name).take(from_numpy(first_rows))
    columns = [from_numpy(buckets[first_rows]), values_column, from_numpy(counts)]
    return pa.table(columns, schema=pa.schema(fields))


def _encoded(table: pa.Table, name: str) -> ColumnCodes:
    numbers = field_marks.is_untyped(table.schema.field(name))
    return encode(name, table.column(name), numbers=numbers, is_generalised=False)
