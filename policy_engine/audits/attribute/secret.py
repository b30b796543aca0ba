"""The secret column: its values, who has which, and what stands for each of them."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from policy_engine.audits.attribute.evidence import Codes
from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.field_marks import is_untyped
from policy_engine.errors import AuditError, Problem, did_you_mean

BINS, FEWEST_BINS, MOST_BINS = 4, 2, 20
MOST_NUMBERS = 10
"""A column of more different numbers is divided into bins."""
MOST_VALUES = 50
FEWEST_RECORDS = 10
"""So many records of each value have to be attacked on either side."""


@dataclass(frozen=True, eq=False)
class Secret:
    """A column that nobody should learn from a model.

    `values` are its values, or its bins, by name; `codes` (n,) which each record has; `stand_ins`
    (V,) the row of a record whose cell is given to the model in the place of the secret, where it
    is asked about a value: of a bin, the median of its values. `says` tells how it is read.
    """

    name: str
    values: tuple[str, ...]
    codes: Codes
    stand_ins: Codes
    says: str


def read_secret(table: pa.Table, name: str, label: str, bins: int = BINS) -> Secret:
    """Return the secret column of a table.

    Numbers, dates and times of more than ten values are divided into `bins` of about as many
    records each. Raises AuditError (A035) for a column that is not there, is the label, has missing
    cells, one value, or too many.
    """
    _check_name(table, name, label)
    if not FEWEST_BINS <= bins <= MOST_BINS:
        message = f"Numbers are divided into {FEWEST_BINS} to {MOST_BINS} bins. Given: {bins}."
        raise AuditError.of("A035", message)
    field = table.schema.field(name)
    column = encode(name, table.column(name), numbers=is_untyped(field), is_generalised=False)
    lacking = int((column.values() < 0).sum())
    if lacking:
        message = f"{lacking:,} records have no value in {name!r}: nobody could tell whether a "
        hint = "Leave these records out, or write what a missing value means."
        raise AuditError.of("A035", f"{message}guess at it is right.", hint)
    codes = column.codes.astype(np.int64)
    if len(column.labels) < 2:
        message = f"All records have one value in {name!r}: there is nothing to learn."
        raise AuditError.of("A035", message)
    if column.is_ordered and len(column.labels) > MOST_NUMBERS:
        return _binned(name, column, codes, bins)
    if len(column.labels) > MOST_VALUES:
        message = f"{name!r} has {len(column.labels):,} values. At most {MOST_VALUES} are tried."
        raise AuditError.of("A035", message, "Group them, as into regions or kinds.")
    values = tuple(map(str, column.labels.tolist()))
    return Secret(name, values, codes, _first_rows(codes, len(values)), f"{len(values)} values")


def _check_name(table: pa.Table, name: str, label: str) -> None:
    names = table.column_names
    if not name:
        message = "It is not said which column is secret."
        raise AuditError.of("A035", message, "Name one of the model's features.")
    if name == label:
        message = f"{name!r} is the label: the model is there to tell it to everybody."
        raise AuditError.of("A035", message, "Name one of the model's features.")
    if name not in names:
        message = f"There is no column {name!r} that could be secret."
        others = [one for one in names if one != label]
        raise AuditError.of("A035", message, did_you_mean(name, others))


def _binned(name: str, column: ColumnCodes, codes: Codes, bins: int) -> Secret:
    """Return a column of numbers in bins of about as many records each."""
    counts = np.bincount(codes, minlength=len(column.labels))
    before = np.cumsum(counts) - counts
    # The middle of a value's records decides, so that a frequent value fills a bin of its own.
    middle = before + counts / 2
    bin_of_value = np.minimum((middle * bins / len(codes)).astype(np.int64), bins - 1)
    _, bin_of_value = np.unique(bin_of_value, return_inverse=True)
    labels, names, stand_ins = column.labels.tolist(), [], []
    for number in range(int(bin_of_value.max()) + 1):
        members = np.flatnonzero(bin_of_value == number)
        low, high = labels[members[0]], labels[members[-1]]
        names.append(f"{low}" if low == high else f"{low} to {high}")
        half = np.searchsorted(np.cumsum(counts[members]), counts[members].sum() / 2)
        stand_ins.append(int(np.flatnonzero(codes == members[half])[0]))
    says = f"{len(labels):,} numbers in {len(names)} bins of about as many records each; the "
    says += "model is asked about the median of a bin"
    return Secret(
        name, tuple(names), bin_of_value[codes], np.array(stand_ins, dtype=np.int64), says
    )


def _first_rows(codes: Codes, values: int) -> Codes:
    _, rows = np.unique(codes, return_index=True)
    assert len(rows) == values  # noqa: S101 (every value occurs)
    return np.asarray(rows, dtype=np.int64)


def check_secret_counts(secret: Secret, *sides: Codes) -> None:
    """Raise AuditError (A035) where a value has too few records on a side that is attacked."""
    counts = [np.bincount(secret.codes[rows], minlength=len(secret.values)) for rows in sides]
    least = np.min(counts, axis=0)
    rare = np.flatnonzero(least < FEWEST_RECORDS).tolist()
    if rare:
        message = f"{len(rare):,} of {len(secret.values):,} values of {secret.name!r} have fewer "
        message += f"than {FEWEST_RECORDS} records among those attacked, members or others."
        hint = "Join rare values with others, leave their records out, or give more records."
        raise AuditError(
            Problem("A035", message, hint, values=tuple(secret.values[one] for one in rare))
        )
