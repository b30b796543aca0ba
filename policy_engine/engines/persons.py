"""Texts that tell persons apart: the same for one person however he is written."""

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import is_text
from policy_engine.engines.generalizations.decimals import is_number, scaled
from policy_engine.engines.text_types import parse_times_of_day


def person_texts(column: pa.Array, kind: pa.DataType | None = None) -> pa.Array:
    """Return a text for each row's person, missing where a row names nobody, (rows,).

    `kind` is the type that the texts of a whole column are written in, where it has none of its
    own. Equal numbers and equal points in time are one person.
    """
    is_dictionary = pa.types.is_dictionary(column.type)
    met = column if is_dictionary else column.dictionary_encode()
    values = met.dictionary
    if kind is not None and not is_text(kind):
        values = _read(pc.utf8_trim_whitespace(values), kind)
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    is_figure = pa.types.is_decimal(values.type) or pa.types.is_floating(kind or values.type)
    texts = [
        _figure(text) if is_figure and text else text or None
        for text in values.cast(pa.string()).to_pylist()
    ]
    return pa.array(texts, pa.string()).take(met.indices)


def _read(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return texts as what they are; decimal numbers stay texts, since floats would round them."""
    if pa.types.is_floating(kind):
        return texts
    return parse_times_of_day(texts) if pa.types.is_time(kind) else texts.cast(kind)


def _figure(text: str) -> str | None:
    """Return one text for all ways to write a number, none for what is not a number."""
    if not is_number(text):
        return None if text.lower() == "nan" else text
    number, exponent = scaled(text)
    return f"{number}e{exponent}"
