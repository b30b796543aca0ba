"""Columns of numbers and dates as floats, and floats as columns of the same kind again."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.data.notations import CORRECT_TEXTS
from policy_engine.engines.arrays import (
    from_numpy,
    from_texts,
    is_nested_or_span,
    is_text,
    to_numpy,
    unchunk,
)
from policy_engine.engines.text_types import parse_times_of_day, spell_times
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.methods.masking import number_text

Kind = Literal["integer", "decimal", "float", "date", "timestamp"]
MOST_EXACT = 2**53
"""Up to here every integer is a float."""
MOST_DECIMALS = 15


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column are written: of what kind, and with how many decimals at most.

    `type` is that of the column as it was read, text in a file without types; `is_declared` means
    that it says nothing of single values. Of floats, `decimals` above 15 are any number; of points
    in time, they are those of a second: 0, 3 or 6.
    """

    kind: Kind
    type: pa.DataType
    decimals: int = 0
    is_declared: bool = True

    def merge(self, other: "NumberForm") -> "NumberForm":
        """Return the form of the numbers of two parts of a column."""
        return replace(self, decimals=max(self.decimals, other.decimals))

    def with_decimals(self, name: str, decimals: int) -> "NumberForm":
        """Return the form of numbers that have so many decimals at most, whatever those of the
        column have: of more, the text of a float would not be that of the number.

        Raises DataError (R013) for integers, dates and points in time, which have none.
        """
        if self.kind not in ("decimal", "float"):
            if decimals == 0:
                return self
            message = f"The column {name!r} holds integers, and its masking makes decimals."
            raise DataError.of("R013", message, "Let its parameters be integers.")
        return replace(self, decimals=decimals)

    @property
    def published_type(self) -> pa.DataType:
        """The type of the masked column: that of the column, or for integers the widest one."""
        if is_text(self.type):
            return pa.string()
        if self.kind == "decimal" and not self.is_declared:
            return pa.decimal128(38, self.decimals)
        is_integer = self.kind == "integer" and not pa.types.is_null(self.type)
        return pa.int64() if is_integer else self.type

    def rounding(self, exponent: int) -> float:
        """Return how far at most a number is from the one that is written for it, in the units of
        `to_floats`; those of the column are below 2**exponent, the number below 16 times that."""
        if self.kind == "timestamp":
            return 0.5 * _UNITS[self.decimals][1]
        if self.kind != "float":
            return 0.5 * 10.0**-self.decimals
        decimals = 0.5 * 10.0**-self.decimals if self.decimals <= MOST_DECIMALS else 0.0
        bits = int(np.finfo(self.type.to_pandas_dtype()).nmant)
        return decimals + math.ldexp(1.0, exponent + 4 - bits)


_UNITS: Mapping[int, tuple[str, int]] = {0: ("s", 1_000_000), 3: ("ms", 1000), 6: ("us", 1)}
"""The units of points in time, and their microseconds, by their decimals of a second."""


def number_form(
    name: str, column: pa.ChunkedArray, inferred: pa.DataType | None, *, is_declared: bool = True
) -> NumberForm:
    """Return the form of a column, whose texts are `inferred` to be of a type.

    Raises DataError (R013) where it does not hold numbers, dates or points in time.
    """
    plain = plain_array(column)
    kind = plain.type if inferred is None else inferred
    for is_kind, named in _KINDS:
        if is_kind(kind):
            if is_text(plain.type) and named == "timestamp":
                raise _untyped_moments(name)
            return replace(_form(named, kind, plain), is_declared=is_declared)
    if plain.null_count == len(plain) and not is_nested_or_span(kind):
        return NumberForm("decimal", plain.type)
    if is_text(kind):
        raise not_numbers(
            name, "texts", f"{CORRECT_TEXTS}give the column another masking, or another role."
        )
    raise not_numbers(name, f"values of the type {kind}")


_KINDS: tuple[tuple[Callable[[pa.DataType], bool], Kind], ...] = (
    (pa.types.is_integer, "integer"),
    (pa.types.is_decimal, "decimal"),
    (pa.types.is_floating, "float"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "timestamp"),
)


def _form(named: Kind, kind: pa.DataType, plain: pa.Array) -> NumberForm:
    if named == "float" and is_text(plain.type):
        return NumberForm("decimal", plain.type, _most_decimals(plain))
    if named == "float":
        return NumberForm(named, plain.type, float_decimals(_as_doubles(plain.drop_null())))
    if named == "timestamp":
        return NumberForm(named, plain.type, _decimals_of_seconds(plain))
    return NumberForm(named, plain.type, max(kind.scale, 0) if named == "decimal" else 0)


