"""Which lines of a finished table could be totals of others although nothing shows that they are.

Where cells are withheld, a line that is the sum of others may not be seen to be one; who reads what
it is called knows it. So every line is looked at that could be, by what is shown.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.finding_totals import NOBODY
from policy_engine.audits.outputs.label_words import is_total_word
from policy_engine.audits.outputs.model import TOTAL, Figures
from policy_engine.audits.outputs.reading_tables import ALONE, FinishedTable

Parents = tuple[int, ...]
Masks = NDArray[np.bool_]
_LEAST_PARTS = 2
_ALL_SETS, _TRIPLES, _PAIRS = 12, 30, 80
_MOST_LINES = 150
_MOST_PER_KEY = 8
_BY_CHANCE = 0.3
_NEAR = 1e-9


def possible_parents(table: FinishedTable, key: int) -> list[Parents]:
    """Return what the lines of a key may be parts of: as it was found first, then with lines that
    could be totals of others, each alone, and as many as go together, and last without totals that
    only figures say are some.

    The sum of all lines beside it is always looked at. Of other sets of lines, one is left out that
    is expected to fit by chance, as many sets as there are: of few and small figures, that is so
    of nearly all.
    """
    figures, slack = _lines(table, key)
    variants: list[Parents] = []
    for parents in dict.fromkeys([table.parents[key], (NOBODY,) * len(figures)]):
        variants.extend(_more(parents, figures, slack))
    if table.totals[key] and not is_total_word(table.totals[key]):
        variants.append((ALONE,) * len(figures))
    return list(dict.fromkeys(variants))


def _more(parents: Parents, figures: Figures, slack: Figures) -> Iterator[Parents]:
    """Yield parents of lines, then with further lines that could be totals of those that they are
    beside of, each alone, and as many as go together."""
    fits: list[tuple[float, int, tuple[int, ...]]] = []
    for parent in sorted(set(parents)):
        family = [line for line, one in enumerate(parents) if one == parent]
        inner = _leaves(parents) if parent == NOBODY else []
        for total in [*_large(figures, slack, family), *inner]:
            upper = _upper(parents, total)
            others = [line for line in family if line not in upper]
            if len(others) >= _LEAST_PARTS:
                fits.extend(_fits(figures, slack, total, others))
    fits = sorted(fits)[:_MOST_PER_KEY]
    yield parents
    yield from (_with(parents, total, parts) for _, total, parts in fits)
    forest, taken = parents, set[int]()
    for _, total, parts in fits:
        # A total in what it would be the total of is none.
        if not taken & {total, *parts} and not _upper(forest, total).intersection(parts):
            forest = _with(forest, total, parts)
            taken |= {total, *parts}
    yield forest


def _with(parents: Parents, total: int, parts: Sequence[int]) -> Parents:
    return tuple(total if line in parts else parent for line, parent in enumerate(parents))


def _lines(table: FinishedTable, key: int) -> tuple[Figures, Figures]:
    """Return the figures of each label of a key, (labels, places), NaN for none, and how far each
    is off by rounding."""
    others = np.delete(table.codes, key, axis=1)
    places = np.unique(others, axis=0, return_inverse=True)[1].ravel()
    shape = (len(table.labels[key]), int(places.max(initial=-1)) + 1)
    figures, slack = np.full(shape, np.nan), np.zeros(shape)
    own = table.codes[:, key]
    is_line = own != TOTAL
    figures[own[is_line], places[is_line]] = table.values[is_line]
    slack[own[is_line], places[is_line]] = table.slack[is_line]
    return figures, slack


def _large(figures: Figures, slack: Figures, family: Sequence[int]) -> list[int]:
    """Return the lines that could be totals: of many, those at least as large as all others."""
    if len(family) <= _MOST_LINES:
        return [*family]
    own, reach = figures[family], slack[family].sum(axis=0)
    with np.errstate(invalid="ignore"):
        is_less = 2 * own + reach < np.nan_to_num(own).sum(axis=0) * (1 - _NEAR)
    return [family[one] for one in np.flatnonzero(~is_less.any(axis=1)).tolist()]


def _leaves(parents: Parents) -> list[int]:
    """Return the lines that are parts of others, and totals of none."""
    return [n for n, one in enumerate(parents) if one != NOBODY and n not in parents]


def _upper(parents: Parents, line: int) -> set[int]:
    """Return a line, and those that it is a part of."""
    upper = {line}
    while (line := parents[line]) != NOBODY:
        upper.add(line)
    return upper


def _fits(
    figures: Figures, slack: Figures, total: int, others: Sequence[int]
) -> Iterator[tuple[float, int, tuple[int, ...]]]:
    """Yield sets of lines that a line could be the total of, with it: first how many sets of lines
    would fit as well by chance, 0 for the sum of all."""
    place = int(np.searchsorted(np.array(others), total))
    for masks, trials in _sets(len(others), place):
        fits = _chances(figures, slack, total, masks, others)
        is_fit = np.isfinite(fits)
        chances = np.where(is_fit, fits, 1.0) * trials
        for number in np.flatnonzero(is_fit & (chances <= _BY_CHANCE)).tolist():
            parts = tuple(others[one] for one in np.flatnonzero(masks[number]).tolist())
            yield float(chances[number]), total, parts


def _sets(count: int, place: int) -> Iterator[tuple[Masks, float]]:
    """Yield sets of some lines, (sets, lines), and how many of the kind there are: all, and where
    they are not many, all but one, those beside a place, any."""
    yield np.ones((1, count), np.bool_), 0.0
    if count > _MOST_LINES:
        return
    if count > _LEAST_PARTS:
        yield ~np.eye(count, dtype=np.bool_), float(count)
    numbers = np.arange(count)
    ends = [(first, place) for first in range(place - 1)]
    ends += [(place, last) for last in range(place + 2, count + 1)]
    if ends:
        runs = [(numbers >= first) & (numbers < last) for first, last in ends]
        yield np.array(runs), float(2 * count)
    masks = _any_sets(count)
    yield masks, float(len(masks))


@cache
def _any_sets(count: int) -> Masks:
    """Return all sets of two lines or more, or pairs and triples where these are too many."""
    if count <= _ALL_SETS:
        codes = np.arange(2**count)
        masks = (codes[:, None] >> np.arange(count)) & 1 == 1
        return np.asarray(masks[masks.sum(axis=1) > 1], np.bool_)
    sizes = [size for size, most in ((2, _PAIRS), (3, _TRIPLES)) if count <= most]
    places = [one for size in sizes for one in combinations(range(count), size)]
    masks = np.zeros((len(places), count), np.bool_)
    for number, one in enumerate(places):
        masks[number, list(one)] = True
    return masks


def _chances(
    figures: Figures, slack: Figures, total: int, masks: Masks, others: Sequence[int]
) -> Figures:
    """Return how likely sums of each set of lines would fit a total so well by chance, (sets,):
    infinite for those that do not fit."""
    is_place = ~np.isnan(figures[total])
    whole, parts = figures[total, is_place], figures[np.ix_(others, is_place)]
    if not is_place.any():
        return np.full(len(masks), np.inf)
    weights = masks.astype(np.float64)
    sums = weights @ np.nan_to_num(parts)
    blanks = weights @ np.isnan(parts).astype(np.float64)
    reach = weights @ slack[np.ix_(others, is_place)] + slack[total, is_place]
    reach = reach + _NEAR * np.abs(whole)
    gaps = whole - sums
    fits = (gaps >= -reach) & ((blanks > 0) | (gaps <= reach))
    # What is shown of none of the parts tells nothing.
    fits &= (blanks < weights.sum(axis=1, keepdims=True)).any(axis=1, keepdims=True)
    shares = (np.abs(gaps) + reach + 1) / (np.abs(whole) + 1)
    chances = np.minimum(shares, 1.0).prod(axis=1)
    return np.asarray(np.where(fits.all(axis=1), chances, np.inf), np.float64)
