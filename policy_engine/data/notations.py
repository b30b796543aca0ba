"""Texts that look like numbers or dates, and are not read as such."""

import re
from collections.abc import Iterable
from typing import Literal

Notation = Literal["numbers", "dates"]

CORRECT_TEXTS = (
    "If its texts are numbers such as 1286,68 or dates such as 21.01.2023, correct the file: write "
    "1286.68 and 2023-01-21. Otherwise "
)
"""How to go on where a column holds texts, and numbers or dates were needed."""

_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?", re.ASCII)
_THOUSANDS = r"\d{1,3}(?:([., '\u2019\u00a0\u202f])\d{3})(?:\1\d{3})*"
_NUMBER = re.compile(rf"[-+]?(?:\d+(?:[.,]\d+)?|{_THOUSANDS}(?:[.,]\d+)?)", re.ASCII)
_PART = r"(?:0?[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[T ,]+\d{1,2}:\d{2}(?::\d{2})?)?"
_DATE = re.compile(
    rf"(?:{_PART}([./-]){_PART}\1(?:\d{{4}}|\d{{2}})|\d{{4}}([./]){_PART}\2{_PART}){_CLOCK}",
    re.ASCII,
)
_NEARLY_ALL = 0.9


def other_notation(texts: Iterable[str]) -> Notation | None:
    """Return whether a column's distinct texts look like numbers or dates that are not read as
    such; nearly all of them do, since some may stand for a missing value."""
    present = [stripped for text in texts if text and (stripped := text.strip())]
    fewest = max(1, _NEARLY_ALL * len(present))
    if sum(_DATE.fullmatch(text) is not None for text in present) >= fewest:
        return "dates"
    numbers = [text for text in present if _NUMBER.fullmatch(text)]
    is_other = any(not _PLAIN_NUMBER.fullmatch(text) for text in numbers)
    return "numbers" if is_other and len(numbers) >= fewest else None
