"""Persons who were never in the original: whom an attack seems to find all the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles, known_columns
from policy_engine.data.catalog import Dataset
from policy_engine.data.column_names import missing_columns
from policy_engine.engines.arrays import is_nested_or_span
from policy_engine.errors import DataError, Problem, format_count, join_names
from policy_engine.kernels.estimates import Estimate, share_of_parts
from policy_engine.kernels.grouping import classes_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ACCEPTED = 0.95
"""An intruder takes links to be right that are as good as so many of the right ones."""
_ROUNDING = 1e-9


def with_others(
    original: pa.Table, others: pa.Table, names: Sequence[str], source: str
) -> pa.Table:
    """Return the known columns of an original with those of other persons behind its own.

    `source` tells where these are from. Raises DataError where they lack a column (C005) or have
    one of a type that cannot become the original's (C009).
    """
    columns = tuple(others.column_names)
    dataset = Dataset(iri=source, location=source, format="memory", columns=columns)
    problems = list(missing_columns(tuple(names), dataset))
    cast_columns = []
    for name in (one for one in names if one in columns):
        kind = original.schema.field(name).type
        try:
            cast_columns.append(others.column(name).cast(kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            message = f"The values of {name!r} in {source!r} are not of the original's type."
            problems.append(Problem("C009", message, f"They must be {kind}."))
    if problems:
        raise DataError(*problems)
    schema = pa.schema([original.schema.field(name) for name in names])
    both = [original.select(list(names)).cast(schema), pa.table(cast_columns, schema=schema)]
    return pa.concat_tables(both)


@dataclass(frozen=True)
class Likeness:
    """How many persons of a holdout equal one of the original: in all columns that are `known`, and
    in all that both tables have (`shared`)."""

    known: int = 0
    shared: int = 0


NOBODY_ALIKE = Likeness()


def likeness(
    original: pa.Table,
    others: pa.Table,
    known_names: Sequence[str],
    keys: Sequence[str],
    source: str,
) -> Likeness:
    """Return how many persons of a holdout could be persons of the original.

    Raises DataError (A028) where some are: they are equal in all known columns, and in `keys` of
    the original, columns that tell its rows apart, as far as the holdout has these.
    """
    both = [name for name in original.column_names if name in others.column_names]
    alike = _equal(original, others, known_names, source)
    shared = [name for name in both if _is_comparable(original, others, name)]
    here = [name for name in keys if name in shared]
    if here and (same := int((alike & _equal(original, others, here, source)).sum())):
        are = "is" if same == 1 else "are"
        message = (
            f"{format_count(same, 'person')} of the holdout {are} in the original: equal there "
        )
        message += f"in {join_names(here)} and in all known columns."
        hint = "Give persons who were never in the original."
        raise DataError.of("A028", message, hint, source=source)
    equal = alike & _equal(original, others, shared, source)
    return Likeness(int(alike.sum()), int(equal.sum()))


def _is_comparable(original: pa.Table, others: pa.Table, name: str) -> bool:
    if is_nested_or_span(original.schema.field(name).type):
        return False
    try:
        with_others(original, others, [name], "")
    except DataError:
        return False
    return True


def _equal(
    original: pa.Table, others: pa.Table, names: Sequence[str], source: str
) -> NDArray[np.bool_]:
    """Return which persons of a holdout equal one of the original in some columns, (others,)."""
    every = with_others(original, others, names, source)
    columns = known_columns(every, every, names, None, {})
    classes, _ = classes_of([column.before.astype(np.int32) for column in columns])
    rows = original.num_rows
    return np.isin(classes[rows:], classes[:rows])


def with_absent(files: TwoFiles, columns: Sequence[KnownColumn], absent: int) -> TwoFiles:
    """Return the same files with persons who were never in the original, the last of `columns`."""
    own = np.concatenate([files.own, np.full(absent, -1)])
    with_absent_persons = tuple(replace(one, absent=absent) for one in columns)
    return replace(files, columns=with_absent_persons, own=own, absent=absent)


def seemingly_found(
    files: TwoFiles, linked: Floats, taken: Callable[[TwoFiles, Ints], Floats]
) -> Estimate | None:
    """Return the share of absent persons for whom an attack takes a record that looks right.

    `linked` (persons,) are the probabilities of right links, of the absent 0, and `taken` tells
    how far the record is that is taken for persons. It looks right if it is no farther than 95% of
    the right links are. None if no link is right.
    """
    right = np.flatnonzero(linked > 0)
    if not len(right):
        return None
    distances = taken(files, right)
    order = np.argsort(distances, kind="stable")
    shares = np.cumsum(linked[right][order])
    last = order[np.searchsorted(shares, ACCEPTED * shares[-1]).clip(0, len(order) - 1)]
    farthest = distances[last] + _ROUNDING * max(1.0, abs(distances[last]))
    absent = np.arange(len(linked) - files.absent, len(linked))
    takers = int((taken(files, absent) <= farthest).sum())
    return share_of_parts(float(takers), files.absent)