def _decimals_of_seconds(stamps: pa.Array) -> int:
    """Return the decimals of a second that points in time have: of the values, since an engine may
    hold them in another unit than the file that it read."""
    microseconds = to_numpy(_microseconds(stamps.drop_null()))
    return next(places for places, (_, unit) in _UNITS.items() if not (microseconds % unit).any())


def _microseconds(stamps: pa.Array) -> pa.Array:
    return stamps.cast(pa.timestamp("us", stamps.type.tz), safe=False).cast(pa.int64())


_OTHER_USE = "Give the column another masking, or another role."


def not_numbers(name: str, content: str, hint: str = _OTHER_USE) -> PolicyEngineError:
    """Return the error for a column that holds other things than numbers."""
    message = f"The column {name!r} holds {content}. Its masking needs numbers."
    return DataError.of("R013", message, hint)


def _untyped_moments(name: str) -> PolicyEngineError:
    message = f"The column {name!r} holds points in time in a file without types, as which its "
    message += "masking cannot measure them."
    return DataError.of("R013", message, "Read and write Parquet, or give it another masking.")


def plain_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array without a dictionary."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)  # cheaper than one dictionary for all chunks
    return unchunk(column) if isinstance(column, pa.ChunkedArray) else column


def as_spelled(name: str, column: pa.ChunkedArray, inferred: pa.DataType | None) -> pa.Array:
    """Return a column as one array; texts that are `inferred` to be numbers, dates or times are
    written in the one way that each value has.

    Otherwise the spelling of a value would tell where it comes from. Raises DataError (R013) for
    what is not a finite number among numbers.
    """
    plain = plain_array(column)
    if inferred is None or is_text(inferred) or not is_text(plain.type):
        return plain
    distinct = pc.utf8_trim_whitespace(plain).dictionary_encode()
    if pa.types.is_time(inferred):
        return spell_times(parse_times_of_day(distinct.dictionary)).take(distinct.indices)
    if not (pa.types.is_integer(inferred) or pa.types.is_floating(inferred)):
        return spell_times(distinct.dictionary.cast(inferred)).take(distinct.indices)
    numbers = [Decimal(text) for text in distinct.dictionary.to_pylist()]
    if not all(map(Decimal.is_finite, numbers)):
        raise not_numbers(name, "values that are not finite numbers")
    return from_texts(list(map(spell_number, numbers))).take(distinct.indices)


def spell_number(number: Decimal) -> str:
    """Return the text of a number among others in texts, with an exponent where it is long."""
    is_long = abs(number.adjusted()) > _LONGEST
    return str(number.normalize()).lower() if is_long else number_text(number)


_LONGEST = 20


def to_floats(name: str, column: pa.ChunkedArray, form: NumberForm) -> NDArray[np.float64]:
    """Return a column as floats, NaN where a value is missing, (rows,).

    Dates are days, points in time microseconds. Raises DataError (R013) for values that are not
    finite, and for integers of more than 53 bits, which floats would round.
    """
    array = plain_array(column)
    if array.null_count == len(array):
        return np.full(len(array), np.nan)
    return _present_floats(name, array, form)


def _present_floats(name: str, array: pa.Array, form: NumberForm) -> NDArray[np.float64]:
    missing = ~to_numpy(array.is_valid())
    if is_text(array.type):
        array = pc.utf8_trim_whitespace(array)
    if form.kind == "date":
        array = array.cast(pa.date32()).cast(pa.int32())
    elif form.kind == "timestamp":
        array = _microseconds(array)
    elif pa.types.is_decimal(array.type):
        array = array.cast(pa.string())  # whose float is the nearest
    if form.kind == "decimal" and is_text(array.type) and _longest(array) >= _LONG:
        long = pc.match_substring_regex(array, f"^-?[0-9]{{{_LONG}}}")
        if pc.any(long).as_py():
            raise not_numbers(name, _LONG_NUMBERS)
    try:
        values = _as_doubles(array)
    except pa.ArrowInvalid:
        raise not_numbers(name, "values that are not numbers") from None
    values = np.where(missing, np.nan, values)
    if not np.isfinite(values[~missing]).all():
        raise not_numbers(name, "values that are not finite numbers")
    if form.kind == "integer" and (np.abs(values[~missing]) > MOST_EXACT).any():
        raise not_numbers(name, _LONG_INTEGERS)
    return values


