"""Columns that are masked value by value, and what of them is found when they are read back."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from decimal import Context, Decimal, InvalidOperation, localcontext

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.data.notations import CORRECT_TEXTS
from policy_engine.engines.arrays import is_text, unchunk
from policy_engine.engines.plain_floats import plain_floats
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.methods.masking import CellRule, Number, exactly, number_text

_LONGEST = 400
"""The most digits of a number, before the point, after it and in all: more than floats have."""
_DIGITS = 4 * _LONGEST
"""Digits with which every sum and remainder of such numbers is exact."""


def mask_column(
    column: pa.ChunkedArray | pa.Array, masking: CellRule, kind: pa.DataType | None = None
) -> pa.ChunkedArray:
    """Return a column masked, with the type that it had.

    `kind` is the inferred type of the texts of a file without types, None for a column with a type.
    Values are masked exactly, as decimals. Numbers in texts are then all written in the same way:
    otherwise their spelling would show which were changed. Raises DataError (R013) where the column
    does not hold numbers, or its type cannot hold the masked ones.
    """
    plain = _decoded(column)
    if plain.null_count == len(plain):
        published = published_type(plain.type, masking) if masking.label else column.type
        return pa.chunked_array([pa.nulls(len(plain), published)])
    _check_kind(plain.type if kind is None else kind, masking)
    distinct = plain.dictionary_encode()
    with exact_arithmetic():
        masked = [masking.mask(one) for one in _finite_numbers(distinct.dictionary, masking)]
        masked_numbers = [one for one in masked if not isinstance(one, str)]
        if is_text(plain.type) and any(_number(number_text(one)) is None for one in masked_numbers):
            raise _column_type_error(
                masking, f"a value whose {masking.masking} has {_LONGEST} digits"
            )
        if masking.label:
            texts = (one if isinstance(one, str) else number_text(one) for one in masked)
            values = pa.array(texts, published_type(plain.type, masking)).take(distinct.indices)
            return pa.chunked_array([values])
        values = _cast_numbers(plain.type, masked_numbers, masking).take(distinct.indices)
    return pa.chunked_array(
        [
            values.dictionary_encode().cast(column.type)
            if pa.types.is_dictionary(column.type)
            else values
        ]
    )


def exact_arithmetic() -> AbstractContextManager[Context]:
    """Return a context in which sums, products and remainders of values are exact."""
    return localcontext(Context(prec=_DIGITS))


def published_type(kind: pa.DataType, masking: CellRule) -> pa.DataType:
    """Return the type of a masked column, that of its values being `kind`: text, if a text stands
    for some of them."""
    return pa.string() if masking.label and not is_text(kind) else kind


def _finite_numbers(values: pa.Array, masking: CellRule) -> list[Number]:
    """Return values exactly. Raises DataError (R013) where they are not finite numbers."""
    numbers = list(_numbers(values))
    if any(number is None for number in numbers):
        raise _column_type_error(
            masking, f"values that are not finite numbers, or have {_LONGEST} digits"
        )
    return [number for number in numbers if number is not None]


def count_values(
    column: pa.ChunkedArray | pa.Array, masking: CellRule, kind: pa.DataType | None = None
) -> dict[Number, int]:
    """Return how often each number occurs in a column. Raises DataError as `mask_column` does."""
    plain = _decoded(column)
    counts: dict[Number, int] = {}
    if plain.null_count < len(plain):
        _check_kind(plain.type if kind is None else kind, masking)
        distinct = pc.value_counts(plain.drop_null())
        numbers = _finite_numbers(distinct.field("values"), masking)
        for value, times in zip(numbers, distinct.field("counts").to_pylist(), strict=True):
            counts[value] = counts.get(value, 0) + times
    return counts


def count_published(column: pa.ChunkedArray | pa.Array) -> tuple[dict[Number, int], dict[str, int]]:
    """Return how often each number occurs in a published column, and each text that is none."""
    plain = _decoded(column).drop_null()
    if not len(plain):
        return {}, {}
    counts = pc.value_counts(plain)
    values, times = counts.field("values"), counts.field("counts").to_pylist()
    numbers: dict[Number, int] = {}
    texts: dict[str, int] = {}
    for text, value, number_ in zip(
        values.cast(pa.string()).to_pylist(), _numbers(values), times, strict=True
    ):
        if value is None:
            texts[text] = texts.get(text, 0) + number_
        else:
            numbers[value] = numbers.get(value, 0) + number_
    return numbers, texts


def count_unchanged(before: pa.ChunkedArray, after: pa.ChunkedArray) -> tuple[int, int]:
    """Return how many cells have a value, and how many of them the same number as before."""
    old, new = (_decoded(column) for column in (before, after))
    pairs = pa.table([old, new], ["old", "new"]).filter(old.is_valid())
    if not pairs.num_rows:  # of types, too, whose values Arrow does not group
        return 0, 0
    counted = pairs.group_by(["old", "new"]).aggregate([([], "count_all")])
    with exact_arithmetic():
        numbers = [list(_numbers(unchunk(counted.column(name)))) for name in ("old", "new")]
        times = counted.column("count_all").to_pylist()
        equal = (n for n, one, other in zip(times, *numbers, strict=True) if one == other)
        return pairs.num_rows, sum(equal)


def count_unmasked(column: pa.ChunkedArray | pa.Array, masking: CellRule) -> int:
    """Return how many cells of a column do not satisfy its masking, are not numbers, or are texts
    that are not written as the others: their spelling would show which were changed."""
    return min(count_by_spelling(column, masking))


def count_by_spelling(column: pa.ChunkedArray | pa.Array, masking: CellRule) -> tuple[int, int]:
    """Return what `count_unmasked` counts if texts are to be spelled as numbers in texts are, and
    if they are to be spelled as floats are. A release has the one or the other in a column."""
    plain = _decoded(column).drop_null()
    if not len(plain):
        return 0, 0
    if not (_is_number(plain.type) or is_text(plain.type)):
        return len(plain), len(plain)
    if masking.label and is_text(plain.type):
        plain = plain.filter(pc.not_equal(plain, pa.scalar(masking.label, plain.type)))
    counts = pc.value_counts(plain)
    with exact_arithmetic():
        values = counts.field("values")
        keeps = list(_check_values(values, masking))
        spelled = [*_check_spelling(values)]
    times = counts.field("counts").to_pylist()
    exact, floats = (
        sum(
            count
            for count, is_kept, is_spelled in zip(times, keeps, spellings, strict=True)
            if not (is_kept and is_spelled)
        )
        for spellings in spelled
    )
    return exact, floats


def _check_spelling(values: pa.Array) -> Iterator[Sequence[bool]]:
    """Yield which values are spelled as numbers in texts are, and which as floats are."""
    if not is_text(values.type):
        yield from ([True] * len(values),) * 2
        return
    texts, numbers = values.cast(pa.string()).to_pylist(), [*_numbers(values)]
    exact = [None if number is None else number_text(number) for number in numbers]
    floats = [None if number is None else float(number) + 0.0 for number in numbers]
    for spelled in (exact, pa.array(floats, pa.float64()).cast(pa.string()).to_pylist()):
        yield [text == spelling for text, spelling in zip(spelled, texts, strict=True)]


def _check_values(values: pa.Array, masking: CellRule) -> Iterator[bool]:
    """Yield whether each value satisfies a masking: as it is written, or a float by its value."""
    is_float = pa.types.is_floating(values.type)
    exact = values.to_pylist() if is_float else [None] * len(values)
    for number, value in zip(_numbers(values), exact, strict=True):
        is_kept = number is not None and masking.keeps(number)
        yield is_kept or (number is not None and is_float and masking.keeps(Decimal(float(value))))


def number_texts(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return decimals as texts that are all written in the same way."""
    distinct = _decoded(column).dictionary_encode()
    return pa.array(map(number_text, distinct.dictionary.to_pylist()), pa.string()).take(
        distinct.indices
    )


