"""The double quotes of CSV: only whole cells are in them (RFC 4180, section 2)."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from policy_engine.errors import DataError

_QUOTE, _RETURN, _NEWLINE, _LAST_BLANK = 34, 13, 10, 32
_BOM = b"\xef\xbb\xbf"
QUOTES_HINT = "Write a cell with double quotes in double quotes, and each of its own twice."
_WITHIN = "A cell has a double quote, and is not in double quotes itself."
_AFTER = "There is text after the closing quote of a cell."
_OPEN = "A quoted cell is not closed."


def checked_quotes(chunks: Iterable[bytes], delimiter: str, source: str) -> Iterator[bytes]:
    """Yield the chunks of a text in UTF-8, cut anywhere, once their quotes are checked.

    Raises DataError (C010) for quotes that could join rows: one within a cell that is not quoted,
    text after a closing quote (blanks may be there), and a cell that is open at the end.
    """
    check = _QuoteCheck(delimiter.encode(), source)
    rest: list[bytes] = []
    for chunk in chunks:
        cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if cut:
            check.lines(b"".join([*rest, chunk[:cut]]))
            rest = []
        rest.append(chunk[cut:])
        yield chunk
    check.lines(b"".join([*rest, b"\n"]))
    check.end()


def check_line_quotes(lines: bytes, delimiter: str, source: str) -> None:
    """Raise DataError (C010) as `checked_quotes` does, for lines of a file in any order."""
    check = _QuoteCheck(delimiter.encode(), source, is_whole=False)
    check.lines(lines)
    check.end()


class _QuoteCheck:
    """What is known of a text up to a line end.

    Where all before is right, every other quote opens, and two that follow each other are one of
    the cell's own: so it is enough to see what is before those that open and after the others.
    """

    def __init__(self, delimiter: bytes, source: str, *, is_whole: bool = True) -> None:
        self._source, self._is_whole = source, is_whole
        self._ends = np.zeros(256, np.bool_)
        self._ends[[_NEWLINE, _RETURN, *delimiter]] = True
        self._allowed = self._ends.copy()
        self._allowed[_QUOTE] = True
        self._quotes, self._opened = 0, 0
        self._newlines, self._returns = 0, 0

    def lines(self, text: bytes) -> None:
        """Check what ends with a line."""
        if not self._newlines and not self._returns:
            text = text.removeprefix(_BOM)
        if b'"' in text:
            self._check(np.frombuffer(text, np.uint8), text)
        self._newlines += _count(text, _NEWLINE)
        self._returns += _count(text, _RETURN)

    def end(self) -> None:
        """Check that no cell is open."""
        if self._quotes % 2:
            self._fail(_OPEN, self._opened)

    def _check(self, text: npt.NDArray[np.uint8], read: bytes) -> None:
        places = np.flatnonzero(text == _QUOTE)
        first = self._quotes % 2
        opening, closing = places[first::2], places[1 - first :: 2]
        inner = opening[1:] if len(opening) and not opening[0] else opening
        wrong_before = inner[~self._allowed[text[inner - 1]]]
        wrong_after = closing[~self._allowed[text[closing + 1]]]
        wrong_after = self._without_blanks(text, wrong_after)
        if len(wrong_before) or len(wrong_after):
            place = min([*wrong_before[:1], *wrong_after[:1]])
            message = _AFTER if place in wrong_after[:1] else _WITHIN
            self._fail(message, self._line(read[:place]))
        self._quotes += len(places)
        if len(opening) and self._quotes % 2:
            self._opened = self._line(read[: opening[-1]])

    def _without_blanks(
        self, text: npt.NDArray[np.uint8], closing: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.intp]:
        """Return the places of quotes after which is more than blanks before the cell ends."""
        if not len(closing):
            return closing
        others = np.flatnonzero((text > _LAST_BLANK) | self._ends[text])
        following = others[np.searchsorted(others, closing + 1)]
        return closing[~self._ends[text[following]]]

    def _fail(self, message: str, line: int) -> None:
        where = f"Line {line}: " * self._is_whole
        raise DataError.of("C010", f"{where}{message}", QUOTES_HINT, self._source)

    def _line(self, read: bytes) -> int:
        """Return the number of the line that what was read ends in."""
        newlines = self._newlines + _count(read, _NEWLINE)
        return 1 + max(newlines, self._returns + _count(read, _RETURN))


def _count(text: bytes, byte: int) -> int:
    """Return how often a byte occurs, which numpy counts sooner where that is often."""
    is_there = bytes([byte]) in text
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == byte)) if is_there else 0
