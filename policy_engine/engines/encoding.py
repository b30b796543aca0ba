"""Columns to ordered integer codes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import from_numpy, to_numpy, whole
from policy_engine.errors import DataError, Problem
from policy_engine.kernels.bounds import Ancestry

_INTEGER = r"^-?(0|[1-9][0-9]*)$"
_NUMBER = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
_STAMP = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]{_CLOCK}(Z|[-+][0-9]{{2}}:?[0-9]{{2}})?$"
_ZONED = r"(Z|[-+][0-9]{2}:?[0-9]{2})$"
_TIME = r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?$"
_MOST_DIGITS = 100_000  # before the point, in a decimal number
EXACT_DIGITS = 15  # decimal numbers of so many digits stay apart as 64-bit floats
_LEAST_EXACT = 1e-300  # nearer to 0, a float has fewer digits or is 0

Identity = Literal["value", "reading", "text"]
"""What makes two cells of a column one value: that they are equal, however written; that they
also read the same but for blanks around them; or that they are the same text."""


_UNORDERED = (
    *(pa.types.is_nested, pa.types.is_duration, pa.types.is_interval),
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary),
    pa.types.is_binary_view,
)


@dataclass(frozen=True)
class Encoded:
    """A column as integers: the codes of its rows, and what each code stands for.

    `codes` (rows,) counts 0 .. m-1 in the order of the values, missing first where
    `has_missing`; `labels` (m,) are the values as text; `position` (m,) places them on the
    axis, from 0 to 1. Ranges are made of ordered values, sets of others. `respelt` counts the
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
        """Return the codes of the values alone: 0 .. m-1, and -1 for missing."""
        blank = sum(label == "" for label in self.labels[:2])  # an empty text is not a value either
        values: NDArray[np.int32] = np.maximum(self.codes - np.int32(blank), np.int32(-1))
        return values


def encode(
    name: str,
    column: pa.ChunkedArray,
    *,
    numbers: bool,
    generalised: bool = True,
    identity: Identity = "value",
) -> Encoded:
    """Encode a column. Texts that are all dates or times (ISO 8601) are read as such; with
    `numbers`, texts that are all numbers too, as those of a file without types are. A column
    that is not to be generalised needs no axis, and may hold infinite values. Of equal values
    written differently, those that are one by their `identity` have one code.

    Raises DataError where the type has no order or equality (C009), or a value is infinite,
    too near to 0 or outside the calendar (R004).
    """
    indices, values = distinct(name, column)
    keys, labels, is_ordered = _keys(name, values, numbers=numbers)
    if generalised and keys.dtype.kind == "f" and np.isinf(keys).any():
        raise _infinite(name)
    texts = _texts_of(values, labels)
    labels = texts if identity == "text" else labels
    missing = _is_nan(keys)
    order = _sorted(keys, labels, ~missing)
    is_new = _changes(keys[order])
    first = is_new if identity == "value" else is_new | _changes(labels[order])
    has_missing = bool(missing.any()) or indices.null_count > 0
    rank = np.zeros(len(keys) + 1, dtype=np.int32)
    rank[order] = np.cumsum(first) - 1 + has_missing
    rows = to_numpy(indices, missing=len(keys))
    kept = order[first]
    prefix = [""] if has_missing else []
    return Encoded(
        codes=rank[rows],
        labels=np.array([*prefix, *labels[kept]], dtype=object),
        position=np.concatenate(
            [[0.0] * has_missing, _position(keys[kept], is_ordered and generalised)]
        ),
        is_ordered=is_ordered,
        has_missing=has_missing,
        respelt=_respelt(is_new, texts[order]),
    )


