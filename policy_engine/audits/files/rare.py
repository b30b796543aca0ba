"""Values of a few records in the files of a model."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from policy_engine.audits.files.contents import Contents
from policy_engine.engines.reading_back import index_texts

_DIGITS = 5
"""The fewest digits of a number that cannot occur by chance, in any column."""
_LETTERS = 6
"""The least length of a text that is also searched for within other texts, word by word."""


@dataclass(frozen=True)
class RareValues:
    """The values that too few records have for a model to reveal, by column; and the texts that
    enough records have in some column."""

    texts: Mapping[str, frozenset[str]]
    numbers: Mapping[str, frozenset[float]]
    common: frozenset[str] = frozenset()

    @classmethod
    def of(cls, table: pa.Table, fewest: int) -> "RareValues":
        """Return the values that fewer than `fewest` rows of a table have."""
        texts, numbers, common = {}, {}, set()
        for name in table.column_names:
            rows, distinct = index_texts(name, table.column(name))
            counts = Counter(distinct[row] for row in rows.tolist())
            few = {text for text, count in counts.items() if text and count < fewest}
            common |= {text for text in counts if text and text not in few}
            values: Counter[float] = Counter()
            for text, count in counts.items():
                number = _parse_number(text)
                if number is not None:
                    values[number] += count
            numbers[name] = frozenset(one for one, count in values.items() if count < fewest)
            texts[name] = frozenset(one for one in few if _parse_number(one) is None)
        return cls(texts, numbers, frozenset(common))


def find_rare_values(
    files: Iterable[Contents],
    rare: RareValues,
    known_texts: frozenset[str],
    sound: frozenset[float] = frozenset(),
) -> set[tuple[str, str]]:
    """Return the columns and values that files hold and that few records have.

    A text counts where it is a text of its own, a long one also as words of another, unless it is
    among the `known_texts` of every such model; one that is common in another column counts only
    where a file has it for its own, since else it may stand for the other. A number counts where it
    has several digits, or belongs to its column's encoding. An edge that is `sound` does not depend
    on single values, and reveals none.
    """
    values: set[tuple[str, str]] = set()
    for file in files:
        values |= set(_rare_texts(file, rare, known_texts))
        values |= set(_rare_numbers(file, rare, sound))
    return values


def _rare_texts(
    file: Contents, rare: RareValues, known_texts: frozenset[str]
) -> Iterator[tuple[str, str]]:
    texts_in_file = set(file.texts) - known_texts
    words = _words(file.data)
    for column, texts in rare.texts.items():
        for text in texts:
            if text in rare.common:
                is_told = text in file.column_texts(column)
            else:
                is_long = len(text) >= _LETTERS and text not in known_texts
                is_told = text in texts_in_file or (is_long and _occurs(text, words, file.data))
            if is_told:
                yield column, text


def _occurs(text: str, words: frozenset[bytes], data: bytes) -> bool:
    """Return whether some bytes hold a text, not as a part of a longer word."""
    for encoding in ("utf-8", "utf-32-le"):
        encoded = text.encode(encoding, "surrogatepass")
        is_word = encoding == "utf-8" and text.isalnum()
        if encoded in (words if is_word else data):
            return True
    return False


def _words(data: bytes) -> frozenset[bytes]:
    return frozenset(re.findall(rb"[0-9A-Za-z_\x80-\xff]{6,}", data))


def _rare_numbers(
    file: Contents, rare: RareValues, sound: frozenset[float]
) -> Iterator[tuple[str, str]]:
    fixed = sound if isinstance(file.document, dict) and "columns" in file.document else frozenset()
    arrays = [values[~np.isin(values, list(fixed))] for values in file.numbers]
    for column, numbers in rare.numbers.items():
        distinctive = np.array([one for one in numbers if _significant_digits(one) >= _DIGITS])
        for values in arrays:
            yield from (
                (column, repr(one)) for one in distinctive[np.isin(distinctive, values)].tolist()
            )
        figures = numbers & set(file.column_numbers(column, "mean", "deviation"))
        yield from ((column, repr(one)) for one in figures)


def _significant_digits(number: float) -> int:
    """Return how many significant digits a number has."""
    return len(repr(float(number)).split("e")[0].replace(".", "").strip("-0").rstrip("0"))


def _parse_number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if np.isfinite(number) else None
