"""The form in which the values of an input and of an output are compared.

A file without types has texts of what another has as numbers, dates or times. Those of an input may
be written in any way; those of an output are compared as `apply` writes them, letter by letter:
otherwise how a value is written could tell something of its row.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.data.cells import read_cell
from policy_engine.engines.arrays import constant, from_numpy, from_texts, is_text, to_numpy
from policy_engine.engines.arrays import value_type as type_of_values
from policy_engine.engines.encoding import encode
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.engines.masking.spellings import parse_moments, written_texts
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.text_types import STAMP, TIME_OF_DAY, ZONED, parse_times_of_day
from policy_engine.kernels.siphash import Words, key_words
from policy_engine.kernels.streams import mix_rows

Reading = Literal[
    "stored", "cells", "written", "moments", "days", "clock", "floats", "digits", "spelled"
]
"""`stored` values are compared as they are, `cells` are texts of which an empty one is missing, and
`written` values are compared as the texts that a file without types has of them."""
Bools = NDArray[np.bool_]
_FLOAT = r"(?i)^(-?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?|inf)|nan)$"
_SCIENTIFIC = r"^-?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]{1,3}$"


class CommonForm(NamedTuple):
    """How values are read to be compared; `is_trimmed` means without blanks around their texts, and
    `zone` is the time zone in which points in time are written."""

    reading: Reading
    is_trimmed: bool = False
    zone: str | None = None


class StoredType(NamedTuple):
    """The type of a column, whether a file without types has it as texts, and whether it was
    inferred from values in memory."""

    type: pa.DataType
    is_untyped: bool
    is_inferred: bool = False


def common_forms(
    names: Sequence[str], before: Mapping[str, StoredType], after: Mapping[str, StoredType]
) -> dict[str, CommonForm]:
    """Return the form of those of some columns that an input and an output have."""
    both = (name for name in names if name in before and name in after)
    return {name: _common_form(before[name], after[name]) for name in both}


def _common_form(before: StoredType, after: StoredType) -> CommonForm:
    kinds = [type_of_values(one.type) for one in (before, after)]
    if all(map(is_text, kinds)):
        return CommonForm("cells" if after.is_untyped else "stored")
    if kinds[0] == kinds[1] or any(map(pa.types.is_nested, kinds)):
        return CommonForm("stored")
    if all(map(pa.types.is_timestamp, kinds)):
        return CommonForm("stored")  # in any unit
    if after.is_untyped:
        return CommonForm("written", zone=kinds[0].tz if pa.types.is_timestamp(kinds[0]) else None)
    readings = (reading for is_kind, reading in _READINGS if any(map(is_kind, kinds)))
    return CommonForm(next(readings, "spelled"), is_trimmed=before.is_untyped)


_READINGS: tuple[tuple[Callable[[pa.DataType], bool], Reading], ...] = (
    (pa.types.is_timestamp, "moments"),
    (pa.types.is_date, "days"),
    (pa.types.is_time, "clock"),
    (pa.types.is_floating, "floats"),
    (pa.types.is_integer, "digits"),
    (pa.types.is_decimal, "digits"),
)


def identifying_words(table: pa.Table, forms: Mapping[str, CommonForm], key: bytes) -> Words:
    """Return 128 bits for every row, (rows, 2), equal for rows with equal values of some columns in
    the form of each."""
    words = [_form_words(table.column(name), form, key) for name, form in forms.items()]
    return mix_rows(words, key_words(key))


def representative_texts(name: str, column: pa.ChunkedArray, *, numbers: bool) -> dict[str, str]:
    """Return the texts of a column that local suppression shows as another, with that one: of equal
    numbers and times it shows one, and no blanks around them."""
    if not is_text(type_of_values(column.type)):
        return {}
    texts = pa.chunked_array([plain_array(column).drop_null().unique()])
    codes = encode(name, texts, numbers=numbers, is_generalised=False)
    representatives = codes.labels[codes.codes].tolist()
    pairs = zip(texts.to_pylist(), representatives, strict=True)
    return {text: other for text, other in pairs if text != other}


def with_texts(table: pa.Table, name: str, others: Mapping[str, str]) -> pa.Table:
    """Return a table with some texts of a column replaced by others."""
    if not others:
        return table
    encoded = plain_array(table.column(name)).dictionary_encode()
    texts = [others.get(text, text) for text in encoded.dictionary.to_pylist()]
    replaced = pa.array(texts, encoded.type.value_type).take(encoded.indices)
    field = table.field(name).with_type(replaced.type)
    return table.set_column(table.column_names.index(name), field, [replaced])


def values_of_cells(table: pa.Table, name: str) -> pa.Table:
    """Return a table with the values that the cells of a column of texts were written from.

    Values that would be read as another cell are JSON strings there: see `write_value`.
    """
    column = table.column(name)
    if not is_text(type_of_values(column.type)):
        return table
    cells = plain_array(column).drop_null().unique().to_pylist()
    return with_texts(table, name, {cell: _value_of_cell(cell) for cell in cells})


def _value_of_cell(cell: str) -> str:
    with suppress(ValueError):
        return read_cell(cell).values[0] if cell.startswith('"') else cell
    return cell


def _form_words(column: pa.ChunkedArray, form: CommonForm, key: bytes) -> Words:
    """Return 128 bits for every value of a column, (rows, 2)."""
    if form.reading == "stored":
        return row_keys([column], key)
    if form.reading == "cells":
        return row_keys([_without_empty(column)], key)
    if form.reading == "written":
        return row_keys([written_texts(plain_array(column), form.zone)], key)
    plain = plain_array(column)
    words = np.zeros((len(plain), 2), dtype=np.uint64)
    places = np.flatnonzero(to_numpy(plain.is_valid()))
    present = plain.drop_null()
    if form.is_trimmed and is_text(present.type):
        present = pc.utf8_trim_whitespace(present)
    for are_read, values in _READERS[form.reading](present):
        if len(values):
            words[places[are_read]] = row_keys([values], key)
    return words


def _without_empty(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """Return texts of which none is empty: a file without types has those as missing."""
    if pa.types.is_dictionary(column.type):
        sizes = [pc.min(pc.binary_length(one.dictionary)).as_py() for one in column.chunks]
        if all(size != 0 for size in sizes):
            return column
    plain = plain_array(column)
    is_empty = pc.equal(pc.binary_length(plain), pc.binary_length(constant("")))
    return pc.if_else(is_empty, pa.nulls(len(plain), plain.type), plain)


Read = Iterator[tuple[Bools, pa.Array]]
"""Values in a form, each with where they are among all; the rest are missing."""


def _read(
    values: pa.Array, pattern: str, parse: Callable[[pa.Array], tuple[Bools, pa.Array]]
) -> Read:
    """Yield texts of a pattern as they are parsed, and the others as they are."""
    are_some = to_numpy(pc.match_substring_regex(values, pattern)).astype(np.bool_)
    are_parsed, parsed = parse(values.filter(from_numpy(are_some)))
    are_some[are_some] = are_parsed
    yield are_some, parsed
    yield ~are_some, values.filter(from_numpy(~are_some))


def _all(values: pa.Array) -> tuple[Bools, pa.Array]:
    return np.ones(len(values), dtype=np.bool_), values


def _floats(values: pa.Array) -> Read:
    """Yield numbers as floats; one of few bits is the number that a text shows of it."""
    if is_text(values.type):
        parts = [*_read(values, _FLOAT, lambda texts: _all(texts.cast(pa.float64())))]
    elif pa.types.is_float64(values.type) or pa.types.is_integer(values.type):
        parts = [_all(values.cast(pa.float64(), safe=False))]
    elif pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        parts = [_all(values.cast(pa.string()).cast(pa.float64()))]
    else:
        parts = [*_spelled(values)]
    for places, part in parts:
        if pa.types.is_floating(part.type):
            is_number = ~np.isnan(to_numpy(part))
            chosen = places.copy()
            chosen[places] = is_number
            yield chosen, part.filter(from_numpy(is_number))
        else:
            yield places, part


def _digits(values: pa.Array) -> Read:
    """Yield numbers by their digits, without zeros at the end of decimals."""
    [(places, texts)] = _spelled(values)
    if pc.any(pc.match_substring(texts, "e", ignore_case=True)).as_py():
        texts = _written_out(texts)
    if pc.any(pc.starts_with(texts, "-0")).as_py():
        texts = pc.replace_substring_regex(texts, r"^-(0+(\.0*)?)$", r"\1")
    if pc.any(pc.match_substring(texts, ".")).as_py():
        texts = pc.replace_substring_regex(texts, r"^(-?[0-9]+\.[0-9]*?)0+$", r"\1")
        texts = pc.replace_substring_regex(texts, r"^(-?[0-9]+)\.$", r"\1")
    yield places, texts


def _written_out(texts: pa.Array) -> pa.Array:
    """Return texts, numbers among them with an exponent as those without."""
    is_scientific = pc.match_substring_regex(texts, _SCIENTIFIC)
    written = [format(Decimal(one), "f") for one in texts.filter(is_scientific).to_pylist()]
    return pc.replace_with_mask(texts, is_scientific, from_texts(written))


def _moments(values: pa.Array) -> Read:
    """Yield points in time, in any unit."""
    if pa.types.is_timestamp(values.type):
        yield _all(values)
    elif is_text(values.type):
        zoned = to_numpy(pc.match_substring_regex(values, ZONED)).astype(np.bool_)
        for chosen, zone in ((zoned, "UTC"), (~zoned, None)):
            part = values.filter(from_numpy(chosen))
            for places, texts in _read(part, STAMP, _all):
                for is_one, parsed in parse_moments(texts, zone):
                    where, which = chosen.copy(), places.copy()
                    which[places] = is_one
                    where[chosen] = which
                    yield where, parsed
    else:
        yield from _spelled(values)


def _days(values: pa.Array) -> Read:
    """Yield dates as they are written."""
    is_date = pa.types.is_date(values.type)
    yield from _spelled(values.cast(pa.date32()) if is_date else values)


def _times(values: pa.Array) -> Read:
    """Yield times of day."""
    if pa.types.is_time(values.type):
        yield _all(values.cast(pa.time64("ns")))
    elif is_text(values.type):
        yield from _read(values, TIME_OF_DAY, lambda texts: _all(parse_times_of_day(texts)))
    else:
        yield from _spelled(values)


def _spelled(values: pa.Array) -> Read:
    """Yield values as texts, and bytes as they are."""
    is_bytes = pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type)
    yield _all(values if is_bytes else values.cast(pa.string()))


_READERS: Mapping[Reading, Callable[[pa.Array], Read]] = {
    "moments": _moments,
    "days": _days,
    "clock": _times,
    "floats": _floats,
    "digits": _digits,
    "spelled": _spelled,
}
