"""By which sets of columns values are guessed: those that are simple, and those that tell most."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.audits.disclosure.risks.guessed_cells import released_cells
from policy_engine.audits.disclosure.telling import most_telling_first
from policy_engine.kernels.attribute_inference import (
    category_bins,
    grown_sets,
    information,
    number_bins,
    telling_pairs,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_IN_STEPS, MOST_STEPS = 50_000, 12
"""Of so many persons at most, values are also guessed by the column that tells most, by the two
that do and so on, up to so many."""
MOST_IN_ALL_PAIRS = 6
"""Of so many columns at most, all pairs are tried."""
MOST_PAIRED, PAIRS = 100, 8
"""Of more, so many pairs that tell most, and as many that add most to what each of both tells, of
the first columns."""
MOST_GROWN = 5
"""Pairs grow to so many columns."""
MOST_INVERTED = {1: 12, 2: 6, 3: 2}
"""A masking is inverted by so many sets of so many columns."""
BINS, COARSE_BINS, VALUE_BINS = 8, 4, 10
"""In so many bins numbers are counted: for pairs, for more columns, and what is to be learned.
Categories have twice as many bins, the last for all the rarer ones."""


def known_sets(
    columns: Sequence[KnownColumn], values: Ints, own: Ints | None = None
) -> list[tuple[KnownColumn, ...]]:
    """Return the sets of columns by which values are guessed, since more may mislead an intruder.

    Each column alone; the one that tells most of whose record is whose, the two that do, and so on,
    given the `own` record of each person, (persons,), -1 if none, or else in the order of the
    columns; those that are not masked at random; all; pairs, and what they grow to, that tell most
    of `values` (rows,), bins of the released ones. Of many persons, no first ones.
    """
    place_of = {one.name: place for place, one in enumerate(columns)}
    if own is not None and (own >= 0).any():
        columns = [columns[place_of[name]] for name in most_telling_first(columns, own)]
    places = tuple(range(len(columns)))
    steps = [places[:count] for count in range(2, min(len(columns), MOST_STEPS) + 1)]
    if len(columns[0].before) > MOST_IN_STEPS:
        steps = []
    kept = tuple(place for place in places if not _is_perturbed(columns[place]))
    sets = [*((place,) for place in places), *steps, kept, places, *_telling(columns, values)]
    chosen = dict.fromkeys(tuple(sorted(one)) for one in sets if one)
    column_sets = ([columns[place] for place in one] for one in chosen)
    return [tuple(sorted(one, key=lambda column: place_of[column.name])) for one in column_sets]


def most_telling(
    sets: Sequence[tuple[KnownColumn, ...]], values: Ints, most: int
) -> list[tuple[KnownColumn, ...]]:
    """Return at most so many sets of few columns that tell anything in the release, the best first.

    By tables: those of more columns than sets grow to have more cells than rows.
    """
    candidates = list[tuple[float, tuple[KnownColumn, ...]]]()
    for some in sets:
        if len(some) <= MOST_GROWN:
            nats = information([_bins(one, BINS) for one in some], values)
            candidates.append((round(nats, 9), some))
    best = sorted((one for one in candidates if one[0] > 0), key=lambda one: -one[0])
    return [some for _, some in best[:most]]


def inverted_sets(
    sets: Sequence[tuple[KnownColumn, ...]], values: Ints
) -> list[tuple[KnownColumn, ...]]:
    """Return the sets of few columns by which a masking is inverted, the best of each size first.

    Those that tell most in the release, even if next to nothing is left there of what inverting the
    masking brings back.
    """
    chosen = list[tuple[KnownColumn, ...]]()
    for size, most in MOST_INVERTED.items():
        some = [one for one in sets if len(one) == size]
        nats = [
            round(information([_bins(one, BINS) for one in columns], values), 9) for columns in some
        ]
        chosen += [some[place] for place in np.argsort(-np.array(nats), kind="stable")[:most]]
    return chosen


def value_bins(values: Floats, *, is_number: bool) -> Ints:
    """Return the bins of released values of a column, by which tables count them."""
    return number_bins(values, VALUE_BINS) if is_number else category_bins(values, 2 * VALUE_BINS)


def _telling(columns: Sequence[KnownColumn], values: Ints) -> Iterator[tuple[int, ...]]:
    """Yield the pairs that tell most, and what the best of them grow to."""
    first = columns[:MOST_PAIRED]
    together, more = telling_pairs([_bins(one, BINS) for one in first], values, PAIRS)
    if len(columns) <= MOST_IN_ALL_PAIRS:
        yield from combinations(range(len(columns)), 2)
    yield from together
    yield from more
    coarse = [_bins(one, COARSE_BINS) for one in first]
    for pair in dict.fromkeys([*together[:1], *more[:1]]):
        yield from grown_sets(coarse, values, pair, MOST_GROWN)


def _bins(column: KnownColumn, most: int) -> Ints:
    if column.is_number:
        return number_bins(released_cells([column]).middle()[:, 0], most)
    return category_bins(column.after.cell_of, 2 * most)


def _is_perturbed(column: KnownColumn) -> bool:
    return bool(column.masking and column.masking.is_perturbation)
