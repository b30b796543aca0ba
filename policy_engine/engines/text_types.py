"""The types in which texts are written: numbers, dates and times."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import is_text, to_numpy
from policy_engine.engines.distinct_values import index_distinct
from policy_engine.engines.plain_floats import plain_floats

_INTEGER = r"^-?(0|[1-9][0-9]*)$"
NUMBER = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
STAMP = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]{_CLOCK}(Z|[-+][0-9]{{2}}:?[0-9]{{2}})?$"
ZONED = r"(Z|[-+][0-9]{2}:?[0-9]{2})$"
TIME_OF_DAY = r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?$"
EXACT_DIGITS = 15  # decimal numbers of so many digits stay distinct as 64-bit floats
_LEAST_EXACT = 1e-300  # nearer to 0, a float has fewer digits or is 0


def infer_column_type(column: pa.Array, *, numbers: bool) -> pa.DataType | None:
    """Return the type that the texts of a column have in common; None for other columns."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary
    return (
        infer_type(LazyTextForm(column.drop_null()), numbers=numbers)
        if is_text(column.type)
        else None
    )


def read_texts(texts: pa.Array, *, numbers: bool = True) -> tuple[pa.Array, pa.DataType]:
    """Return the texts, trimmed unless they are strings, and the type they have in common."""
    kind = infer_type(LazyTextForm(texts), numbers=numbers)
    return (texts if is_text(kind) else pc.utf8_trim_whitespace(texts)), kind


class TextForm(NamedTuple):
    """How texts are written.

    `some`: there is a text; `digits`: the most digits of any but `nan`; `integers`, `numbers` (or
    `nan`), `times` (of day): whether all are; `zoned`: whether some name a time zone; `stamps`:
    which of `_STAMPS` all can be parsed as.
    """

    # The form of a column follows from those of its parts: on a cluster each task computes one.
    some: bool = False
    digits: int = 0
    integers: bool = True
    numbers: bool = True
    times: bool = True
    zoned: bool = False
    stamps: tuple[bool, ...] = (True,) * 5

    def merge(self, other: "TextForm") -> "TextForm":
        """Return the form of both sets of texts together."""
        return TextForm(
            self.some or other.some,
            max(self.digits, other.digits),
            self.integers and other.integers,
            self.numbers and other.numbers,
            self.times and other.times,
            self.zoned or other.zoned,
            tuple(map(bool.__and__, self.stamps, other.stamps)),
        )


_STAMPS = (
    (_DATE, pa.date32(), False),
    (STAMP, pa.timestamp("ns"), False),
    (STAMP, pa.timestamp("ns", "UTC"), True),
    # For years outside the range of nanoseconds.
    (STAMP, pa.timestamp("us"), False),
    (STAMP, pa.timestamp("us", "UTC"), True),
)


class LazyTextForm:
    """The form of texts, each part of which is computed on first use."""

    # One or two regular expressions decide most columns, so the others are rarely run.

    def __init__(self, texts: pa.Array) -> None:
        self._texts = pc.utf8_trim_whitespace(texts)

    @property
    def some(self) -> bool:
        """Whether there is a text."""
        return len(self._texts) > 0

    @cached_property
    def _without_nan(self) -> pa.Array:
        is_nan = pc.match_substring_regex(self._texts, "^[nN][aA][nN]$")
        return self._texts.filter(pc.invert(is_nan))

    @cached_property
    def digits(self) -> int:
        """The most digits of a text other than `nan`."""
        return most_digits(self._without_nan)

    @property
    def integers(self) -> bool:
        """Whether all texts are integers of 64 bits."""
        return (
            _all_match(self._texts, _INTEGER)
            and (pc.max(pc.binary_length(self._texts)).as_py() or 0) < 19
        )

    @property
    def numbers(self) -> bool:
        """Whether all texts other than `nan` are numbers."""
        return _all_match(self._without_nan, NUMBER)

    @property
    def times(self) -> bool:
        """Whether all texts are times of day."""
        return _all_match(self._texts, TIME_OF_DAY)

    @property
    def zoned(self) -> bool:
        """Whether a text names its zone."""
        return pc.any(pc.match_substring_regex(self._texts, ZONED)).as_py() is True

    @cached_property
    def stamps(self) -> Sequence[bool]:
        """Which of `_STAMPS`, the kinds of dates and times, all texts can be parsed as."""
        is_date, is_stamp = (_all_match(self._texts, one) for one in (_DATE, STAMP))
        return [
            (is_date if pattern == _DATE else is_stamp) and _can_cast(self._texts, kind)
            for pattern, kind, _ in _STAMPS
        ]

    def form(self) -> TextForm:
        """Return the whole form."""
        return TextForm(
            self.some,
            self.digits,
            self.integers,
            self.numbers,
            self.times,
            self.zoned,
            tuple(self.stamps),
        )


def infer_type(texts: LazyTextForm | TextForm, *, numbers: bool = True) -> pa.DataType:
    """Return the type that all texts can be read as; numbers only if `numbers`, else strings."""
    if not texts.some:
        return pa.string()
    if numbers and texts.integers:
        return pa.int64()
    if numbers and texts.numbers:
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


def most_digits(texts: pa.Array) -> int:
    """Return the most digits that any of the numbers has."""
    # A number outside the range in which floats are exact counts as having too many.
    digits = pc.replace_substring_regex(texts, r"([eE].*$)|[^0-9]", "")
    most = int(pc.max(pc.binary_length(digits)).as_py() or 0)
    return max(most, EXACT_DIGITS + 1) if _is_beyond_floats(texts) else most


def _is_beyond_floats(texts: pa.Array) -> bool:
    for pattern in (r"[1-9].*[eE]", NUMBER):
        texts = texts.filter(pc.match_substring_regex(texts, pattern))
    sizes = np.abs(to_numpy(texts.cast(pa.float64())))
    return bool((np.isinf(sizes) | (sizes < _LEAST_EXACT)).any())


def parse_times_of_day(texts: pa.Array) -> pa.Array:
    """Return texts of times of day as times; Arrow has no parser for them."""
    with_seconds = pc.replace_substring_regex(texts, "^([0-9]{2}:[0-9]{2})$", r"\1:00")
    stamps = pc.replace_substring_regex(with_seconds, "^", "1970-01-01 ")
    return stamps.cast(pa.timestamp("ns")).cast(pa.time64("ns"))


def spell_times(values: pa.Array) -> pa.Array:
    """Return times of day or points in time as texts, each in the one way that its value has: with
    seconds, and no more digits behind the point than it needs."""
    texts = values.cast(pa.string())
    texts = pc.replace_substring_regex(texts, r"(\.[0-9]*?)0+(Z?)$", r"\1\2")
    return pc.replace_substring_regex(texts, r"\.(Z?)$", r"\1")


def to_inferred_type(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a text column as numbers or times if all of its values are, else as text."""
    indices, values = index_distinct("", column)
    texts, kind = read_texts(values.cast(pa.string()))
    if pa.types.is_floating(kind) and most_digits(texts) > EXACT_DIGITS:
        texts, kind = values, pa.string()
    if pa.types.is_time(kind):
        return pa.chunked_array([parse_times_of_day(texts).take(indices)])
    return pa.chunked_array([plain_floats(texts.cast(kind)).take(indices)])
