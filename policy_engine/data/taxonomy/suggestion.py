"""Propose a taxonomy for a column that has none: a first draft to be edited."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Literal, get_args

from policy_engine.errors import DataError, did_you_mean, join_names

Kind = Literal["quantiles", "prefix", "calendar", "frequency"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_ROOT = "*"
_SEPARATOR = ";"
_MOST_LEVELS = 4
_RARE = ((0.05, "(rare)"), (0.25, "(less frequent)"))

_NUMBER = re.compile(
    r"[-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,4})?", re.ASCII
)
_TIME = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[-+]\d{2}:?\d{2})?)?"
_DATE = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}{_TIME}", re.ASCII)
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9./*-]*")
_ICD_10 = re.compile(r"[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?")
_CODE_COLUMN = re.compile(r"zip|post|plz|icd|code", re.IGNORECASE)
_QUOTED_CHARACTERS = re.compile('[;,\t\r\n"\ufeff]')

_Level = Sequence[str]
_Draft = tuple[_Level, Sequence[_Level], str]


@dataclass(frozen=True)
class Suggestion:
    """A proposed taxonomy: one row for each value, the value first, then ever wider, `*` last.

    `reason` says in one sentence why it looks as it does.
    """

    rows: tuple[tuple[str, ...], ...]
    kind: Kind
    reason: str

    def to_csv(self) -> str:
        """Return the rows as `read_taxonomy` reads them: `;` between cells, no header."""
        return "".join(f"{_SEPARATOR.join(map(_cell, row))}\n" for row in self.rows)


def suggest(values: Mapping[str, int], name: str, kind: str | None = None) -> Suggestion:
    """Propose a taxonomy over a column's distinct values, given with how often each occurs.

    `name` is the column's; it helps to tell codes from numbers. The empty text is the missing
    value and left out. Without a `kind` the first that fits is taken: `calendar` for dates,
    `prefix` for codes, `quantiles` for numbers, else `frequency`. Raises DataError (T011)
    where there is no value, or where the given kind does not fit.
    """
    counts = {value: count for value, count in values.items() if value}
    if not counts:
        raise DataError.of("T011", f"The column {name!r} has no values to generalise.")
    chosen = _check_kind(kind) if kind else _kind(counts, name)
    _check(counts, name, chosen)
    ordered, levels, reason = _DRAFTS[chosen](counts)
    useful = tuple(_useful_levels(ordered, levels))
    rows = zip(ordered, *useful, [_ROOT] * len(ordered), strict=True)
    note = "" if useful else ", but too few or too alike for groups in between"
    return Suggestion(tuple(rows), chosen, f"The values of {name!r} {reason}{note}.")


def _check_kind(kind: str) -> Kind:
    for name in KINDS:
        if kind == name:
            return name
    message = f"A taxonomy is suggested by {join_names(KINDS, 'or')}. Given: {kind!r}."
    raise DataError.of("T011", message, did_you_mean(kind, KINDS))


def _kind(counts: Mapping[str, int], name: str) -> Kind:
    if all(map(_is_date, counts)):
        return "calendar"
    if _are_codes(counts, name):
        return "prefix"
    return "quantiles" if all(map(_is_number, counts)) else "frequency"


def _check(counts: Mapping[str, int], name: str, kind: Kind) -> None:
    """Refuse a kind that some of the values do not fit."""
    fits, kind_values = _FITS[kind]
    odd = [value for value in counts if not fits(value)]
    if odd:
        message = (
            f"The column {name!r} cannot be generalised by {kind}, which is for {kind_values}. "
            f"Of its {len(counts):,} values, {len(odd):,} are not."
        )
        raise DataError.of("T011", message)
    if kind == "prefix" and max(map(len, counts)) < 2:
        message = (
            f"The column {name!r} cannot be generalised by prefix: its values have one letter."
        )
        raise DataError.of("T011", message)


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None


def _is_date(value: str) -> bool:
    if not _DATE.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_code(value: str) -> bool:
    return _CODE.fullmatch(value) is not None


def _are_codes(counts: Mapping[str, int], name: str) -> bool:
    """Tell codes from numbers and words: by their length, a leading zero, or the column's name."""
    if all(map(_ICD_10.fullmatch, counts)):
        return True
    lengths = set(map(len, counts))
    if len(lengths) > 1 or lengths == {1} or not all(map(_is_code, counts)):
        return False
    if not all(map(_is_number, counts)):
        return all(any(letter.isdigit() for letter in value) for value in counts)
    has_leading_zero = any(value[0] == "0" and value.isdigit() for value in counts)
    return has_leading_zero or _CODE_COLUMN.search(name) is not None


def _useful_levels(values: _Level, levels: Sequence[_Level]) -> Iterator[_Level]:
    """Yield the levels, finest first, with fewer labels than the one before, and at least two."""
    width = len(values)
    for level in levels:
        labels = len(set(level))
        if 1 < labels < width:
            yield level
            width = labels


