"""What perturbations have to know of whole columns, found in parts of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.data.catalog import INFERRED
from policy_engine.data.transition_matrix import MOST_CATEGORIES
from policy_engine.engines.arrays import from_numpy, is_text, to_numpy, unchunk, value_type
from policy_engine.engines.masking.categories import add_counts, sorted_counts, with_categories
from policy_engine.engines.masking.marks import typed_values
from policy_engine.engines.masking.numbers import (
    NumberForm,
    as_spelled,
    not_numbers,
    number_form,
    plain_array,
    to_floats,
)
from policy_engine.engines.text_types import parse_times_of_day
from policy_engine.errors import DataError, format_count, join_names
from policy_engine.kernels.moments import Moments, exponents
from policy_engine.kernels.random_rounding import most_exact
from policy_engine.methods.perturbation import ColumnFacts, Perturbation

Group = tuple[Perturbation, ...]
"""Columns that are masked together."""
Kinds = Mapping[str, pa.DataType | None]
"""The types that the texts of a file without types are inferred to be of."""


@dataclass(frozen=True)
class Survey:
    """What a first look at a part of a table tells of the columns of a group.

    `rows` have a value in each of them; `forms` and `exponents` are those of numbers, `counts` of
    categories, by their values. `summary` is that of the masking.
    """

    rows: int = 0
    forms: Mapping[str, NumberForm] = field(default_factory=dict)
    exponents: NDArray[np.int64] | None = None
    counts: pa.StructArray | None = field(default=None, repr=False)
    summary: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    def merge(self, other: "Survey") -> "Survey":
        """Return the survey of two parts of a table together."""
        forms = {name: one.merge(other.forms[name]) for name, one in self.forms.items()}
        return Survey(
            self.rows + other.rows,
            forms,
            _add_exponents(self.exponents, other.exponents),
            add_counts(self.counts, other.counts),
            {name: counts + other.summary[name] for name, counts in self.summary.items()},
        )


def columns_of(group: Group) -> tuple[str, ...]:
    """Return the names of the columns that a group masks, then of those that they are masked
    given."""
    return tuple(dict.fromkeys((*(one.name for one in group), *group[0].given_columns)))


def stay_texts(group: Group, kind: pa.DataType | None) -> bool:
    """Tell whether categories of a file without types stay texts in one that has types.

    Those that are drawn may all look like numbers although the column, of a `kind`, has others.
    """
    return group[0].takes == "categories" and kind is not None and is_text(kind)


def survey(table: pa.Table, group: Group, kinds: Kinds) -> Survey:
    """Return what a part of a table tells of the columns of a group.

    Raises DataError (R013) where their values are not what the masking takes.
    """
    names = columns_of(group)
    if group[0].takes == "categories":
        column = as_spelled(names[0], table.column(names[0]), kinds.get(names[0]))
        if pa.types.is_nested(column.type):
            message = f"The column {names[0]!r} holds values of the type {column.type}. "
            message += f"{group[0].masking} needs categories."
            raise DataError.of("R013", message, "Give the column another masking, or another role.")
        return Survey(len(column) - column.null_count, counts=pc.value_counts(column.drop_null()))
    numeric = names if group[0].takes == "numbers" else ()
    forms = {name: _form_of(table, name, kinds) for name in numeric}
    if not group[0].takes_dates:
        _check_no_dates(forms)
    forms |= {
        one.name: forms[one.name].with_decimals(one.name, one.decimals)
        for one in group
        if one.name in forms and one.decimals is not None
    }
    present = is_present(table, names, group[0].given_columns)
    values = floats_of(table, forms)[present]
    if not forms:
        return Survey(len(values))
    for place, one in enumerate(group):
        if one.decimals is not None:
            _check_precision(one.name, values[:, place], one.decimals)
    return Survey(len(values), forms, exponents(values), summary=group[0].summarise(values))


def exact_column(
    table: pa.Table, name: str, kind: pa.DataType | None
) -> tuple[pa.ChunkedArray, pa.DataType | None]:
    """Return a column as it is masked value by value, and the inferred type of its texts."""
    field, column = table.schema.field(name), table.column(name)
    if INFERRED in (field.metadata or {}):
        # The inferred type would disclose the digits of the original values.
        inferred = value_type(field.type)
        return column.cast(inferred).cast(pa.string()), inferred
    return column, kind


def _form_of(table: pa.Table, name: str, kinds: Kinds) -> NumberForm:
    metadata = table.schema.field(name).metadata or {}
    column, is_declared = table.column(name), INFERRED not in metadata
    return number_form(name, column, kinds.get(name), is_declared=is_declared)


def _check_precision(name: str, values: NDArray[np.float64], decimals: int) -> None:
    if (np.abs(values) >= most_exact(decimals)).any():
        content = f"numbers that floats of 64 bits do not tell apart to {decimals} decimals"
        raise not_numbers(name, content)


def _check_no_dates(forms: Mapping[str, NumberForm]) -> None:
    for name, form in forms.items():
        if form.kind in ("date", "timestamp"):
            raise not_numbers(name, "dates" if form.kind == "date" else "points in time")


def floats_of(table: pa.Table, forms: Mapping[str, NumberForm]) -> NDArray[np.float64]:
    """Return columns of numbers as floats, NaN where missing, (rows, columns)."""
    columns = [to_floats(name, table.column(name), form) for name, form in forms.items()]
    return np.stack(columns, axis=1) if columns else np.zeros((table.num_rows, 0))


def is_present(
    table: pa.Table, names: Sequence[str], conditions: Sequence[str] = ()
) -> NDArray[np.bool_]:
    """Return which rows have a value in all of some columns, (rows,).

    Raises DataError (R013) for columns that are masked together, or given others, where a row has
    some of them only.
    """
    valid = np.stack([_is_valid(table.column(name)) for name in names], axis=1)
    some, every = valid.any(axis=1), valid.all(axis=1)
    if (some & ~every).any():
        message = f"Rows have a value in some of the columns {join_names(names)}, and none in "
        message += f"others: {format_count(int((some & ~every).sum()), 'row')}. "
        if conditions:
            message += f"{names[0]!r} is masked given {join_names(conditions)}."
            hint = "Fill the columns, or give it columns that have values in the same rows."
        else:
            message += "They are masked together."
            hint = "Fill the columns, or mask each by itself."
        raise DataError.of("R013", message, hint)
    return np.asarray(every)


def _is_valid(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    return to_numpy(unchunk(pc.is_valid(column))).astype(np.bool_)


def find_moments(table: pa.Table, group: Group, seen: Survey) -> Moments | None:
    """Return the moments of a group's numbers in a part of a table, None where it has none."""
    if seen.exponents is None:
        return None
    values = floats_of(table, seen.forms)[is_present(table, columns_of(group))]
    return Moments.of(values, seen.exponents)


