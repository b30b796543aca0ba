"""The columns of tables: what their cells are, in all files together, and the numbers they become.

Numbers, dates and times are in their order, so that what is near is near; all else is a category.
Two values have one number only where they are equal, however long they are.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import AuditedColumn
from policy_engine.engines.moments import moment, time_of_day
from policy_engine.engines.text_types import NUMBER, TIME_OF_DAY
from policy_engine.errors import Problem, format_count, join_names

Texts = tuple[NDArray[np.int32], list[str | None]]
"""The rows of a column as places in its distinct texts, None for what is missing."""
BySide = Mapping[str, Texts]

_ORIGINALS = ("members", "holdout")
_PLURALS = {"number": "numbers", "date": "dates", "time": "times of day", "text": "texts"}
_SPELLINGS = {
    *("na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none", "nil", "?", "-", "--", ".", "inf"),
    *("-inf", "+inf", "infinity", "-infinity"),
}
"""What stands for a missing or an infinite number in files of others: never a value of its own."""
_EXACT = 15
"""Decimal numbers of so many digits, or characters, are different floats."""
_LEAST_EXACT = 1e-300


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """A column as it is compared: the `values` of each side, and the `texts` they were read from.

    Of numbers and times they are numbers, nan where one is missing; of categories codes, -1 where
    one is missing. `warnings` are sentences on how it is read.
    """

    column: AuditedColumn
    values: Mapping[str, NDArray[np.float64]]
    texts: BySide
    warnings: tuple[str, ...] = ()


def column_kind(name: str, by_side: BySide) -> tuple[str, list[Problem]]:
    """Return what the cells of a column are, or all that keeps it from being one thing (A031).

    Texts among numbers are texts where members and holdout both have many, or numbers that begin
    with a zero, as codes do. Else they are refused: a few cells must not make categories of
    numbers, of which only equal ones are near.
    """
    counts = {side: _kinds(texts) for side, texts in by_side.items()}
    spelled = any(map(_is_spelled, by_side.values()))
    kinds = {kind for one in counts.values() for kind in one}
    if kinds - {"nan"} <= {"number"}:
        return "number", []
    kinds = {"text" if kind == "nan" else kind for kind in kinds}
    if len(kinds) == 1:
        return kinds.pop(), []
    are_texts = [{*one} <= {"text", "nan"} for one in counts.values() if one]
    if any(are_texts) and any("text" not in one for one in counts.values() if one):
        return "text", [*_other_sides(name, counts)]
    if not spelled and all(map(_are_texts, (by_side[side] for side in _ORIGINALS))):
        return "text", []
    return "text", [*_odd_cells(name, counts)]


def _kinds(texts: Texts) -> Counter[str]:
    rows, distinct = texts
    numbers = np.bincount(rows, minlength=len(distinct)).tolist()
    counts: Counter[str] = Counter()
    for text, number in zip(distinct, numbers, strict=True):
        if text is not None and number:
            counts[_kind_of(text)] += number
    return counts


def _is_spelled(texts: Texts) -> bool:
    return any(text is not None and text.strip().casefold() in _SPELLINGS for text in texts[1])


def _are_texts(texts: Texts) -> bool:
    counts = _kinds(texts)
    is_code = any(text is not None and re.match(_CODE, text.strip()) for text in texts[1])
    return is_code or counts["text"] >= _MANY * max(counts.total(), 1)


_MANY = 0.05
_CODE = r"^0\d+$"


def _kind_of(text: str) -> str:
    plain = text.strip()
    if is_number(plain):
        return "number"
    if plain.casefold() == "nan":
        return "nan"
    if moment(plain) is not None:
        return "date"
    return "time" if re.match(TIME_OF_DAY, plain) else "text"


def is_number(text: str) -> bool:
    """Return whether a cell is a finite number, as they are written in tables."""
    return re.match(NUMBER, text) is not None and bool(np.isfinite(float(text)))


def _other_sides(name: str, counts: Mapping[str, Counter[str]]) -> Iterator[Problem]:
    sides = [side for side, one in counts.items() if one and {*one} <= {"text", "nan"}]
    main = _main_kind(counts)
    message = f"{name!r} has {_PLURALS[main]} in some files, and none in the {join_names(sides)}."
    yield Problem("A031", message, "Are its cells generalised, or coded in another way?")


def _odd_cells(name: str, counts: Mapping[str, Counter[str]]) -> Iterator[Problem]:
    main = _main_kind(counts)
    for side, one in counts.items():
        odd = sum(one.values()) - one[main]
        if odd:
            noun = "that is none" if odd == 1 else "that are none"
            message = f"{name!r} has {_PLURALS[main]}, and {format_count(odd, 'cell')} of the "
            hint = "Leave cells empty where a value is missing, and write all others alike."
            yield Problem("A031", f"{message}{side} {noun}.", hint)


def _main_kind(counts: Mapping[str, Counter[str]]) -> str:
    total = sum(counts.values(), Counter())
    return max(("number", "date", "time"), key=lambda kind: total[kind])


# -- values ----------------------------------------------------------------------------------------


def read_column(name: str, by_side: BySide, kind: str) -> ReadColumn:
    """Return a column of a kind, in one code on all sides."""
    if kind == "text":
        return _categories(name, by_side)
    distinct = {text for _, texts in by_side.values() for text in texts if text is not None}
    places = _numbers({text.strip() for text in distinct}, kind)
    values = {
        side: np.array([_place(text, places) for text in texts], np.float64)[rows]
        for side, (rows, texts) in by_side.items()
    }
    return ReadColumn(
        AuditedColumn(name, is_number=True, is_time=kind != "number"), values, by_side
    )


def _place(text: str | None, places: Mapping[str, float]) -> float:
    return np.nan if text is None else places.get(text.strip(), np.nan)


def _categories(name: str, by_side: BySide) -> ReadColumn:
    texts = sorted({one for _, own in by_side.values() for one in own if one is not None})
    places = {text: place for place, text in enumerate(texts)}
    values = {
        side: np.array([-1 if one is None else places[one] for one in own], np.float64)[rows]
        for side, (rows, own) in by_side.items()
    }
    return ReadColumn(
        AuditedColumn(name, is_number=False, texts=tuple(texts)),
        values,
        by_side,
        tuple(_on_texts(name, by_side)),
    )


def _on_texts(name: str, by_side: BySide) -> Iterator[str]:
    """Yield what is not seen where texts are compared."""
    rows, texts = by_side["members"]
    counts = np.bincount(rows, minlength=len(texts))
    if any(len({*_kinds(one)}) > 1 for one in by_side.values()):
        yield f"{name!r} has numbers and texts: as texts, values are equal or not, and never near."
    elif len(rows) >= _SOME and (counts == 1).sum() > _MOSTLY * len(rows):
        yield (
            f"Most values of {name!r} occur once: as texts, they are equal or not, and never near."
        )


_MOSTLY, _SOME = 0.5, 20


def _numbers(texts: set[str], kind: str) -> dict[str, float]:
    """Return the number of each text: numbers as they are, times in seconds; nan is left out.

    They are equal for equal values alone, and in their order: what floats cannot tell apart is
    moved to the next float.
    """
    plain = {text for text in texts if _kind_of(text) == kind}
    if kind == "number" and all(map(_is_exact, plain)):
        return {text: float(text) for text in plain}
    readers: dict[str, Callable[[str], Any]]
    readers = {"number": _decimal, "date": moment, "time": time_of_day}
    exact = readers[kind]
    keys = {text: exact(text) for text in plain}
    order = sorted({*keys.values()})
    unit = 1.0 if kind == "number" else 1e9
    floats = _ascending([float(key) / unit for key in order])
    numbers = dict(zip(order, floats, strict=True))
    return {text: numbers[key] for text, key in keys.items()}


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # nearer to 0 than can be told from it
        return Decimal(0)


def _is_exact(text: str) -> bool:
    return len(text) <= _EXACT and (abs(float(text)) >= _LEAST_EXACT or set(text) <= {*"-0."})


def _ascending(floats: Sequence[float]) -> list[float]:
    numbers = [*floats]
    for place in range(1, len(numbers)):
        if numbers[place] <= numbers[place - 1]:
            numbers[place] = float(np.nextafter(numbers[place - 1], np.inf))
    return numbers
