"""Texts that identify persons: the same text for a person however the column writes it."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from unicodedata import category, normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import is_text, to_numpy
from policy_engine.engines.contents import texts_of_values
from policy_engine.engines.distinct_values import index_distinct
from policy_engine.engines.generalizations.decimals import is_number, plain_number
from policy_engine.engines.person_spellings import check_person_type, known_spellings
from policy_engine.engines.text_types import parse_times_of_day
from policy_engine.errors import DataError, PolicyEngineError


def person_numbers(columns: Sequence[pa.ChunkedArray], name: str) -> list[NDArray[np.int64]]:
    """Return a number from 0 on for each row's person, (rows,) of each of some tables.

    The columns `name` tell persons apart, the same in all tables. The number is -1 where a row
    names nobody: where the cell is missing, empty or blank. Equal numbers are the same person, cell
    by cell: 5 is the person "5.0" of a file of texts. Raises DataError (C009) for a type without
    equality.
    """
    numbers: dict[str, int] = {"": -1}
    drawn = []
    for column in columns:
        rows, texts = _distinct_persons(column, name)
        codes = [numbers.setdefault(text, len(numbers) - 1) for text in (*texts, "")]
        drawn.append(np.array(codes)[to_numpy(rows, missing=len(texts))])
    return drawn


def person_marks(columns: Sequence[pa.ChunkedArray], name: str) -> list[NDArray[np.int64]]:
    """Return a mark of each row's person, (rows,) of each of some tables: as `person_numbers`, but
    the same for a person in whatever tables.

    Marks are digests of 63 bits. Raises DataError (C009) for a type without equality.
    """
    marks = []
    for column in columns:
        rows, texts = _distinct_persons(column, name)
        codes = np.array([_mark(text) for text in (*texts, "")], np.int64)
        marks.append(codes[to_numpy(rows, missing=len(texts))])
    return marks


def alike_persons(columns: Sequence[pa.ChunkedArray], name: str) -> int:
    """Return how many persons of some tables have the text of another one but for case, blanks in a
    row, characters that are not seen, and the forms in which Unicode writes the same character.

    The columns `name` tell persons apart. Raises DataError (C009) for a type without equality.
    """
    persons = {one for column in columns for one in _distinct_persons(column, name)[1]}
    counts = Counter(_plain(one) for one in persons)
    return sum(count for plain, count in counts.items() if plain and count > 1)


def _plain(person: str) -> str:
    if person.isascii():
        return " ".join(person.casefold().split())
    seen = (one for one in normalize("NFKC", person) if category(one) not in _UNSEEN)
    return " ".join(normalize("NFKC", "".join(seen).casefold()).split())


_UNSEEN = ("Cf", "Cc")


def _distinct_persons(column: pa.ChunkedArray, name: str) -> tuple[pa.Array, list[str]]:
    """Return the place of each row's text, (rows,), and the text of each distinct value's person,
    empty for nobody."""
    rows, values = index_distinct(name, column)
    is_float = pa.types.is_floating(values.type)
    spellings = known_spellings(pa.array(texts_of_values(values), pa.string())).to_pylist()
    return rows, [_person(text or "", is_float=is_float) for text in spellings]


def _mark(person: str) -> int:
    if not person:
        return -1
    return int.from_bytes(hashlib.blake2b(person.encode(), digest_size=8).digest()) >> 1


def _person(text: str, *, is_float: bool) -> str:
    return (_figure(text) or "") if is_float or is_number(text) else text


def person_texts(column: pa.Array, kind: pa.DataType | None = None) -> pa.Array:
    """Return a text for each row's person, missing where a row names nobody, (rows,).

    `kind` is the inferred type of a column of texts. Equal numbers, and equal points in time, are
    the same person; so are texts of one spelling (`known_spellings`). Tables of other times know a
    person again by it. Raises DataError (C009) for a type that has no text.
    """
    check_person_type(column.type)
    is_dictionary = pa.types.is_dictionary(column.type)
    encoded = column if is_dictionary else column.dictionary_encode()
    values = encoded.dictionary
    if kind is not None and not is_text(kind):
        values = _read(pc.utf8_trim_whitespace(values), kind)
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    is_figure = pa.types.is_decimal(values.type) or pa.types.is_floating(kind or values.type)
    texts = [
        _figure(text) if is_figure and text else text or None
        for text in values.cast(pa.string()).to_pylist()
    ]
    persons = pa.array(texts, pa.string())
    if person_type(column.type, kind) == TEXT:  # numbers and points in time have one text already
        persons = known_spellings(persons)
    return persons.take(encoded.indices)


def respelt_texts(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the distinct `person_texts` of persons that somebody may have written another way, and
    the text that all such ways have in common, (persons,) each.

    That is the text without case, blanks, punctuation and what is not seen, and of a number the
    number: persons whose own text is that already are left out.
    """
    distinct = texts.unique().drop_null().to_pylist()
    pairs = [(one, plain) for one in distinct if (plain := _bare(one)) != one]
    persons, plain_texts = ([pair[place] for pair in pairs] for place in (0, 1))
    return pa.array(persons, pa.string()), pa.array(plain_texts, pa.string())


def _bare(person: str) -> str:
    """Return a text without what may be written in several ways; as it is if that is all."""
    if is_number(person):
        digits, _, power = plain_number(person).partition("e")
        if not power:
            return digits
        is_whole = power.isdecimal() and int(power) <= _MOST_ZEROS
        return digits + "0" * int(power) if is_whole else f"{digits}e{power}"
    if person.isascii():
        return person.casefold().translate(_NOT_COMPARED) or person
    folding = normalize("NFKC", normalize("NFKC", person).casefold())
    return "".join(one for one in folding if not _is_apart(one)) or person


def _is_apart(character: str) -> bool:
    """Tell whether a character is blank, punctuation or not seen."""
    kind = category(character)
    return kind in _UNSEEN or kind[0] in "PZ"


_NOT_COMPARED = dict.fromkeys(one for one in range(128) if _is_apart(chr(one)))


_MOST_ZEROS = 18
"""Numbers with more zeros at their end are compared as digits and a power of ten."""
TEXT = "text"
"""The word for the type of a column of texts."""


def person_type(column: pa.DataType, kind: pa.DataType | None = None) -> str:
    """Return a word for the type by which `person_texts` tells persons apart.

    `kind` is as there. Texts of the same person may differ between columns of different words: 5 is
    "5" as an integer and 5.0 as a float, and points in time count from another unit.
    """
    read = column.value_type if pa.types.is_dictionary(column) else column
    if kind is not None and not is_text(kind):
        if pa.types.is_floating(kind):
            return "decimal number in text"
        read = kind
    if pa.types.is_integer(read):
        return "integer"
    return TEXT if is_text(read) else str(read)


def _read(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return texts with a type; decimal numbers stay texts, since floats would round them."""
    if pa.types.is_floating(kind):
        return texts
    return parse_times_of_day(texts) if pa.types.is_time(kind) else texts.cast(kind)


def _figure(text: str) -> str | None:
    """Return one text for all ways to write a number, None for NaN."""
    if not is_number(text):
        return None if text.lower() == "nan" else text
    return plain_number(text)


def uncounted_persons(unit: str) -> PolicyEngineError:
    """Return the error (V006) of persons that have to be counted where only the output is known."""
    message = (
        f"k counts distinct {unit!r}, a column that is not released: "
        "the output alone does not show them."
    )
    return DataError.of("V006", message, "Give the input as well: data={IRI: PATH}.")
