"""Cells of a column masked, and read back to see whether they are."""

from collections.abc import Iterator, Sequence
from decimal import Context, Decimal, InvalidOperation, localcontext

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import is_text, unchunk
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.methods.masking import Masking, Number, exactly

_LONGEST = 400
"""Digits of the longest numbers before the point, behind it and in all: more than floats have."""
_DIGITS = 4 * _LONGEST
"""Digits with which every sum and remainder of such numbers is exact."""


def masked(
    column: pa.ChunkedArray | pa.Array, asked: Masking, kind: pa.DataType | None = None
) -> pa.ChunkedArray:
    """Return a column as its masking publishes it, of the type that it had.

    `kind` is what the texts of a file without types are written in, None for a column that has a
    type. Values are masked exactly, as they are written; numbers in texts are all written in one
    way then, for how a number was written would tell which were changed. Raises DataError (R013)
    where the column holds no numbers, or what the masking makes is none of its type.
    """
    plain = _plain(column)
    if plain.null_count == len(plain):
        return pa.chunked_array([pa.nulls(len(plain), column.type)])
    _check_kind(plain.type if kind is None else kind, asked)
    distinct = plain.dictionary_encode()
    with localcontext(Context(prec=_DIGITS)):
        values = list(_numbers(distinct.dictionary))
        if any(one is None for one in values):
            raise _refused(asked, f"values that are no finite numbers, or have {_LONGEST} digits")
        made = [asked.mask(one) for one in values if one is not None]
        found = _as(plain.type, made, asked).take(distinct.indices)
    return pa.chunked_array(
        [
            found.dictionary_encode().cast(column.type)
            if pa.types.is_dictionary(column.type)
            else found
        ]
    )


def broken(column: pa.ChunkedArray | pa.Array, asked: Masking) -> int:
    """Return how many cells of a column do not keep its masking, those that are no numbers too."""
    plain = _plain(column)
    if not (_is_number(plain.type) or is_text(plain.type)):
        return int(len(plain) - plain.null_count)
    counts = pc.value_counts(plain.drop_null())
    with localcontext(Context(prec=_DIGITS)):
        keeps = list(_keeping(counts.field("values"), asked))
    times = counts.field("counts").to_pylist()
    return sum(count for count, is_kept in zip(times, keeps, strict=True) if not is_kept)


def _keeping(values: pa.Array, asked: Masking) -> Iterator[bool]:
    """Yield whether each value keeps a masking: as it is written, or of a float what it is."""
    is_float = pa.types.is_floating(values.type)
    exact = values.to_pylist() if is_float else [None] * len(values)
    for written, value in zip(_numbers(values), exact, strict=True):
        is_kept = written is not None and asked.keeps(written)
        yield is_kept or (written is not None and is_float and asked.keeps(Decimal(float(value))))


def number_texts(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return decimals as texts that are all written in one way."""
    distinct = _plain(column).dictionary_encode()
    return pa.array(map(_text, distinct.dictionary.to_pylist()), pa.string()).take(distinct.indices)


def fitting_decimals(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts of numbers as decimals of the narrowest type that holds them, and as they are
    where there is none."""
    distinct = unchunk(column).dictionary_encode()
    try:
        values = pa.array(map(Decimal, distinct.dictionary.to_pylist()))
    except pa.ArrowInvalid:
        return column
    return pa.chunked_array([values.take(distinct.indices)])


def _plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    array = unchunk(column) if isinstance(column, pa.ChunkedArray) else column
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def _numbers(values: pa.Array) -> Iterator[Number | None]:
    """Yield values exactly, as they are written; None for what is missing or no finite number."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        yield from values.to_pylist()
    elif is_text(kind) or pa.types.is_floating(kind):
        # The shortest text of a float is what a file of texts would say.
        yield from map(_number, values.cast(pa.string()).to_pylist())
    else:
        yield from (None for _ in range(len(values)))


def _number(text: str | None) -> Number | None:
    try:
        found = Decimal(text) if text is not None else None
    except InvalidOperation:
        return None
    return found if found is not None and _is_short(found) else None


def _is_short(number: Decimal) -> bool:
    """Tell whether a number is finite, and not so long that only a mistake would be."""
    exponent = number.as_tuple().exponent
    return (
        isinstance(exponent, int)
        and exponent > -_LONGEST
        and number.adjusted() < _LONGEST
        and len(number.as_tuple().digits) < _LONGEST
    )


def _check_kind(kind: pa.DataType, asked: Masking) -> None:
    """Raise DataError (R013) for a column that holds no numbers, and for one of integers that a
    parameter would make decimals."""
    if not _is_number(kind):
        held = "texts" if is_text(kind) else f"values of the type {kind}"
        raise _refused(asked, held)
    for name, figure in asked.figures.items():
        if pa.types.is_integer(kind) and not figure.is_integer():
            message = (
                f"The column {asked.name!r} holds integers, and its {name} is {exactly(figure)}."
            )
            raise DataError.of("R013", message, f"Let {name} be an integer.")


def _is_number(kind: pa.DataType) -> bool:
    """Tell whether a type is one of numbers that Arrow can tell apart."""
    is_decimal = pa.types.is_decimal128(kind) or pa.types.is_decimal256(kind)
    return bool(is_decimal or pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _refused(asked: Masking, held: str) -> PolicyEngineError:
    message = f"The column {asked.name!r} holds {held}. {asked.masking} is of numbers."
    return DataError.of("R013", message, "Give the column another role.")


def _as(kind: pa.DataType, numbers: Sequence[Number], asked: Masking) -> pa.Array:
    """Return numbers as an array of a type. Raises DataError (R013) where one is none of it."""
    try:
        if is_text(kind):
            return pa.array(map(_text, numbers), kind)
        if pa.types.is_floating(kind):
            return _as_floats(kind, numbers, asked)
        if pa.types.is_decimal(kind):
            return pa.array(map(Decimal, numbers), kind)
        return pa.array(numbers, kind)
    except (pa.ArrowInvalid, OverflowError, InvalidOperation):
        raise _unfit(kind, asked) from None


def _as_floats(kind: pa.DataType, numbers: Sequence[Number], asked: Masking) -> pa.Array:
    made = pa.array([float(one) + 0.0 for one in numbers], pa.float64()).cast(kind)
    if not all(_keeping(made, asked)):
        raise _unfit(kind, asked)
    return made


def _unfit(kind: pa.DataType, asked: Masking) -> PolicyEngineError:
    message = f"The {asked.masking} of {asked.name!r} makes numbers that are none of {kind}."
    return DataError.of("R013", message, "Change its parameters, or the type.")


def _text(number: Number) -> str:
    text = f"{number:f}" if isinstance(number, Decimal) else str(number)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
