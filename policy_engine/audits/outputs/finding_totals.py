"""Which lines of a finished table are totals of others: by what adds up, whatever they are called.

A line is a row of labels or a column of figures. It is a total of others if it is their sum
wherever all of them are shown; what it is called is a hint only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import Figures

NOBODY = -1
MOST_TERMS = 10_000
"""Tables with more cells than these, absent ones included, are for a person anyway."""
_MOST_HEAVY = 10
_MOST_NESTED = 300
_LEAST_PARTS = 2
_WELL_SHOWN = 2
_NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines along one key: figures, (lines, places), NaN where one is withheld or absent, how
    far each may be off by rounding, and which lines are called totals."""

    figures: Figures
    slack: Figures
    is_named: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self.figures)


@dataclass(frozen=True)
class FoundTotals:
    """Of each line, the line that it is a part of, or `NOBODY`; and the total of all, or `NOBODY`.

    It `is_doubtful` where a line is called a total and is not seen to be one.
    """

    parents: tuple[int, ...]
    top: int
    is_doubtful: bool = False


def find_totals(lines: Lines) -> FoundTotals:
    """Return which lines are totals of which others."""
    named = np.flatnonzero(lines.is_named).tolist()
    alone = [NOBODY] * lines.count
    if lines.figures.size > MOST_TERMS:
        return _named_total(lines, named, alone)
    is_told = (~np.isnan(lines.figures)).sum(axis=0) > 1
    lines = Lines(lines.figures[:, is_told], lines.slack[:, is_told], lines.is_named)
    if (flat := _flat_total(lines, named)) is not None:
        return flat
    parents, roots = _nested(lines)
    tops = [
        one
        for one in roots
        if _MOST_NESTED >= len(roots) > (1 if one in named else _LEAST_PARTS)
        and _is_sum(lines, one, _others(roots, one))
    ]
    tops = tops or (roots if len(roots) == 1 and lines.count > _LEAST_PARTS else [])
    if tops:
        top = max(tops, key=lambda one: one in named)
        return FoundTotals(_flat(parents, top), top)
    if len(named) == 1:
        return _named_total(lines, named, alone)
    # One line in one place may be a sum by chance.
    if not (all(one in parents for one in roots) or _is_well_shown(lines)):
        parents = alone
    is_open = any(one not in parents for one in named)
    return FoundTotals(tuple(parents), NOBODY, is_open)


def _named_total(lines: Lines, named: Sequence[int], alone: Sequence[int]) -> FoundTotals:
    """Return that all lines are parts of the one that is called a total, if there is one."""
    if len(named) != 1:
        return FoundTotals((NOBODY,) * lines.count, NOBODY, bool(named))
    return FoundTotals(_flat(alone, named[0]), named[0])


def _others(roots: Sequence[int], one: int) -> list[int]:
    return [other for other in roots if other != one]


def _flat(parents: Sequence[int], top: int) -> tuple[int, ...]:
    """Return the parents where all that have none are parts of one line."""
    return tuple(
        top if parent == NOBODY and line != top else parent for line, parent in enumerate(parents)
    )


def _flat_total(lines: Lines, named: Sequence[int]) -> FoundTotals | None:
    """Return the totals where one line is the sum of all others, or of all but one like itself."""
    sizes = np.nan_to_num(lines.figures).sum(axis=1)
    heavy = sorted(_heavy(lines), key=lambda one: (one not in named, -sizes[one]))
    # Where figures are roughly rounded, nearly any line may be half of all.
    for line in heavy[:_MOST_HEAVY]:
        others = [one for one in range(lines.count) if one != line]
        twins = (one for one in _alike(lines, line)[:_MOST_HEAVY] if _is_sum(lines, line, [one]))
        for twin in (NOBODY, *islice(twins, 1)):
            parts = [one for one in others if one != twin]
            is_enough = len(parts) >= _LEAST_PARTS or (line in named and bool(parts))
            if is_enough and _is_sum(lines, line, parts):
                parents = [line if twin == NOBODY else twin] * lines.count
                parents[line] = NOBODY
                if twin != NOBODY:
                    parents[twin] = line
                return FoundTotals(tuple(parents), line)
    return None


