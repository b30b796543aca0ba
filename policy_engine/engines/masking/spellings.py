"""How files without types spell numbers, dates and times, and whether an output spells them so."""

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, is_text, to_numpy
from policy_engine.engines.masking.numbers import plain_array, spell_number
from policy_engine.engines.plain_floats import plain_floats
from policy_engine.engines.text_types import (
    TIME_OF_DAY,
    ZONED,
    parse_times_of_day,
    spell_times,
)
from policy_engine.methods.masking import number_text

Bools = NDArray[np.bool_]
_UNITS = ("s", "ms", "us", "ns")
_ARROW_STAMP = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?(Z|[-+][0-9]{4})?$"
)
_NINE_DIGITS = "000000000"


def written_texts(values: pa.Array, zone: str | None = None) -> pa.Array:
    """Return values as the texts that a file without types has of them, an empty one missing.

    Texts are returned as they are, but for points in time. Those have as many digits behind the
    point as their unit, or six on a cluster, where they are in UTC too: either way, all of a part
    of a column. They are returned with nine digits, and in their `zone`.
    """
    if is_text(values.type):
        is_empty = to_numpy(pc.equal(pc.binary_length(values), _lengths(0))).astype(np.bool_)
        values = pc.if_else(from_numpy(is_empty), pa.nulls(len(values), values.type), values)
        return _same_moments(values.cast(pa.string()), zone)
    if pa.types.is_timestamp(values.type):
        texts = values.cast(pa.string())
        return _with_nine_digits(texts, _UNITS.index(values.type.unit) * 3)
    is_bytes = pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type)
    return values if is_bytes else values.cast(pa.string())


def _lengths(length: int) -> pa.Scalar:
    return from_numpy(np.array([length], dtype=np.int32))[0]


def _same_moments(texts: pa.Array, zone: str | None) -> pa.Array:
    """Return texts, points in time that are spelled as the first of them is in one form."""
    present = texts.drop_null()
    stamp = pc.extract_regex(present.slice(0, 1), _NAMED_STAMP).to_pylist() if len(present) else []
    if not stamp or stamp[0] is None:
        return texts
    digits = max(len(stamp[0]["fraction"]) - 1, 0)
    if zone not in (None, "UTC") and stamp[0]["zone"] == "Z":
        texts = _in_zone(texts, zone, digits)
    return _with_nine_digits(texts, digits)


_NAMED_STAMP = _ARROW_STAMP.replace("(", "(?P<moment>", 1)
_NAMED_STAMP = _NAMED_STAMP.replace(r"(\.[0-9]+)", r"(?P<fraction>\.[0-9]+)")
_NAMED_STAMP = _NAMED_STAMP.replace("(Z|", "(?P<zone>Z|")


def _with_nine_digits(texts: pa.Array, digits: int) -> pa.Array:
    """Return points in time that have some digits behind the point with nine, others as they
    are."""
    fraction = rf"\.[0-9]{{{digits}}}" if digits else ""
    pattern = _ARROW_STAMP.replace(r"(\.[0-9]+)?", f"({fraction})")
    zeros = _NINE_DIGITS[digits:]
    return pc.replace_substring_regex(texts, pattern, rf"\1\2{'' if digits else '.'}{zeros}\3")