def _longest(texts: pa.Array) -> int:
    return int(to_numpy(pc.binary_length(texts)).max(initial=0))


_LONG = 17
_LONG_NUMBERS = (
    f"numbers of {_LONG} digits or more before the point, as integers of more than 53 bits have, "
    "which arithmetic would round"
)
_LONG_INTEGERS = "integers of more than 53 bits, which arithmetic would round"


def _as_doubles(array: pa.Array) -> NDArray[np.float64]:
    """Return numbers, or texts of them, as floats of 64 bits, NaN where missing; a float of fewer
    bits is the number that its text is."""
    is_short = pa.types.is_floating(array.type) and not pa.types.is_float64(array.type)
    wide = array.cast(pa.string()) if is_short else array
    return to_numpy(wide.cast(pa.float64(), safe=False), missing=np.nan)


def float_decimals(values: NDArray[np.float64]) -> int:
    """Return how many digits behind the point the floats have at most, 16 for more than 15."""
    first = _float_decimals(values[:_SAMPLE])
    return first if first > MOST_DECIMALS else max(first, _float_decimals(values))


_SAMPLE = 4096


def _float_decimals(values: NDArray[np.float64]) -> int:
    rest = values[np.isfinite(values)]
    for decimals in range(MOST_DECIMALS + 1):
        rest = rest[round_floats(rest, decimals) != rest]
        if not len(rest):
            return decimals
    return MOST_DECIMALS + 1