def fitting_decimals(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts of numbers as decimals of the narrowest type that holds them; unchanged where
    none does."""
    distinct = unchunk(column).dictionary_encode()
    try:
        values = pa.array(map(Decimal, distinct.dictionary.to_pylist()))
    except pa.ArrowInvalid:
        return column
    return pa.chunked_array([values.take(distinct.indices)])


def _decoded(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return unchunk(column) if isinstance(column, pa.ChunkedArray) else column


def _numbers(values: pa.Array) -> Iterator[Number | None]:
    """Yield values exactly, as they are written; None where missing or not a finite number."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        yield from values.to_pylist()
    elif is_text(kind) or pa.types.is_floating(kind):
        # The shortest text of a float: what a CSV file would hold.
        yield from map(_number, values.cast(pa.string()).to_pylist())
    else:
        yield from (None for _ in range(len(values)))


def _number(text: str | None) -> Number | None:
    try:
        number = Decimal(text) if text is not None else None
    except InvalidOperation:
        return None
    return number if number is not None and _is_short(number) else None


def _is_short(number: Decimal) -> bool:
    """Tell whether a number is finite, and not absurdly long."""
    exponent = number.as_tuple().exponent
    return (
        isinstance(exponent, int)
        and exponent > -_LONGEST
        and number.adjusted() < _LONGEST
        and len(number.as_tuple().digits) < _LONGEST
    )


def _check_kind(kind: pa.DataType, masking: CellRule) -> None:
    """Raise DataError (R013) for a column without numbers, and for a column of integers that a
    parameter would turn into decimals."""
    if not _is_number(kind):
        if is_text(kind):
            raise _column_type_error(
                masking, "texts", f"{CORRECT_TEXTS}give the column another role."
            )
        raise _column_type_error(masking, f"values of the type {kind}")
    for name, figure in masking.figures.items():
        if pa.types.is_integer(kind) and not figure.is_integer():
            message = (
                f"The column {masking.name!r} holds integers, and its {name} is {exactly(figure)}."
            )
            raise DataError.of("R013", message, f"Let {name} be an integer.")


def _is_number(kind: pa.DataType) -> bool:
    """Tell whether a type is numeric, and Arrow can compare its values."""
    is_decimal = pa.types.is_decimal128(kind) or pa.types.is_decimal256(kind)
    return bool(is_decimal or pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _column_type_error(
    masking: CellRule, content: str, hint: str = "Give the column another role."
) -> PolicyEngineError:
    message = f"The column {masking.name!r} holds {content}. {masking.masking} needs numbers."
    return DataError.of("R013", message, hint)


def _cast_numbers(kind: pa.DataType, numbers: Sequence[Number], masking: CellRule) -> pa.Array:
    """Return numbers as an array of a type. Raises DataError (R013) where it cannot hold one."""
    try:
        if is_text(kind):
            return pa.array(map(number_text, numbers), kind)
        if pa.types.is_floating(kind):
            return _cast_floats(kind, numbers, masking)
        if pa.types.is_decimal(kind):
            return pa.array(map(Decimal, numbers), kind)
        return pa.array(numbers, kind)
    except (pa.ArrowInvalid, OverflowError, InvalidOperation):
        raise result_type_error(kind, masking) from None


def _cast_floats(kind: pa.DataType, numbers: Sequence[Number], masking: CellRule) -> pa.Array:
    doubles = pa.array([float(number) for number in numbers], pa.float64())
    floats = plain_floats(doubles.cast(kind))
    if not all(_check_values(floats, masking)):
        raise result_type_error(kind, masking)
    return floats


def result_type_error(kind: pa.DataType, masking: CellRule) -> PolicyEngineError:
    """Return the error (R013) for results that a type cannot hold."""
    message = (
        f"The {masking.masking} of {masking.name!r} makes numbers that the type {kind} cannot hold."
    )
    return DataError.of("R013", message, "Change its parameters, or the type.")