def _in_zone(texts: pa.Array, zone: str | None, digits: int) -> pa.Array:
    """Return points in time in UTC as those of a zone, and others with a mark that none has."""
    is_utc = pc.match_substring_regex(texts, _ARROW_STAMP.replace("(Z|[-+][0-9]{4})?", "Z"))
    chosen = np.flatnonzero(to_numpy(is_utc))
    made: list[str | None] = ["?" if text is not None else None for text in texts.to_pylist()]
    for places, moments in parse_moments(texts.take(from_numpy(chosen)), "UTC"):
        kind = pa.timestamp(_UNITS[digits // 3] if digits % 3 == 0 else "ns", zone)
        spelled = moments.cast(kind, safe=False).cast(pa.string()).to_pylist()
        for place, text in zip(chosen[places].tolist(), spelled, strict=True):
            made[place] = text
    return pa.array(made, pa.string())


def parse_moments(texts: pa.Array, zone: str | None) -> Iterator[tuple[Bools, pa.Array]]:
    """Yield texts that look like points in time as such, and those that are none as they are, each
    with where they are: there is no 30th of February."""
    for first, last, moments in _parsed_parts(texts, zone, 0):
        places = np.zeros(len(texts), dtype=np.bool_)
        places[first:last] = True
        yield places, moments


def _parsed_parts(
    texts: pa.Array, zone: str | None, first: int
) -> Iterator[tuple[int, int, pa.Array]]:
    if not len(texts):
        return
    for unit in ("ns", "us"):  # not every year is one of nanoseconds
        try:
            parsed = texts.cast(pa.timestamp(unit, zone))
        except pa.ArrowInvalid:
            continue
        yield first, first + len(texts), parsed
        return
    if len(texts) == 1:
        yield first, first + 1, texts
        return
    half = len(texts) // 2
    yield from _parsed_parts(texts[:half], zone, first)
    yield from _parsed_parts(texts[half:], zone, first + half)


def count_misspelled(column: pa.ChunkedArray | pa.Array, kind: pa.DataType) -> NDArray[np.int64]:
    """Return how many texts of an output, whose masked column held values of a `kind`, are spelled
    otherwise than in each of the ways that a release has, (ways,).

    A release spells a whole column in one of them. Values of types have no spelling.
    """
    plain = plain_array(column).drop_null()
    if not is_text(plain.type):
        plain = plain.slice(0, 0).cast(pa.string())
    counts = pc.value_counts(plain.cast(pa.string()))
    texts, times = counts.field("values"), to_numpy(counts.field("counts"))
    are_same = (to_numpy(pc.equal(way, texts)).astype(np.bool_) for way in _ways(texts, kind))
    return np.array([times[~is_same].sum() for is_same in are_same], dtype=np.int64)


def _ways(texts: pa.Array, kind: pa.DataType) -> Iterator[pa.Array]:
    """Yield texts in each of the ways that a release spells them, missing where they are no values
    of their kind."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        yield from _numbers(texts)
    elif pa.types.is_date(kind):
        yield _all_as(texts, (pa.date32(),)).cast(pa.string())
    elif pa.types.is_time(kind):
        yield from _times(texts)
    elif pa.types.is_timestamp(kind):
        yield from _stamps(texts, kind.tz)
    else:
        yield texts


def _numbers(texts: pa.Array) -> Iterator[pa.Array]:
    is_plain = pc.match_substring_regex(texts, _PLAIN_NUMBER)
    others = texts.filter(pc.invert(is_plain)).to_pylist()
    numbers = [_number(text) for text in others]
    for spell in (_written_out, spell_number):
        spelled = [None if number is None else spell(number) for number in numbers]
        yield pc.replace_with_mask(texts, pc.invert(is_plain), pa.array(spelled, pa.string()))
    yield plain_floats(_all_as(texts, (pa.float64(),))).cast(pa.string())


_PLAIN_NUMBER = r"^(0|-?[1-9][0-9]{0,19}|-?(0|[1-9][0-9]{0,19})\.[0-9]{0,18}[1-9])$"
"""Numbers that are spelled in one way only, without an exponent."""
_MOST_DIGITS = 400


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _written_out(number: Decimal) -> str | None:
    return number_text(number) if abs(number.adjusted()) < _MOST_DIGITS else None


def _all_as(texts: pa.Array, kinds: Sequence[pa.DataType]) -> pa.Array:
    """Return texts as values of the first type that all are of, missing ones where none is."""
    for kind in kinds:
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    return pa.nulls(len(texts), kinds[0])


def _times(texts: pa.Array) -> Iterator[pa.Array]:
    is_time = to_numpy(pc.match_substring_regex(texts, TIME_OF_DAY)).astype(np.bool_)
    times = parse_times_of_day(texts) if is_time.all() else pa.nulls(len(texts), pa.time64("ns"))
    yield spell_times(times)
    for unit in _UNITS:
        kind = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
        yield times.cast(kind, safe=False).cast(pa.string())


def _stamps(texts: pa.Array, zone: str | None) -> Iterator[pa.Array]:
    in_utc = "UTC" if to_numpy(pc.match_substring_regex(texts, ZONED)).any() else None
    moments = _all_as(texts, (pa.timestamp("us", in_utc), pa.timestamp("ns", in_utc)))
    yield spell_times(moments)
    for unit in _UNITS:
        for one in ("UTC", zone or "UTC"):
            kind = pa.timestamp(unit, in_utc and one)
            yield moments.cast(kind, safe=False).cast(pa.string())
