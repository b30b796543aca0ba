"""Columns to ordered integer codes."""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import is_text, to_numpy
from policy_engine.engines.distinct_values import index_distinct, no_order_error
from policy_engine.engines.text_types import (
    EXACT_DIGITS,
    most_digits,
    parse_times_of_day,
    read_texts,
)
from policy_engine.errors import DataError, Problem
from policy_engine.kernels.bounds import Ancestry

_MOST_DIGITS = 100_000  # before the point, in a decimal number


Identity = Literal["value", "reading", "text"]
"""When two cells of a column are the same value: if they are equal, however they are written; if
their texts, too, are the same except for blanks around them; or if their texts are identical."""


@dataclass(frozen=True)
class ColumnCodes:
    """A column as ordered integer codes, and what each code stands for.

    `codes` (rows,) are 0 .. m-1 in the order of the values, missing first where `has_missing`;
    `labels` (m,) are the values as text; `position` (m,) their places on an axis from 0 to 1.
    `is_ordered` values are generalised to ranges by default, others to sets. `times` (rows,) is
    how often each entry of `codes` occurs in the table, if not once. `respelt` is the number of
    values that are written in more than one way.
    """

    codes: NDArray[np.int32]
    labels: NDArray[np.object_]
    position: NDArray[np.float64]
    is_ordered: bool
    has_missing: bool
    times: NDArray[np.int64] | None = None
    respelt: int = 0

    def counts(self) -> NDArray[np.int64]:
        """Return how often each code occurs in the table, (m,)."""
        if self.times is None:
            return np.bincount(self.codes, minlength=len(self.labels)).astype(np.int64)
        counts = np.zeros(len(self.labels), dtype=np.int64)
        np.add.at(counts, self.codes, self.times)
        return counts

    def values(self) -> NDArray[np.int32]:
        """Return the codes counted from the first value: 0 .. m-1, and -1 for missing."""
        blank = sum(label == "" for label in self.labels[:2])  # an empty text is not a value either
        values: NDArray[np.int32] = np.maximum(self.codes - np.int32(blank), np.int32(-1))
        return values


def encode(
    name: str,
    column: pa.ChunkedArray,
    *,
    numbers: bool,
    is_generalised: bool = True,
    identity: Identity = "value",
) -> ColumnCodes:
    """Return a column as codes.

    Texts that are all dates or times (ISO 8601) are read as such; with `numbers`, for files without
    types, also texts that are all numbers. A column that is not `is_generalised` needs no positions
    and may hold infinite values. Equal values that are written differently have
    one code or several, depending on `identity`.

    Raises DataError where the type has no order or equality (C009), or a value is infinite,
    too near to 0 or outside the calendar (R004).
    """
    indices, values = index_distinct(name, column)
    keys, labels, is_ordered = _sort_keys(name, values, numbers=numbers)
    if is_generalised and keys.dtype.kind == "f" and np.isinf(keys).any():
        raise _infinite_error(name)
    texts = _original_texts(values, labels)
    labels = texts if identity == "text" else labels
    missing = _is_nan(keys)
    order = _sort_order(keys, labels, ~missing)
    is_new = _is_new(keys[order])
    first = is_new if identity == "value" else is_new | _is_new(labels[order])
    has_missing = bool(missing.any()) or indices.null_count > 0
    rank = np.zeros(len(keys) + 1, dtype=np.int32)
    rank[order] = np.cumsum(first) - 1 + has_missing
    rows = to_numpy(indices, missing=len(keys))
    representatives = order[first]
    prefix = [""] if has_missing else []
    return ColumnCodes(
        codes=rank[rows],
        labels=np.array([*prefix, *labels[representatives]], dtype=object),
        position=np.concatenate(
            [[0.0] * has_missing, _position(keys[representatives], is_ordered and is_generalised)]
        ),
        is_ordered=is_ordered,
        has_missing=has_missing,
        respelt=_count_respelt(is_new, texts[order]),
    )


