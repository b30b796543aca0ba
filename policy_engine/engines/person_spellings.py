"""How a text that identifies a person is written: the one rule by which persons are told apart."""

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import is_text, unchunk, value_type
from policy_engine.errors import DataError


def known_spellings(texts: pa.Array) -> pa.Array:
    """Return the text by which each person is known, missing where a text is blank, (texts,).

    Blanks around a text do not count, nor does in which form Unicode writes a character (Annex 15:
    canonical equivalence). Case, blanks within and what NFKC folds further do.
    """
    # A column of fixed width pads its texts (CHAR(4) has "996 "), and systems differ in whether
    # they write a letter and its accent as one character or as two, which Unicode has as equal.
    # Counted by their letters, one person in two spellings would be two, and k could be met by
    # fewer persons. Case, and what NFKC folds further, may tell persons apart.
    bare = pc.utf8_normalize(pc.utf8_trim_whitespace(texts.cast(pa.string())), form="NFC")
    return pc.if_else(pc.equal(bare, ""), pa.scalar(None, pa.string()), bare)


def known_persons(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column that tells persons apart, with the text by which each is known, (rows,).

    What is blank is missing: it names nobody. Of a dictionary each person has one code, and nobody
    has any. It is the column itself where that is so already. Raises DataError (C009) for bytes
    and lists, which name no person.
    """
    check_person_type(column.type)
    kind = value_type(column.type)
    if not is_text(kind):
        # What is no number is nobody, but not in a dictionary.
        is_proper = _has_each_once(column) and not pa.types.is_floating(kind)
        return column if column.type == kind or is_proper else column.cast(kind)
    encoded = unchunk(_as_dictionary(column))
    values = encoded.dictionary.cast(pa.string())
    spellings = known_spellings(values)
    if spellings.equals(values) and _has_each_once(column):
        return column
    persons = spellings.take(encoded.indices)
    is_dictionary = pa.types.is_dictionary(column.type)
    return pa.chunked_array([persons.dictionary_encode() if is_dictionary else persons])


def check_person_type(kind: pa.DataType) -> None:
    """Raise DataError (C009) for the type of a column that cannot tell persons apart."""
    kind = value_type(kind)
    if isinstance(kind, pa.BaseExtensionType) or any(is_kind(kind) for is_kind in _NAMELESS):
        # Bytes, say, have no blanks and no letters: padded, one person would be several.
        message = f"The unit of privacy is a column of type {kind}, which names no person."
        hint = "Allowed are numbers, texts, truth values, dates and times."
        raise DataError.of("C009", message, hint)


_NAMELESS = (
    *(pa.types.is_nested, pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_fixed_size_binary, pa.types.is_binary_view),
)


def _has_each_once(column: pa.ChunkedArray) -> bool:
    """Return whether no dictionary of a column has a value twice, or what is missing."""
    if not pa.types.is_dictionary(column.type):
        return True
    dictionaries = (one.dictionary for one in column.chunks)
    return all(not one.null_count and len(one.unique()) == len(one) for one in dictionaries)


def encoded_persons(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return `known_persons` of a column as a dictionary where it has texts, (rows,).

    Who encodes a column anyway has it encoded once: the rule is then one of distinct texts.
    """
    return known_persons(_as_dictionary(column))


_WIDE = 32


def _as_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    # Arrow encodes no views, and joins no dictionaries of more texts than their index counts.
    is_narrow = pa.types.is_dictionary(column.type) and column.type.index_type.bit_width < _WIDE
    if is_narrow or pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    return column.dictionary_encode() if is_text(column.type) else column
