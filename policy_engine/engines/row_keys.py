"""The key of every row: 128 bits that are equal for rows of equal content, on every engine."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from policy_engine.engines.arrays import has_many_values, unify_dictionaries
from policy_engine.engines.value_words import dictionary_indices, dictionary_words, value_words
from policy_engine.kernels.siphash import Words, key_words
from policy_engine.kernels.streams import mix_rows

_BLOCK = 2**18


def row_keys(columns: Sequence[pa.ChunkedArray | pa.Array], key: bytes) -> Words:
    """Return the key of every row, (rows, 2), under a secret key of 16 bytes.

    Rows have one key where they have equal values in every column, one or more, however they are
    stored: texts in a dictionary or not, integers of any width, points in time in any unit and
    zone. A float is widened; -0.0 is 0.0, and NaN is one value, as is a missing one. Other types
    count by their texts, lists and structs by what they hold. The order of the columns counts.
    Raises DataError (C009) for values that have no text.
    """
    secret = key_words(key)
    readers = [_Reader(column, secret) for column in columns]
    # By blocks of rows: the words of all columns would take more memory than the table.
    starts = range(0, max(len(columns[0]), 1), _BLOCK)
    blocks = [mix_rows([reader.words(start) for reader in readers], secret) for start in starts]
    return np.concatenate(blocks)


class _Reader:
    """The words of a column's values, those of a dictionary made once for all rows."""

    def __init__(self, column: pa.ChunkedArray | pa.Array, secret: Words) -> None:
        chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
        if has_many_values(chunked):
            chunked = chunked.cast(chunked.type.value_type)
        is_dictionary = pa.types.is_dictionary(chunked.type)
        self._column = unify_dictionaries(chunked)
        self._secret = secret
        chunks = self._column.chunks if is_dictionary else []
        self._dictionary = dictionary_words(chunks[0], secret) if chunks else None

    def words(self, start: int) -> Words:
        """Return the words of the block of rows that begins at `start`, (rows, 2)."""
        chunks = self._column.slice(start, _BLOCK).chunks
        words = [self._words_of_chunk(chunk) for chunk in chunks]
        return np.concatenate([np.zeros((0, 2), dtype=np.uint64), *words])

    def _words_of_chunk(self, chunk: pa.Array) -> Words:
        if self._dictionary is None:
            return value_words(chunk, self._secret)
        return self._dictionary[dictionary_indices(chunk)]
