"""How a text that identifies a person is written: the one rule by which persons are told apart."""

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import is_text, unchunk, value_type


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

    It is the column itself where all texts are as they are known, or it has no texts. What is
    blank is missing, unless nothing but empty texts is: these name nobody anyway.
    """
    if not is_text(value_type(column.type)):
        return column
    encoded = unchunk(_as_dictionary(column))
    values = encoded.dictionary.cast(pa.string())
    spellings = known_spellings(values)
    if pc.fill_null(spellings, "").equals(pc.fill_null(values, "")):
        return column
    persons = spellings.take(encoded.indices)
    is_dictionary = pa.types.is_dictionary(column.type)
    return pa.chunked_array([persons.dictionary_encode() if is_dictionary else persons])


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