def round_floats(values: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    """Return the floats nearest to numbers of some decimals; of those above 15, the values."""
    scale = 10.0**decimals
    is_exact = np.abs(values) < MOST_EXACT / scale  # else the float is no finer than that
    if decimals > MOST_DECIMALS:
        return values
    return np.where(is_exact, np.rint(np.where(is_exact, values, 0.0) * scale) / scale, values)


def from_floats(
    name: str, values: NDArray[np.float64], form: NumberForm, like: pa.ChunkedArray
) -> pa.ChunkedArray:
    """Return numbers as a column of the form, missing where they are in the column that it is
    `like`, each rounded as that column is. Raises DataError (R013) where the type cannot hold them.
    """
    missing = ~to_numpy(plain_array(like).is_valid())
    if missing.all():
        return pa.chunked_array([pa.nulls(len(values), form.published_type)])
    numbers = np.where(missing, 0.0, values)
    try:
        made = _from_present(numbers, form)
    except (pa.ArrowInvalid, OverflowError):
        raise _not_held(name, form) from None
    if missing.any():  # Arrow's if_else would widen decimals
        made = made.take(from_numpy(np.arange(len(made)), missing))
    return pa.chunked_array([made])


def as_written(
    name: str, values: NDArray[np.float64], form: NumberForm, like: pa.ChunkedArray
) -> NDArray[np.float64]:
    """Return numbers of a column as it would be published if nothing changed them: what it cannot
    write does not count as a change."""
    if form.kind != "decimal" or form.decimals < MOST_DECIMALS or not is_text(form.type):
        return values
    if (np.abs(values) > MOST_EXACT).any():
        return values
    return to_floats(name, from_floats(name, values, form, like), form)


def _from_present(numbers: NDArray[np.float64], form: NumberForm) -> pa.Array:
    if form.kind == "float":
        return _from_floats(round_floats(numbers, form.decimals), form.type)
    if form.kind == "decimal":
        if is_text(form.type) and (np.abs(numbers) > MOST_EXACT).any():
            raise OverflowError
        texts = decimal_texts(numbers, form.decimals)
        return texts if is_text(form.type) else texts.cast(form.published_type)
    whole = np.rint(numbers)
    if (np.abs(whole) > MOST_EXACT).any():
        raise OverflowError
    integers = from_numpy(whole.astype(np.int64))
    if form.kind == "integer":
        return integers.cast(form.published_type)
    if form.kind in ("date", "timestamp"):
        first, last = (day * _PER_DAY[form.kind] for day in _DAYS)
        if len(whole) and not first <= whole.min() <= whole.max() <= last:
            raise OverflowError
    if form.kind == "date":
        return integers.cast(pa.int32()).cast(pa.date32()).cast(form.published_type)
    unit, microseconds = _UNITS[form.decimals]
    units = from_numpy(np.rint(numbers / microseconds).astype(np.int64))
    return units.cast(pa.timestamp(unit, form.type.tz)).cast(form.type)


def _not_held(name: str, form: NumberForm) -> PolicyEngineError:
    """Return the error (R013) for masked numbers that cannot be written as those of the column."""
    if is_text(form.type) and form.kind in ("integer", "decimal"):
        message = f"The masking of {name!r} makes numbers beyond {MOST_EXACT:,}, which are not "
        message += "written as texts: floats of 64 bits round them."
        return DataError.of("R013", message, "Give smaller numbers, or a file with types.")
    message = f"The masking of {name!r} makes values that the type {form.type} cannot hold."
    return DataError.of("R013", message, "Change its parameters, or the type.")


def _from_floats(numbers: NDArray[np.float64], kind: pa.DataType) -> pa.Array:
    """Return floats of a type. Raises OverflowError for numbers that it does not have."""
    with np.errstate(over="ignore"):
        made = numbers.astype(kind.to_pandas_dtype()) + kind.to_pandas_dtype()(0)  # no -0.0
    if not np.isfinite(made).all():
        raise OverflowError
    return from_numpy(made)


_DAYS = (-719_162, 2_932_896)
"""The first day of the year 1 and the last of the year 9999, from 1970 on."""
_PER_DAY: Mapping[Kind, int] = {"date": 1, "timestamp": 86_400_000_000}


_MOST_PLAIN = 6
"""Of more decimals, Arrow writes small numbers with an exponent."""


def decimal_texts(numbers: NDArray[np.float64], decimals: int) -> pa.Array:
    """Return numbers as texts, rounded to some decimals, all written in the same way."""
    scaled = np.rint(numbers * 10.0**decimals)
    if decimals > _MOST_PLAIN or (np.abs(scaled) > MOST_EXACT).any():
        distinct, index = np.unique(numbers, return_inverse=True)
        texts = [number_text(_rounded(value, decimals)) for value in distinct.tolist()]
        return from_texts(texts).take(from_numpy(index.astype(np.int64)))
    integers = scaled.astype(np.int64)
    # The two words of a decimal of 128 bits: the number itself, and its sign.
    words = np.ascontiguousarray(np.stack([integers, integers >> 63], axis=1))
    kind = pa.decimal128(38, decimals)
    exact = pa.Array.from_buffers(kind, len(integers), [None, pa.py_buffer(words)])
    written = exact.cast(pa.string())
    return pc.replace_substring_regex(written, r"\.?0+$", "") if decimals else written


def _rounded(value: float, decimals: int) -> Decimal:
    # Of so many decimals, a float has some that its shortest text does not need.
    number = Decimal(repr(value)) if decimals > MOST_DECIMALS else value
    return Decimal(f"{number:.{decimals}f}")


def _most_decimals(texts: pa.Array) -> int:
    """Return the most digits behind the point of any of the numbers, at most 15."""
    return min(int(_count_decimals(texts, with_zeros=True).max(initial=0)), MOST_DECIMALS)


def count_decimals(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return how many decimals each number has, in texts or decimals, without zeros at the end.

    One per row; 0 for what is missing or not a number.
    """
    return _count_decimals(plain_array(column).cast(pa.string()), with_zeros=False)


def _count_decimals(texts: pa.Array, with_zeros: bool) -> NDArray[np.int64]:
    """Return how many digits each number has behind its point, (rows,), zeros at the end or not.

    Numbers without an exponent, nearly all, are counted at once.
    """
    trimmed = pc.utf8_trim_whitespace(texts)
    is_plain = to_numpy(pc.match_substring_regex(trimmed, _PLAIN_NUMBER), missing=1)
    points = to_numpy(pc.find_substring(trimmed, "."), missing=-1).astype(np.int64)
    ended = trimmed if with_zeros else pc.utf8_rtrim(trimmed, "0")
    ends = to_numpy(pc.binary_length(ended)).astype(np.int64)
    places = np.where(points < 0, 0, ends - points - 1)
    others = trimmed.filter(from_numpy(~is_plain)).to_pylist()
    places[~is_plain] = [_decimals(one if with_zeros else _shortest(one)) for one in others]
    return places


_PLAIN_NUMBER = r"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$"


def _shortest(text: str) -> str:
    """Return the text of a number without zeros at the end of its decimals."""
    return re.sub(r"(\.[0-9]*?)0+(?=[eE]|\s*$)", r"\1", text)


def _decimals(text: str) -> int:
    try:
        exponent = Decimal(text.strip()).as_tuple().exponent
    except ArithmeticError:
        return 0
    return max(-exponent, 0) if isinstance(exponent, int) else 0
