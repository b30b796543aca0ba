"""What is odd of the labels and columns of finished tables: figures that no rule would judge."""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.finished_files import FileCells, number_of
from policy_engine.audits.outputs.label_words import (
    COUNT_WORDS,
    KEY_WORDS,
    NUMBER_WORDS,
    has_number,
    is_share_name,
    plain_label,
)

_COUNTED = re.compile(
    r"\bn\s*[=:]\s*\d|[=:]\s*\d+\s*\)?$|\d\s*/\s*\d|\d\s+(out )?of \d"
    r"|\b\d+\s*(persons?|people|cases?|patients?|respondents?|individuals?|obs\b|observations?"
    r"|units?|personen|f\u00e4lle|personnes|cas\b|personas|casos)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"[(\[]\s*((?:[^()\[\]]*[\s=:,;])?)(\d+)\s*[)\]]")
_ENDING = re.compile(r"(?:(?<=[\s:;_()\u2013-])|(?<=, )|(?<=[a-z]{3}))(\d+)$")
_YEAR = re.compile(r"(1[89]|20|21)\d\d")
_RANGE = re.compile(
    r"(\d\s*[-\u2013]|[<>\u2264\u2265=]|\b(to|than|over|under|from|bis|ab|\u00e0|a))\s*$"
)
_NAMES = re.compile(r"covid[\s-]*19$", re.IGNORECASE)
_BESIDE = 12
"""How many columns a share is from what it is of, at most."""
_FEW, _WHOLE, _ROUNDED = 2, 100.0, 0.5


def odd_labels(cells: FileCells, left: int) -> list[str]:
    """Return what is odd of columns that are read as labels, and of the names of columns.

    Those that say numbers although rows are told apart without them may be figures. Where they are
    needed, those are odd that are counts by their name, figures in no order, or of which some tell
    how many there are: "south (n=6)".
    """
    rows = [row[:left] for row in cells.rows]
    doubt = []
    for key in range(left):
        texts = [row[key] for row in rows if row[key]]
        others = {(*row[:key], *row[key + 1 :]) for row in rows}
        is_key = left == 1 or len(others) < len(set(rows))
        name = cells.head[key]
        if (not is_key and 2 * sum(map(has_number, texts)) > len(texts)) or _are_figures(
            name, texts
        ):
            doubt.append(f"Column {name!r} may be of figures: it has {texts[0]!r:.40}.")
            continue
        doubt.extend(f"The label {one!r:.40} may tell how many there are." for one in _odd(texts))
    doubt.extend(f"The name {one!r:.40} may tell how many there are." for one in _odd(cells.head))
    return doubt


def _are_figures(name: str, texts: Sequence[str]) -> bool:
    """Tell whether labels are figures that are no codes, years or bands: by the column's name, or
    because they are at no equal distances."""
    figures = [number_of(one) for one in dict.fromkeys(texts)]
    numbers = [one for one in figures if one is not None]
    if 2 * len(numbers) <= len(figures) or len(figures) < _FEW:
        return False
    words = set(plain_label(name).split())
    if words & COUNT_WORDS and not words & KEY_WORDS:
        return True
    if not name or words & KEY_WORDS:
        return False
    steps = set(np.diff(sorted(numbers)).tolist())
    return len(steps) > 1 and not all(_YEAR.fullmatch(one) for one in texts if number_of(one))


def _odd(texts: Sequence[str]) -> Iterator[str]:
    """Yield labels that say how many there are, but for those of which several differ by their
    number alone: they are numbered."""
    plain = [re.sub(r"\d+", "0", one) for one in dict.fromkeys(texts)]
    for one in dict.fromkeys(texts):
        is_numbered = plain.count(re.sub(r"\d+", "0", one)) > 1
        if _COUNTED.search(one) or (not is_numbered and _ends_in_number(one)):
            yield one


def _ends_in_number(text: str) -> bool:
    """Tell whether a label ends in a number, or in one in brackets: neither a year nor a range."""
    if number_of(text) is not None or _NAMES.search(text):
        return False
    ends = [(text[: one.start(1)], one[1]) for one in _ENDING.finditer(text)]
    ends += [(one[1], one[2]) for one in _BRACKETS.finditer(text)]
    if any(not _YEAR.fullmatch(number) and not _RANGE.search(before) for before, number in ends):
        return True
    words = plain_label(text).split()
    return len(words) > 1 and words[-1] in NUMBER_WORDS


def odd_columns(
    names: Sequence[str], labels: Sequence[Sequence[str]], figures: NDArray[np.float64]
) -> list[str]:
    """Return what is odd of the columns of figures of a table of counts, (rows, columns): those
    that are shares by their names or figures tell the counts that they are of.

    `labels` are those of the keys to the left, of which one may say what a figure is, too.
    """
    by_name = [one for one in names if is_share_name(one)]
    by_name += [one for some in labels for one in some if is_share_name(one, is_label=True)]
    odd = dict.fromkeys([*by_name, *(names[one] for one in _shares(figures))])
    return [f"{one!r:.40} may be shares, which tell the counts that they are of." for one in odd]


def _shares(figures: NDArray[np.float64]) -> Iterator[int]:
    """Yield the columns that are percentages by their figures: those of another column, or those
    that add up to 100 beside each other in each of several rows."""
    count = figures.shape[1]
    for first in range(count):
        near = [one for one in range(first - _BESIDE, first + _BESIDE + 1) if 0 <= one < count]
        if any(one != first and _are_of(figures[:, first], figures[:, one]) for one in near):
            yield first
    for first in range(count):
        for last in range(first + _FEW, min(first + _BESIDE, count) + 1):
            sums = figures[:, first:last].sum(axis=1)
            sums = sums[~np.isnan(sums)]
            reach = _ROUNDED * (last - first)
            if len(sums) > _FEW and (np.abs(sums - _WHOLE) <= reach).all():
                yield from range(first, last)


def _are_of(shares: NDArray[np.float64], counts: NDArray[np.float64]) -> bool:
    """Return whether figures are percentages of others: up to 100, in one ratio in each of three
    places, or in two if they add up to 100."""
    is_there = ~np.isnan(shares) & ~np.isnan(counts) & (counts > 0)
    some, whole = shares[is_there], counts[is_there]
    is_few = len(set(whole.tolist())) < _FEW or bool((some == whole).all())
    if is_few or bool((shares > _WHOLE).any()):
        return False
    parts = shares[shares < _WHOLE]
    is_sum = abs(float(np.nansum(parts)) - _WHOLE) <= _ROUNDED * len(parts)
    ratios = (some - _ROUNDED) / whole, (some + _ROUNDED) / whole
    return (is_sum or len(some) > _FEW) and bool(ratios[0].max() <= ratios[1].min())