def _texts_of(values: pa.Array, labels: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return the distinct values as they are written: texts with the blanks around them."""
    return np.array(values.to_pylist(), dtype=object) if is_text(values.type) else labels


def _respelt(is_new: NDArray[np.bool_], texts: NDArray[np.object_]) -> int:
    """Count the values, each from one that is new to the next, of which there are several texts."""
    if is_new.all():
        return 0
    pairs = set(zip((np.cumsum(is_new) - 1).tolist(), texts.tolist(), strict=True))
    return sum(times > 1 for times in Counter(value for value, _ in pairs).values())


def ancestry(name: str, column: Encoded, taxonomy: Taxonomy) -> Ancestry:
    """Return where the values of a sensitive column stand in their taxonomy.

    Raises DataError (R007) with the values that it lacks, and (R006) where numbers or times that
    are equal are written differently: a taxonomy is about texts, and tells them apart.
    """
    if column.respelt:
        message = f"The column {name!r} writes {column.respelt} of its values in several ways."
        hint = "A taxonomy is about texts: write equal numbers, and equal times, in one way."
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
    """Raise DataError (R007) where a taxonomy lacks values: it holds them, and counts them."""
    missing = taxonomy.covering(labels)
    if missing:
        message = f"The taxonomy of {name!r} lacks {len(missing)} of its values."
        hint = "Add them to the taxonomy's file."
        raise DataError(Problem("R007", message, hint, values=tuple(missing)))


def written_order(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return the rank of every row's text, which tells equal numbers written differently apart."""
    if not (is_text(column.type) or pa.types.is_dictionary(column.type)):
        return np.zeros(len(column), dtype=np.int64)
    indices, values = distinct("", column)
    ranks = pc.rank(values.cast(pa.string())).take(indices)
    return to_numpy(ranks).astype(np.int64)


def typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a text column as the numbers or times that all of its values are, or as text."""
    indices, values = distinct("", column)
    texts, kind = _inferred(values.cast(pa.string()))
    if pa.types.is_floating(kind) and _digits(texts) > EXACT_DIGITS:
        texts, kind = values, pa.string()
    if pa.types.is_time(kind):
        return pa.chunked_array([times_of_day(texts).take(indices)])
    return pa.chunked_array([texts.cast(kind).take(indices)])


def written_kind(column: pa.Array, *, numbers: bool) -> pa.DataType | None:
    """Return the type that all texts of a column are written in, None where it has its own."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary
    return kind_of(Texts(column.drop_null()), numbers=numbers) if is_text(column.type) else None


def distinct(name: str, column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the rows as indices of distinct values, none of them unused or missing.

    Raises DataError (C009) for a type without order or equality.
    """
    is_dictionary = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if is_dictionary else column.type
    if any(is_kind(kind) for is_kind in _UNORDERED):
        raise _unusable(name, kind)
    if is_dictionary and any(chunk.dictionary.null_count for chunk in column.chunks):
        column, is_dictionary = column.cast(kind), False
    if not is_dictionary:
        if pa.types.is_float16(kind):
            column = column.cast(pa.float32())
        try:
            column = column.dictionary_encode()
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            raise _unusable(name, kind) from None
    encoded = whole(column)
    used = np.zeros(len(encoded.dictionary), dtype=np.bool_)
    used[to_numpy(encoded.indices.drop_null())] = True
    used &= to_numpy(encoded.dictionary.is_valid())
    if used.all():
        return encoded.indices, encoded.dictionary
    position = from_numpy(np.cumsum(used) - 1, ~used)
    return position.take(encoded.indices), encoded.dictionary.filter(from_numpy(used))


def _unusable(name: str, kind: pa.DataType) -> DataError:
    message = f"The column {name!r} is of type {kind}, which has no order that a cell could show."
    hint = "Allowed are numbers, texts, truth values, dates and times."
    return DataError.of("C009", message, hint)  # type: ignore[return-value]


def _keys(
    name: str, values: pa.Array, *, numbers: bool
) -> tuple[NDArray[Any], NDArray[np.object_], bool]:
    """Return for every distinct value its sort key and label, and whether keys are ordered."""
    kind = values.type
    if pa.types.is_null(kind) or pa.types.is_boolean(kind):
        values = values.cast(pa.string())
    elif is_text(kind):
        values, kind = _inferred(values.cast(pa.string()), numbers=numbers)
        if pa.types.is_floating(kind) and _digits(values) > EXACT_DIGITS:
            kind = pa.decimal256(76)
    try:
        labels = _labels(values)
    except pa.ArrowInvalid:  # a time zone that nobody knows
        raise _unusable(name, kind) from None
    if (
        (is_text(values.type) and is_text(kind))
        or pa.types.is_null(kind)
        or pa.types.is_boolean(kind)
    ):
        return labels, labels, False
    if pa.types.is_decimal(kind) or kind == pa.uint64():
        decimals = [Decimal(label) for label in labels]
        if any(decimal.adjusted() > _MOST_DIGITS for decimal in decimals):
            raise _infinite(name)
        if any(decimal and decimal.adjusted() < -_MOST_DIGITS for decimal in decimals):
            raise _infinitesimal(name)
        return np.array(decimals, dtype=object), labels, True
    if pa.types.is_temporal(kind):
        _check_calendar(name, labels)
        exact = (
            times_of_day(values)
            if is_text(values.type) and pa.types.is_time(kind)
            else values.cast(kind)
        )
        return to_numpy(exact.cast(_same_width(kind)).cast(pa.int64())), labels, True
    return to_numpy(values.cast(kind)), labels, True


def _infinite(name: str) -> DataError:
    message = f"The column {name!r} holds infinite values. A range needs numbers with an end."
    return DataError.of("R004", message)  # type: ignore[return-value]


def _infinitesimal(name: str) -> DataError:
    message = f"The column {name!r} holds numbers nearer to 0 than 1e-{_MOST_DIGITS}."
    return DataError.of("R004", message, "Round them.")  # type: ignore[return-value]


def _inferred(texts: pa.Array, *, numbers: bool = True) -> tuple[pa.Array, pa.DataType]:
    """Return the texts as they are to be read, and the type that all of them are written in."""
    kind = kind_of(Texts(texts), numbers=numbers)
    return (texts if is_text(kind) else pc.utf8_trim_whitespace(texts)), kind


class Writing(NamedTuple):
    """How texts are written; what two lots of texts are tells what they are together.

    Whether there are any; the most digits of those that are not `nan`; whether all are
    integers, numbers but for `nan`, times of day; whether some name a zone; and which of
    `STAMPS` all can be read as.
    """

    some: bool = False
    digits: int = 0
    integers: bool = True
    figures: bool = True
    times: bool = True
    zoned: bool = False
    stamps: tuple[bool, ...] = (True,) * 5

    def joined(self, other: "Writing") -> "Writing":
        """Return how both lots of texts are written."""
        return Writing(
            self.some or other.some,
            max(self.digits, other.digits),
            self.integers and other.integers,
            self.figures and other.figures,
            self.times and other.times,
            self.zoned or other.zoned,
            tuple(map(bool.__and__, self.stamps, other.stamps)),
        )


_STAMPS = (
    (_DATE, pa.date32(), False),
    (_STAMP, pa.timestamp("ns"), False),
    (_STAMP, pa.timestamp("ns", "UTC"), True),
    # The years that nanoseconds do not reach.
    (_STAMP, pa.timestamp("us"), False),
    (_STAMP, pa.timestamp("us", "UTC"), True),
)


class Texts:
    """How texts are written, found out as far as one asks."""

    def __init__(self, texts: pa.Array) -> None:
        self._texts = pc.utf8_trim_whitespace(texts)

    @property
    def some(self) -> bool:
        """Whether there is a text."""
        return len(self._texts) > 0

    @cached_property
    def _figures(self) -> pa.Array:
        is_nan = pc.match_substring_regex(self._texts, "^[nN][aA][nN]$")
        return self._texts.filter(pc.invert(is_nan))

    @cached_property
    def digits(self) -> int:
        """The most digits of a text other than `nan`."""
        return _digits(self._figures)

    @property
    def integers(self) -> bool:
        """Whether all texts are integers of 64 bits."""
        return (
            _all_match(self._texts, _INTEGER)
            and (pc.max(pc.binary_length(self._texts)).as_py() or 0) < 19
        )

    @property
    def figures(self) -> bool:
        """Whether all texts other than `nan` are numbers."""
        return _all_match(self._figures, _NUMBER)

    @property
    def times(self) -> bool:
        """Whether all texts are times of day."""
        return _all_match(self._texts, _TIME)

    @property
    def zoned(self) -> bool:
        """Whether a text names its zone."""
        return pc.any(pc.match_substring_regex(self._texts, _ZONED)).as_py() is True

    @cached_property
    def stamps(self) -> Sequence[bool]:
        """Which of the kinds of dates and times all texts can be read as."""
        is_date, is_stamp = (_all_match(self._texts, one) for one in (_DATE, _STAMP))
        return [
            (is_date if pattern == _DATE else is_stamp) and _can_cast(self._texts, kind)
            for pattern, kind, _ in _STAMPS
        ]

    def told(self) -> Writing:
        """Return all of it."""
        told = {name: getattr(self, name) for name in Writing._fields}
        return Writing(**told | {"stamps": tuple(self.stamps)})


def kind_of(texts: Texts | Writing, *, numbers: bool = True) -> pa.DataType:
    """Return the type that texts are written in, with `numbers` numbers too."""
    if not texts.some:
        return pa.string()
    if numbers and texts.integers:
        return pa.int64()
    if numbers and texts.figures:
        return pa.float64()
    if texts.times:
        return pa.time64("ns")
    if any(texts.stamps):
        for (_, kind, zoned), fits in zip(_STAMPS, texts.stamps, strict=True):
            if fits and (pa.types.is_date(kind) or zoned == texts.zoned):
                return kind
    return pa.string()


def _can_cast(texts: pa.Array, kind: pa.DataType) -> bool:
    try:
        texts.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _all_match(texts: pa.Array, pattern: str) -> bool:
    return not len(texts) or pc.all(pc.match_substring_regex(texts, pattern)).as_py() is True


def _digits(texts: pa.Array) -> int:
    """Return the most digits that any of the numbers has.

    One nearer to 0 than floats are exact, or beyond them, has more than any of them can hold.
    """
    digits = pc.replace_substring_regex(texts, r"([eE].*$)|[^0-9]", "")
    most = int(pc.max(pc.binary_length(digits)).as_py() or 0)
    return max(most, EXACT_DIGITS + 1) if _is_beyond_floats(texts) else most


def _is_beyond_floats(texts: pa.Array) -> bool:
    for pattern in (r"[1-9].*[eE]", _NUMBER):
        texts = texts.filter(pc.match_substring_regex(texts, pattern))
    sizes = np.abs(to_numpy(texts.cast(pa.float64())))
    return bool((np.isinf(sizes) | (sizes < _LEAST_EXACT)).any())


def times_of_day(texts: pa.Array) -> pa.Array:
    """Return times of day, which Arrow does not read itself."""
    with_seconds = pc.replace_substring_regex(texts, "^([0-9]{2}:[0-9]{2})$", r"\1:00")
    stamps = pc.replace_substring_regex(with_seconds, "^", "1970-01-01 ")
    return stamps.cast(pa.timestamp("ns")).cast(pa.time64("ns"))


def _labels(values: pa.Array) -> NDArray[np.object_]:
    """Return the distinct values as text, without idle zeros behind the seconds."""
    texts = values if is_text(values.type) else values.cast(pa.string())
    if pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):
        texts = pc.replace_substring_regex(texts, r"(\.\d*?)0+(Z?|[-+]\d{4})$", r"\1\2")
        texts = pc.replace_substring_regex(texts, r"\.(Z?|[-+]\d{4})$", r"\1")
    return np.array(texts.to_pylist(), dtype=object)


def _check_calendar(name: str, labels: NDArray[np.object_]) -> None:
    for label in labels:
        if not cells.read_cell(cells.write_range(label, "0")).is_range:
            message = f"The column {name!r} holds a time that ISO 8601 does not write plainly."
            raise DataError.of("R004", message, "Allowed are the years 0000 to 9999.")


def _same_width(kind: pa.DataType) -> pa.DataType:
    narrow = pa.types.is_date32(kind) or pa.types.is_time32(kind)
    return pa.int32() if narrow else pa.int64()


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a type is text, in any of Arrow's layouts."""
    shapes = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(shape(kind) for shape in shapes)


def _is_nan(keys: NDArray[Any]) -> NDArray[np.bool_]:
    if len(keys) and isinstance(keys[0], Decimal):
        return np.array([key.is_nan() for key in keys])
    is_nan = np.zeros(len(keys), dtype=np.bool_)
    return np.isnan(keys, out=is_nan) if keys.dtype.kind == "f" else is_nan


def _sorted(
    keys: NDArray[Any], labels: NDArray[np.object_], usable: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the usable values in order, the shortest label of equal ones (1.5, 1.50) first."""
    [places] = usable.nonzero()
    order = places[np.argsort(keys[places], kind="stable")]
    is_new = _changes(keys[order])
    if is_new.all():
        return order
    ranked = sorted(
        zip((np.cumsum(is_new) - 1).tolist(), order.tolist(), strict=True),
        key=lambda pair: (pair[0], len(labels[pair[1]]), labels[pair[1]]),
    )
    return np.array([place for _, place in ranked], dtype=np.int64)


def _changes(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which entries differ from the one before."""
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
        scaled = np.ldexp(keys.astype(np.float64), -exponent)  # no difference overflows
        return np.asarray((scaled - scaled[0]) / (scaled[-1] - scaled[0]))
    above = keys.astype(np.int64).view(np.uint64)
    above = above - above[:1]  # exact, beyond 2^53 and over the whole range too
    return np.asarray(above / above[-1])