def facts_of(group: Group, seen: Survey, moments: Moments | None) -> ColumnFacts:
    """Return what the perturbations of a group have to know of the whole columns.

    Raises DataError (R013) for numbers that are all the same, for more categories than a matrix
    can have, and for fewer rows than have to share their values.
    """
    _check_rows(group, seen.rows)
    if moments is not None and group[0].takes == "numbers" and seen.rows:
        _check_sizes(group, seen, moments)
        _check_spread(group, moments)
    if seen.counts is None:
        return ColumnFacts(
            seen.rows,
            moments,
            summary=seen.summary,
            dates=_dates(group, seen),
            roundings=_roundings(group, seen),
        )
    if len(seen.counts) > MOST_CATEGORIES:
        message = f"The column {group[0].name!r} has {len(seen.counts):,} categories. "
        message += f"{group[0].masking} takes {MOST_CATEGORIES:,} at most: the certificate has the "
        message += "probability of each given each other."
        raise DataError.of("R013", message, _OTHER_MASKING)
    counts = sorted_counts(with_categories(group[0], seen.counts))
    return ColumnFacts(
        seen.rows,
        labels=counts.field(0),
        counts=to_numpy(counts.field(1)).astype(np.int64),
    )


_OTHER_MASKING = "Give the column another masking, or another role."


def survey_output(table: pa.Table, group: Group, kinds: Kinds) -> Survey:
    """Return what a part of an output tells of the columns of a group, as they were written.

    Its `kinds` are needed for numbers; categories are compared with those of the input.
    """
    if group[0].takes == "order":
        return Survey(int(is_present(table, [one.name for one in group]).sum()))
    return survey(table, group, kinds if group[0].takes == "numbers" else {})


@dataclass(frozen=True)
class SharedValues:
    """How many rows of an output share their values in the columns of a group: the fewest and the
    most, 0 of no rows, and how many rows share theirs with fewer than the masking says."""

    smallest: int = 0
    largest: int = 0
    rare: int = 0

    @property
    def figures(self) -> dict[str, float]:
        """The sizes as they are certified."""
        if not self.smallest:
            return {}
        return {"smallestClass": self.smallest, "largestClass": self.largest}