def _original_texts(values: pa.Array, labels: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return the distinct values as they are written, including blanks around them."""
    return np.array(values.to_pylist(), dtype=object) if is_text(values.type) else labels


def _count_respelt(is_new: NDArray[np.bool_], texts: NDArray[np.object_]) -> int:
    """Return how many values are written in several ways; a new value starts where `is_new`."""
    if is_new.all():
        return 0
    pairs = set(zip((np.cumsum(is_new) - 1).tolist(), texts.tolist(), strict=True))
    return sum(times > 1 for times in Counter(value for value, _ in pairs).values())


def ancestry(name: str, column: ColumnCodes, taxonomy: Taxonomy) -> Ancestry:
    """Return the taxonomy of a sensitive column, in terms of the codes of its values.

    Raises DataError (R007) with the values that the taxonomy lacks, and (R006) where equal numbers
    or times are written differently: a taxonomy compares texts, so to it they are different.
    """
    if column.respelt:
        message = f"The column {name!r} writes {column.respelt} of its values in several ways."
        hint = "A taxonomy compares texts: write equal numbers, and equal times, in one way."
        raise DataError.of("R006", message, hint)
    blank = len(column.labels) - int(column.values().max(initial=-1)) - 1
    labels = column.labels[blank:].tolist()
    check_listed(name, labels, taxonomy)
    return Ancestry(
        parent=np.array(taxonomy.parents, dtype=np.int64),
        height=taxonomy.height,
        leaf=np.array([taxonomy.leaves[taxonomy.codes[label]] for label in labels], np.int64),
    )


def check_listed(name: str, labels: list[str], taxonomy: Taxonomy) -> None:
    """Raise DataError (R007) with the labels that a taxonomy lacks, if any."""
    missing = taxonomy.covering(labels)
    if missing:
        message = f"The taxonomy of {name!r} lacks {len(missing)} of its values."
        hint = "Add them to the taxonomy's file."
        raise DataError(Problem("R007", message, hint, values=tuple(missing)))


def _sort_keys(
    name: str, values: pa.Array, *, numbers: bool
) -> tuple[NDArray[Any], NDArray[np.object_], bool]:
    """Return for every distinct value its sort key and label, and whether keys are ordered."""
    kind = values.type
    if pa.types.is_null(kind) or pa.types.is_boolean(kind):
        values = values.cast(pa.string())
    elif is_text(kind):
        values, kind = read_texts(values.cast(pa.string()), numbers=numbers)
        if pa.types.is_floating(kind) and most_digits(values) > EXACT_DIGITS:
            kind = pa.decimal256(76)
    try:
        labels = _labels(values)
    except pa.ArrowInvalid:  # an unknown time zone
        raise no_order_error(name, kind) from None
    if (
        (is_text(values.type) and is_text(kind))
        or pa.types.is_null(kind)
        or pa.types.is_boolean(kind)
    ):
        return labels, labels, False
    if pa.types.is_decimal(kind) or kind == pa.uint64():
        decimals = [Decimal(label) for label in labels]
        if any(decimal.adjusted() > _MOST_DIGITS for decimal in decimals):
            raise _infinite_error(name)
        if any(decimal and decimal.adjusted() < -_MOST_DIGITS for decimal in decimals):
            raise _too_small_error(name)
        return np.array(decimals, dtype=object), labels, True
    if pa.types.is_temporal(kind):
        _check_calendar(name, labels)
        exact = (
            parse_times_of_day(values)
            if is_text(values.type) and pa.types.is_time(kind)
            else values.cast(kind)
        )
        return to_numpy(exact.cast(_same_width(kind)).cast(pa.int64())), labels, True
    return to_numpy(values.cast(kind)), labels, True


def _infinite_error(name: str) -> DataError:
    message = f"The column {name!r} holds infinite values. A range needs finite numbers."
    return DataError.of("R004", message)  # type: ignore[return-value]


def _too_small_error(name: str) -> DataError:
    message = f"The column {name!r} holds numbers nearer to 0 than 1e-{_MOST_DIGITS}."
    return DataError.of("R004", message, "Round them.")  # type: ignore[return-value]


def _labels(values: pa.Array) -> NDArray[np.object_]:
    return np.array(value_texts(values).to_pylist(), dtype=object)


def value_texts(values: pa.Array) -> pa.Array:
    """Return values as text, without trailing zeros after the seconds."""
    texts = values if is_text(values.type) else values.cast(pa.string())
    if pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):
        texts = pc.replace_substring_regex(texts, r"(\.\d*?)0+(Z?|[-+]\d{4})$", r"\1\2")
        texts = pc.replace_substring_regex(texts, r"\.(Z?|[-+]\d{4})$", r"\1")
    return texts


def _check_calendar(name: str, labels: NDArray[np.object_]) -> None:
    for label in labels:
        if not cells.read_cell(cells.write_range(label, "0")).is_range:
            message = f"The column {name!r} holds a time outside the years that ISO 8601 can write."
            raise DataError.of("R004", message, "Allowed are the years 0000 to 9999.")


def _same_width(kind: pa.DataType) -> pa.DataType:
    narrow = pa.types.is_date32(kind) or pa.types.is_time32(kind)
    return pa.int32() if narrow else pa.int64()


def _is_nan(keys: NDArray[Any]) -> NDArray[np.bool_]:
    if len(keys) and isinstance(keys[0], Decimal):
        return np.array([key.is_nan() for key in keys])
    is_nan = np.zeros(len(keys), dtype=np.bool_)
    return np.isnan(keys, out=is_nan) if keys.dtype.kind == "f" else is_nan


def _sort_order(
    keys: NDArray[Any], labels: NDArray[np.object_], usable: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the order of the usable values; of equal ones (1.5, 1.50) the shortest label first."""
    [places] = usable.nonzero()
    order = places[np.argsort(keys[places], kind="stable")]
    is_new = _is_new(keys[order])
    if is_new.all():
        return order
    ranked = sorted(
        zip((np.cumsum(is_new) - 1).tolist(), order.tolist(), strict=True),
        key=lambda pair: (pair[0], len(labels[pair[1]]), labels[pair[1]]),
    )
    return np.array([place for _, place in ranked], dtype=np.int64)


def _is_new(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which entries differ from the one before."""
    changes = np.ones(len(ordered), dtype=np.bool_)
    changes[1:] = ordered[1:] != ordered[:-1]
    return changes


def _position(keys: NDArray[Any], is_ordered: bool) -> NDArray[np.float64]:
    """Place sorted values on an axis from 0 to 1: by value where ordered, else by rank."""
    if len(keys) < 2:
        return np.zeros(len(keys))
    if not is_ordered:
        return np.linspace(0.0, 1.0, len(keys))
    low, high = keys[0], keys[-1]
    if low == high:  # one value, in several ways
        return np.zeros(len(keys))
    if keys.dtype == object:
        return np.array([float((key - low) / (high - low)) for key in keys])
    if keys.dtype.kind == "f":
        _, exponent = np.frexp(np.float64(max(abs(low), abs(high))))
        scaled = np.ldexp(keys.astype(np.float64), -exponent)  # so that no difference overflows
        return np.asarray((scaled - scaled[0]) / (scaled[-1] - scaled[0]))
    above = keys.astype(np.int64).view(np.uint64)
    above = above - above[:1]  # exact, also beyond 2^53 and over the whole range
    return np.asarray(above / above[-1])