def _draft_quantiles(counts: Mapping[str, int]) -> _Draft:
    """Halve the rows repeatedly, each half at the number nearest to its middle."""
    numbers = {value: Decimal(value) for value in counts}
    ordered = sorted(counts, key=lambda value: (numbers[value], value))
    starts = [
        place
        for place, value in enumerate(ordered)
        if place == 0 or numbers[value] != numbers[ordered[place - 1]]
    ]
    rows = [0, *accumulate(counts[value] for value in ordered)]
    cuts = [[0, len(ordered)]]
    for _ in range(_halving_count(len(starts))):
        cuts.append(_halve(cuts[-1], starts, rows))
    levels = [_intervals(ordered, numbers, ends) for ends in reversed(cuts[1:])]
    return ordered, levels, "are numbers: nested intervals with about the same number of rows"


def _halving_count(numbers: int) -> int:
    """Return how often to halve so that intervals hold two or more numbers on average."""
    return min(_MOST_LEVELS, max(1, numbers.bit_length() - 2)) if numbers > 2 else 0


def _halve(cuts: Sequence[int], starts: Sequence[int], rows: Sequence[int]) -> list[int]:
    """Return the cuts with one more between each two, where a number starts there."""
    halves = [cuts[0]]
    for low, high in pairwise(cuts):
        middle = (rows[low] + rows[high]) / 2
        first, last = bisect_left(starts, low + 1), bisect_left(starts, high)
        if first < last:
            halves.append(min(starts[first:last], key=lambda place: abs(rows[place] - middle)))
        halves.append(high)
    return halves


def _intervals(ordered: _Level, numbers: Mapping[str, Decimal], cuts: Sequence[int]) -> list[str]:
    labels: list[str] = []
    for low, high in pairwise(cuts):
        first, last = ordered[low], ordered[high - 1]
        label = first if numbers[first] == numbers[last] else f"[{first} - {last}]"
        labels += [label] * (high - low)
    return labels


def _draft_prefixes(counts: Mapping[str, int]) -> _Draft:
    ordered = sorted(counts)
    length = max(map(len, ordered))
    lengths = {_common_prefix_length(one, other) for one, other in pairwise(ordered)}
    # Values differ where their common prefixes end; at the shortest of these all are the same.
    steps = _pick_evenly(sorted(lengths, reverse=True)[:-1])
    levels = [[value[:step].ljust(length, "*") for value in ordered] for step in steps]
    return ordered, levels, "look like codes: the last characters are masked first"


def _common_prefix_length(one: str, other: str) -> int:
    """Return the length of the common prefix of two different texts."""
    pairs = zip(one, other, strict=False)
    parting = (place for place, (left, right) in enumerate(pairs) if left != right)
    return next(parting, min(len(one), len(other)))


def _pick_evenly(steps: Sequence[int]) -> list[int]:
    """Return the steps, or _MOST_LEVELS of them at about the same distance."""
    if len(steps) <= _MOST_LEVELS:
        return list(steps)
    last = len(steps) - 1
    return [steps[round(place * last / (_MOST_LEVELS - 1))] for place in range(_MOST_LEVELS)]


def _draft_calendar(counts: Mapping[str, int]) -> _Draft:
    ordered = sorted(counts)
    parts: Sequence[Callable[[str], str]] = (
        lambda value: value[:10],
        lambda value: value[:7],
        lambda value: f"{value[:4]}-Q{(int(value[5:7]) + 2) // 3}",
        lambda value: value[:4],
        lambda value: f"{value[:3]}0s",
    )
    levels = [[part(value) for value in ordered] for part in parts]
    return ordered, levels, "are dates: days, months, quarters, years and decades"


def _draft_frequencies(counts: Mapping[str, int]) -> _Draft:
    """Join the rarest values that have at most 5 %, and at most 25 %, of the rows together."""
    ordered = sorted(counts, key=lambda value: (-counts[value], value))
    levels: list[_Level] = []
    for share, label in _RARE:
        most = _rare_count(counts, share)
        free = _unused_label(label, counts)
        levels.append([free if counts[value] <= most else value for value in ordered])
    reason = "are texts: only the rare ones are grouped, so a person should edit the groups"
    return ordered, levels, reason


def _rare_count(counts: Mapping[str, int], share: float) -> int:
    """Return the greatest count such that values with no more have that share of rows at most."""
    total, rare, most = sum(counts.values()), 0, 0
    by_count = sorted(counts.values())
    for count, following in zip(by_count, [*by_count[1:], -1], strict=True):
        rare += count
        if rare > share * total:
            break
        if count != following:
            most = count
    return most


def _unused_label(label: str, values: Mapping[str, int]) -> str:
    while label in values:
        label = f"({label})"
    return label


def _cell(label: str) -> str:
    return '"' + label.replace('"', '""') + '"' if _QUOTED_CHARACTERS.search(label) else label


_DRAFTS: Mapping[Kind, Callable[[Mapping[str, int]], _Draft]] = {
    "quantiles": _draft_quantiles,
    "prefix": _draft_prefixes,
    "calendar": _draft_calendar,
    "frequency": _draft_frequencies,
}
_FITS: Mapping[Kind, tuple[Callable[[str], bool], str]] = {
    "quantiles": (_is_number, "numbers"),
    "prefix": (_is_code, "codes of letters, digits and . - /"),
    "calendar": (_is_date, "dates and timestamps (ISO 8601)"),
    "frequency": (lambda _: True, "any text"),
}
