"""The cells of a CSV file as they are written: in double quotes where they need them (RFC 4180)."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import constant, from_texts
from policy_engine.errors import OutputError

_BLANK = (
    r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
)
"""What Python takes for a blank: to Arrow's expressions, blanks are those of ASCII."""
_NEEDS_QUOTES = rf'[",\r\n]|^[{_BLANK}]|[{_BLANK}]$|^$'


def quoted(texts: pa.Array) -> pa.Array:
    """Return texts in quotes where they need them: where they have quotes, commas or ends of lines
    of their own, begin or end with a blank, or are empty, unlike what is missing."""
    suspects = pc.match_substring_regex(texts, _NEEDS_QUOTES)
    if not pc.any(suspects).as_py():
        return texts
    doubled = pc.replace_substring(texts.filter(suspects), '"', '""')
    mark = constant('"')
    return pc.replace_with_mask(
        texts, suspects, pc.binary_join_element_wise(mark, doubled, mark, constant(""))
    )


def quoted_name(name: str) -> str:
    """Return a name as it is written in a header."""
    return str(quoted(from_texts([name]))[0].as_py())


class ColumnCells:
    """The cells of a column, part by part as they are written, with what ends each.

    Parts share dictionaries, each of which is quoted once. `missing` is what is written for a
    missing cell.
    """

    def __init__(self, name: str, column: pa.ChunkedArray, *, end: str, missing: str) -> None:
        self._name, self._end, self._missing = name, constant(end), constant(missing + end)
        self._written: tuple[pa.Array, pa.Array] | None = None
        # Where hardly any value occurs twice, a second copy of all would take more than it saves.
        self._is_quoted_once = sum(_dictionary_sizes(column)) * 2 <= len(column)

    def of(self, part: pa.Array) -> pa.Array:
        """Return the cells of a part. Raises OutputError (O002) where they have no text."""
        try:
            return pc.fill_null(self._texts(part), self._missing)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            message = (
                f"A CSV file cannot hold all values of {self._name!r}: {part.type} is not all text."
            )
            raise OutputError.of("O002", message, "Write Parquet.") from None

    def _texts(self, part: pa.Array) -> pa.Array:
        if not pa.types.is_dictionary(part.type):
            return self._ended(part)
        if self._is_quoted_once or len(part.dictionary) <= len(part):
            return self._of_dictionary(part.dictionary).take(part.indices)
        return self._ended(part.dictionary.take(part.indices))

    def _of_dictionary(self, dictionary: pa.Array) -> pa.Array:
        if self._written is None or not _is_same(self._written[0], dictionary):
            self._written = dictionary, self._ended(dictionary)
        return self._written[1]

    def _ended(self, values: pa.Array) -> pa.Array:
        texts = quoted(values.cast(pa.string()))
        return pc.binary_join_element_wise(texts, self._end, constant(""))


def _dictionary_sizes(column: pa.ChunkedArray) -> Iterator[int]:
    """Yield the size of each dictionary of a column that is not the one before."""
    last = None
    for chunk in column.chunks if pa.types.is_dictionary(column.type) else ():
        if last is None or not _is_same(last, chunk.dictionary):
            yield len(chunk.dictionary)
        last = chunk.dictionary


def _is_same(one: pa.Array, other: pa.Array) -> bool:
    """Tell whether two arrays lie at one place in memory."""
    if (one.offset, len(one), one.type) != (other.offset, len(other), other.type):
        return False
    places = [[buffer and buffer.address for buffer in each.buffers()] for each in (one, other)]
    return places[0] == places[1]