def _heavy(lines: Lines) -> list[int]:
    """Return the lines that are half of all, or a third beside one like themselves."""
    is_full = ~np.isnan(lines.figures).any(axis=0)
    figures, slack = lines.figures[:, is_full], lines.slack[:, is_full].sum(axis=0)
    whole = figures.sum(axis=0)
    reach = slack * 3 + 2 * _NEAR * np.abs(whole)
    is_half, is_third = ((np.abs(whole - times * figures) <= reach).all(axis=1) for times in (2, 3))
    return np.flatnonzero((is_half | is_third) & bool(is_full.any())).tolist()


def _alike(lines: Lines, line: int) -> list[int]:
    """Return the other lines that are as a line is where both are shown, up to rounding."""
    with np.errstate(invalid="ignore"):
        gaps = np.abs(lines.figures - lines.figures[line])
        is_off = gaps > lines.slack + lines.slack[line] + _NEAR * np.abs(lines.figures)
    return [one for one in np.flatnonzero(~is_off.any(axis=1)).tolist() if one != line]


def _is_sum(lines: Lines, total: int, parts: Sequence[int]) -> bool:
    """Return whether a line is the sum of others wherever that can be seen, and it can be."""
    return bool(_sums(lines, total, parts)[-1] > 0)


def _sums(lines: Lines, total: int, parts: Sequence[int]) -> NDArray[np.int64]:
    """Return in how many places a line is seen to be the sum of the first of some lines, for each
    number of them, (parts,); 0 where it is not their sum."""
    figures, own = lines.figures[list(parts)], lines.figures[total]
    if not len(figures):
        return np.zeros(1, np.int64)
    is_blank = np.logical_or.accumulate(np.isnan(figures), axis=0)
    sums = np.cumsum(np.nan_to_num(figures), axis=0)
    slack = np.cumsum(lines.slack[list(parts)], axis=0) + lines.slack[total]
    slack = slack + _NEAR * np.abs(sums)
    is_shown = ~is_blank & ~np.isnan(own)
    with np.errstate(invalid="ignore"):
        is_off = (np.abs(sums - own) > slack) & is_shown
        is_more = is_blank & (sums > own + slack) & bool((figures[~np.isnan(figures)] >= 0).all())
        is_near = slack < np.maximum(np.abs(own), 1.0)
        is_seen = is_shown & (own != 0) & is_near
    counts = is_seen.sum(axis=1)
    return np.where((is_off | is_more).any(axis=1), 0, counts).astype(np.int64)


def _is_well_shown(lines: Lines) -> bool:
    return len(lines.figures.T) >= _WELL_SHOWN


def _nested(lines: Lines) -> tuple[list[int], list[int]]:
    """Return the part of which total each line is, where totals are beside their parts, and the
    lines that are part of none."""
    parents = [NOBODY] * lines.count
    roots = list(range(lines.count))
    while len(roots) <= _MOST_NESTED and (run := _run(lines, roots)) is not None:
        total, parts = run
        for one in parts:
            parents[one] = total
        roots = [one for one in roots if one not in parts]
    return parents, roots


def _run(lines: Lines, roots: Sequence[int]) -> tuple[int, list[int]] | None:
    """Return a line that is the sum of those that follow it, or that it follows."""
    best: tuple[int, int, list[int]] | None = None
    for place, line in enumerate(roots):
        for some in (roots[place + 1 :], [*reversed(roots[:place])]):
            counts = _sums(lines, line, some) if len(some) >= _LEAST_PARTS else np.zeros(0)
            ends = np.flatnonzero(counts > 0)
            ends = ends[ends >= _LEAST_PARTS - 1]
            # Of two totals, the smaller run is further down.
            if len(ends) and (best is None or ends[0] < best[0]):
                best = int(ends[0]), line, list(some[: ends[0] + 1])
    return None if best is None else (best[1], best[2])
