"""Percentages beside the counts that they are of: who reads both reads nothing more.

A share tells its count to who knows the whole, and the whole to who knows the count. Where a table
shows both, and the share is theirs up to rounding, it is no figure of its own: it may leave with
them, and is withheld with either.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.finished_files import (
    BLANKS,
    FileCells,
    decimals_of,
    is_blank,
    number_of,
)
from policy_engine.audits.outputs.label_words import is_share_name, is_total_word

_PER_CENT = (100.0, 1.0)
"""What a whole is in a column of shares."""
_NEAR = 1e-9
_LEAST_ROWS = 2

Figures = NDArray[np.float64]
Masks = NDArray[np.bool_]


@dataclass(frozen=True)
class ShareColumn:
    """A column of shares of counts, by its place among the columns of figures as they were read.

    `texts` are its cells, and `name` is what it is called. `count` is the column of the counts
    among those of the other figures, and `wholes` are the cells, (row, column) there, that add up
    to what the share of each row is of.
    """

    place: int
    name: str
    texts: tuple[str, ...]
    count: int
    wholes: tuple[tuple[tuple[int, int], ...], ...]

    def kept(self, is_kept: Masks) -> list[str | None]:
        """Return its cells beside the other figures that are kept, (rows, columns)."""
        return [
            text
            if is_kept[row, self.count] and all(is_kept[cell] for cell in self.wholes[row])
            else None
            for row, text in enumerate(self.texts)
        ]


def find_shares(
    cells: FileCells, plain: FileCells, left: int, total: str = ""
) -> tuple[ShareColumn, ...]:
    """Return the columns that are shares of counts of a table, whose first columns `left` are
    labels: of each share that is shown, the count and the whole are, too.

    `plain` are its `cells` with decimal points; `total` is what the whole of a column is called.
    """
    width = len(plain.head) - left
    columns = [[row[left + place] for row in plain.rows] for place in range(width)]
    figures = [np.array([*map(_figure, texts)]) for texts in columns]
    totals, matches = _totals(plain, left, total), dict[int, tuple[int, _Wholes]]()
    for place, texts in enumerate(columns):
        if not _may_be_shares(plain.head[left + place], texts, figures[place]):
            continue
        others = [one for one in range(width) if one != place and one not in matches]
        meant = _Shares(figures, texts, figures[place], totals)
        match = next(((one, w) for one in others if (w := meant.wholes_in(one, others))), None)
        if match is not None:
            matches[place] = match
    numbers = {place: n for n, place in enumerate(p for p in range(width) if p not in matches)}
    parts = {count for count, _ in matches.values()}
    parts |= {at for _, wholes in matches.values() for own in wholes for _, at in own}
    if not parts <= numbers.keys():
        return ()
    return tuple(
        ShareColumn(
            place,
            cells.head[left + place],
            tuple(row[left + place] for row in cells.rows),
            numbers[count],
            tuple(tuple((row, numbers[at]) for row, at in own) for own in wholes),
        )
        for place, (count, wholes) in matches.items()
    )


def without_shares(cells: FileCells, left: int, shares: Collection[ShareColumn]) -> FileCells:
    """Return a table without its columns of shares."""
    dropped = {left + one.place for one in shares}
    kept = [place for place in range(len(cells.head)) if place not in dropped]
    rows = tuple(tuple(row[place] for place in kept) for row in cells.rows)
    return FileCells(tuple(cells.head[place] for place in kept), rows)


_Wholes = list[tuple[tuple[int, int], ...]]


def _figure(text: str) -> float:
    figure = number_of(text.removesuffix("%").strip())
    return float("nan") if figure is None else figure


def _may_be_shares(name: str, texts: list[str], figures: Figures) -> bool:
    """Return whether cells are from 0 to 100, and called shares, marked as percentages or fractions
    in part: others may be counts."""
    is_other = [
        np.isnan(one) and not is_blank(text, BLANKS)
        for text, one in zip(texts, figures, strict=True)
    ]
    some = figures[~np.isnan(figures)]
    if any(is_other) or len(some) < _LEAST_ROWS or (some < 0).any() or (some > _PER_CENT[0]).any():
        return False
    is_marked = is_share_name(name) or any("%" in one for one in texts)
    return is_marked or bool((some != np.rint(some)).any())


def _totals(cells: FileCells, left: int, total: str) -> list[int]:
    """Return the rows that are called the total of all others."""
    return [
        number
        for number, row in enumerate(cells.rows)
        if any(
            one and (one.lower() == total.lower() if total else is_total_word(one))
            for one in row[:left]
        )
    ]


@dataclass(frozen=True, eq=False)
class _Shares:
    """Shares by their `texts` and `values`, (rows,), beside columns of `figures`; rows of `totals`
    are called so."""

    figures: list[Figures]
    texts: list[str]
    values: Figures
    totals: list[int]

    def wholes_in(self, count: int, others: list[int]) -> _Wholes | None:
        """Return the cells that are the whole of each row's share of a count, None where the shares
        are not of it, or a count or a whole of theirs is not shown."""
        for wholes in self._wholes(count, others):
            if any(self._fits(count, wholes, whole) for whole in _PER_CENT):
                return wholes
        return None

    def _wholes(self, count: int, others: list[int]) -> Iterator[_Wholes]:
        rows = range(len(self.values))
        if len(self.totals) == 1:
            yield [((self.totals[0], count),) for _ in rows]
        if not self.totals:
            yield [tuple((row, count) for row in rows) for _ in rows]
        for other in others:
            if other != count:
                yield [((row, other),) for row in rows]

    def _fits(self, count: int, wholes: _Wholes, whole: float) -> bool:
        """Return whether all shares that are shown are those of shown counts, up to rounding."""
        for row, share in enumerate(self.values.tolist()):
            if np.isnan(share):
                continue
            number = self.figures[count][row]
            size = sum(self.figures[at][where] for where, at in wholes[row])
            if np.isnan(number) or np.isnan(size) or size <= 0:
                return False
            decimals = decimals_of(self.texts[row].removesuffix("%").strip())
            slack = 0.5 * 10.0**-decimals + _NEAR * whole
            if abs(whole * number / size - share) > slack:
                return False
        return True
