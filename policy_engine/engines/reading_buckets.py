"""Read a release by buckets back, and measure what its two tables disclose."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.data.bucket_tables import QUASI_IDENTIFIERS, SENSITIVE
from policy_engine.engines.arrays import is_text, to_numpy, unchunk
from policy_engine.engines.encoding import encode
from policy_engine.engines.identifiers import check_hidden
from policy_engine.errors import CertificateError, Problem, join_names
from policy_engine.kernels.published_buckets import BucketFigures, bucket_figures
from policy_engine.methods import Bound, Measurement
from policy_engine.methods.buckets import ANATOMY, BUCKET, COUNT, ROWS
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]


def measure_buckets(tables: Mapping[str, pa.Table], step: Anonymize) -> tuple[Measurement, ...]:
    """Return every bound of a release by buckets, measured on both of its tables by their names.

    Raises CertificateError (V002) for sensitive values beside quasi-identifiers, for anything else
    beside sensitive values, for numbers that are none, and for tables that do not have the same
    buckets.
    """
    [name] = step.columns.sensitive_names
    quasi, sensitive = tables[QUASI_IDENTIFIERS], tables[SENSITIVE]
    expected = {*quasi.column_names, *step.columns.quasi_names, *step.columns.redact, BUCKET}
    problems = [
        *_column_problems(QUASI_IDENTIFIERS, quasi, expected - {name, COUNT}),
        *_column_problems(SENSITIVE, sensitive, {BUCKET, name, COUNT}),
    ]
    if problems:
        raise CertificateError(*problems)
    for one in step.columns.redact:
        check_hidden(one, quasi.column(one), is_redacted=True)
    entries = _Entries.of(sensitive, name)
    rows = _numbers(QUASI_IDENTIFIERS, quasi, BUCKET, 0)
    figures, present_values = entries.figures(rows), entries.present_values().figures(rows)
    if not figures.agree():
        message = "The two tables do not have the same buckets, with as many rows as values."
        raise CertificateError.of("V002", message)
    _check_numbers(rows)
    return tuple(
        Measurement.of(one, _figure(one, figures, present_values)) for one in step.class_bounds()
    )


def _check_numbers(buckets: Ints) -> None:
    """Raise CertificateError (V002) where numbers of buckets are left out: they could tell more."""
    count = len(np.unique(buckets))
    if int(buckets.max(initial=-1)) + 1 != count:
        message = f"The {count} buckets do not have the numbers from 0 to {count - 1}, which could "
        raise CertificateError.of("V002", f"{message}tell more.")


def _figure(bound: Bound, figures: BucketFigures, present_values: BucketFigures) -> Ints:
    """Return what a bound is about, for every bucket; `present_values` is without missing ones."""
    if bound.name == ROWS:
        return figures.rows
    return figures.inverse_shares() if bound.name == ANATOMY else present_values.distinct


@dataclass(frozen=True)
class _Entries:
    """The rows of the table of sensitive values, (entries,): their buckets, the codes of their
    values, -1 for a missing one, and how often each occurs."""

    buckets: Ints
    codes: Ints
    counts: Ints

    @classmethod
    def of(cls, table: pa.Table, name: str) -> "_Entries":
        buckets = _numbers(SENSITIVE, table, BUCKET, 0)
        if (np.diff(buckets) < 0).any():
            message = f"The table {SENSITIVE!r} is not sorted by bucket: its order could tell more."
            raise CertificateError.of("V002", message)
        pairs = table.select([BUCKET, name]).group_by([BUCKET, name]).aggregate([])
        if pairs.num_rows < table.num_rows:
            message = f"The table {SENSITIVE!r} has a value of a bucket in several rows."
            raise CertificateError.of("V002", message, "Give one row, with its count.")
        codes = encode(name, table.column(name), numbers=True, is_generalised=False).values()
        return cls(buckets, codes.astype(np.int64), _numbers(SENSITIVE, table, COUNT, 1))

    def present_values(self) -> "_Entries":
        """Return those that have a value."""
        present = self.codes >= 0
        return _Entries(self.buckets[present], self.codes[present], self.counts[present])

    def figures(self, rows: Ints) -> BucketFigures:
        """Return the figures of the buckets, given those of the other table's `rows`."""
        return bucket_figures(rows, self.buckets, self.codes + 1, self.counts)


def _column_problems(name: str, table: pa.Table, expected: set[str]) -> Iterator[Problem]:
    names = {*table.column_names}
    if names - expected:
        message = f"The table {name!r} contains {join_names(sorted(names - expected))}, which the "
        yield Problem("V002", f"{message}policy does not release there.")
    if expected - names:
        lacking = join_names(sorted(expected - names))
        yield Problem("V002", f"The table {name!r} lacks {lacking}, which the policy releases.")


def _numbers(table_name: str, table: pa.Table, name: str, least: int) -> Ints:
    """Return a column of whole numbers, (rows,). Raises CertificateError (V002) for other cells."""
    column = table.column(name)
    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        is_whole = is_text(column.type) or pa.types.is_integer(column.type)
        numbers = unchunk(pc.cast(column, pa.int64())) if is_whole else None
        if (
            numbers is not None
            and is_text(column.type)
            and not pc.all(pc.equal(numbers.cast(column.type), column)).as_py()
        ):
            numbers = None  # leading zeros, say, which could tell a reader something
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        numbers = None
    if numbers is None or numbers.null_count or (len(numbers) and pc.min(numbers).as_py() < least):
        message = f"The column {name!r} of {table_name!r} must hold whole numbers from {least} in "
        raise CertificateError.of("V002", f"{message}every row, without leading zeros.")
    return to_numpy(numbers).astype(np.int64)
