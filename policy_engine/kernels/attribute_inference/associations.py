"""Which columns of a release tell most of a sensitive one, together: by tables of their bins."""

from collections.abc import Sequence
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PRIOR = 2.0
"""Rows of the whole table that each cell has besides its own."""


def number_bins(numbers: Floats, most: int) -> Ints:
    """Return in which of so many bins of equal frequency each number is; equal ones are in one."""
    edges = np.quantile(numbers, np.arange(1, most) / most, method="lower")
    return np.asarray(
        np.unique(np.searchsorted(edges, numbers), return_inverse=True)[1].reshape(-1)
    )


def category_bins(codes: NDArray[np.generic], most: int) -> Ints:
    """Return the bins of codes: one for each of the commonest, and one for all others."""
    _, number, counts = np.unique(codes, return_inverse=True, return_counts=True)
    place = np.empty(len(counts), dtype=np.int64)
    place[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.asarray(np.minimum(place, most - 1)[number.reshape(-1)])


def information(columns: Sequence[Ints], values: Ints) -> float:
    """Return what columns of bins tell together of the bins in `values`: nats by row.

    By how much the logarithm of a value's probability rises on average, as the others in its cell
    have it: each row is left out of its own, which would always seem to tell something. Small
    cells are drawn to all rows, as if these were there `PRIOR` times more. It is the mutual
    information where cells are large, and may be below 0.
    """
    return _information(reduce(crossed, columns), values)


def crossed(cells: Ints, bins: Ints) -> Ints:
    """Return the cells of both, numbered from 0 without gaps."""
    keys = cells * (int(bins.max()) + 1) + bins
    is_used = np.bincount(keys) > 0
    return np.asarray((np.cumsum(is_used) - 1)[keys])


def _information(cells: Ints, values: Ints) -> float:
    size = int(values.max()) + 1
    joint = np.bincount(cells * size + values)
    keys = np.flatnonzero(joint)
    counts, cell_of, value_of = joint[keys], *np.divmod(keys, size)
    shares = (np.bincount(values) / len(values))[value_of]
    others = np.bincount(cells)[cell_of] - 1
    ratios = (counts - 1 + PRIOR * shares) / ((others + PRIOR) * shares)
    return float(np.sum(counts * np.log(ratios))) / len(values)


def telling_pairs(
    columns: Sequence[Ints], values: Ints, most: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return pairs of columns that tell most together, and those that add most to what each tells.

    At most so many of each, the greatest first, and none that tells or adds nothing.
    """
    alone = [max(0.0, _information(one, values)) for one in columns]
    both = {
        (one, other): _information(crossed(columns[one], columns[other]), values)
        for one, other in combinations(range(len(columns)), 2)
    }
    added = {pair: nats - alone[pair[0]] - alone[pair[1]] for pair, nats in both.items()}
    return _greatest(both, most), _greatest(added, most)


def grown_sets(
    columns: Sequence[Ints], values: Ints, start: Sequence[int], most: int
) -> list[tuple[int, ...]]:
    """Return what `start` becomes by adding the column that tells most besides, one by one.

    It ends with so many columns, or where no other tells anything more.
    """
    chosen, sets = list(start), list[tuple[int, ...]]()
    cells = reduce(crossed, [columns[place] for place in chosen])
    nats = _information(cells, values)
    while len(chosen) < most:
        others = [place for place in range(len(columns)) if place not in chosen]
        more = {place: _information(crossed(cells, columns[place]), values) for place in others}
        best = max(others, key=lambda place: (round(more[place], 9), -place), default=None)
        if best is None or more[best] <= nats:
            break
        chosen.append(best)
        cells, nats = crossed(cells, columns[best]), more[best]
        sets.append(tuple(chosen))
    return sets


def _greatest(information: dict[tuple[int, int], float], most: int) -> list[tuple[int, int]]:
    pairs = [pair for pair, nats in information.items() if nats > 0]
    return sorted(pairs, key=lambda pair: (-round(information[pair], 9), pair))[:most]