def class_sizes(table: pa.Table, group: Group) -> SharedValues:
    """Return how many rows of an output share their values in the columns of a group."""
    names = [one.name for one in group]
    counts = table.select(names).group_by(names).aggregate([([], "count_all")])
    present = from_numpy(is_present(counts, names))
    times = to_numpy(unchunk(counts.filter(present).column("count_all")))
    if not len(times):
        return SharedValues()
    rare = times[times < group[0].shared_by].sum()
    return SharedValues(int(times.min()), int(times.max()), int(rare))


def facts_of_output(seen: Survey, moments: Moments | None, before: ColumnFacts) -> ColumnFacts:
    """Return the facts of columns as they were written, given those of the input.

    Categories are those of the input; any others are counted last, in one place.
    """
    if seen.counts is None:
        return ColumnFacts(seen.rows, moments, summary=seen.summary)
    counts = np.zeros(len(before.labels) + 1, dtype=np.int64)
    values = seen.counts.field(0)
    if not is_text(before.labels.type):
        values = labels_as(values, before.labels.type)
    places = pc.index_in(values, value_set=labels_as(before.labels, values.type))
    np.add.at(counts, to_numpy(places, missing=-1), to_numpy(seen.counts.field(1)))
    return ColumnFacts(seen.rows, labels=before.labels, counts=counts)


def labels_as(labels: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return texts of a file without types as values of the type that a file with types has,
    missing where they cannot be."""
    if not is_text(labels.type) or is_text(kind):
        return labels
    values = [_label_as(labels.slice(place, 1), kind) for place in range(len(labels))]
    return pa.concat_arrays(values) if values else pa.nulls(0, kind)


def _label_as(label: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a text as a value of a type, missing where it cannot be."""
    try:
        return parse_times_of_day(label) if pa.types.is_time(kind) else label.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(1, kind)


def _check_rows(group: Group, rows: int) -> None:
    if 0 < rows < group[0].shared_by:
        names = join_names([one.name for one in group])
        message = f"Only {rows:,} rows have a value of {names}. {group[0].masking} makes groups of "
        message += f"{group[0].shared_by:,} rows."
        raise DataError.of("R013", message, "Let the groups be smaller.")


def _dates(group: Group, seen: Survey) -> tuple[bool, ...]:
    return tuple(
        one.name in seen.forms and seen.forms[one.name].kind in ("date", "timestamp")
        for one in group
    )


def _roundings(group: Group, seen: Survey) -> tuple[float, ...]:
    if seen.exponents is None or group[0].takes != "numbers":
        return ()
    powers = dict(zip(seen.forms, seen.exponents.tolist(), strict=True))
    return tuple(seen.forms[one.name].rounding(powers[one.name]) for one in group)


_MOST_EXPONENT = 332
"""Numbers of up to 2**332, 1e100, and noise of any scale have squares that are floats."""


def _check_sizes(group: Group, seen: Survey, moments: Moments) -> None:
    """Raise DataError (R013) for columns whose variances are not floats."""
    powers = np.zeros(0) if seen.exponents is None else seen.exponents
    for place, one in enumerate(group):
        is_zero = not moments.sums[place + 1][place + 1]
        if powers[place] > _MOST_EXPONENT:
            raise not_numbers(one.name, "numbers beyond 1e+100, whose squares overflow")
        if powers[place] < -_MOST_EXPONENT and not is_zero:
            raise not_numbers(one.name, "no number beyond 1e-100, and squares underflow")


def _check_spread(group: Group, moments: Moments) -> None:
    for place, one in enumerate(group):
        if not moments.covariance[place, place] > 0:
            message = f"The values of the column {one.name!r} are all the same, to 12 digits."
            hint = f"{one.masking} needs values that differ. Give the column another role."
            raise DataError.of("R013", message, hint)


def _add_exponents(
    one: NDArray[np.int64] | None, other: NDArray[np.int64] | None
) -> NDArray[np.int64] | None:
    return None if one is None or other is None else np.maximum(one, other)


def ranks_of(table: pa.Table, names: Sequence[str], kinds: Kinds) -> NDArray[np.int64]:
    """Return the ranks of values in their columns, equal for equal values, (rows, columns)."""
    columns = [_ranks(table.column(name), kinds.get(name)) for name in names]
    return np.stack(columns, axis=1) if columns else np.zeros((table.num_rows, 0), np.int64)


def _ranks(column: pa.ChunkedArray, inferred: pa.DataType | None) -> NDArray[np.int64]:
    plain = plain_array(column)
    typed = typed_values(plain, inferred)
    if typed.null_count == len(typed):  # of types, too, whose values Arrow does not compare
        return np.zeros(len(typed), dtype=np.int64)
    return to_numpy(pc.rank(typed, tiebreaker="dense")).astype(np.int64)
