"""Guesses of a sensitive value from many records, where single ones are misled by chance.

How many of the nearest records are looked at, and where a column is split in two, is chosen on the
release alone, as an intruder can choose it: by how well it guesses the values of records that were
left out (Stone: Cross-validatory choice and assessment of statistical predictions, JRSS B 36(2),
1974). So measuring it on the persons is not biased by the choice.
"""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.attribute_inference.guesses import guess_by_part, guess_others
from policy_engine.kernels.attribute_inference.neighbours import ReleasedCells

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COUNTS = (1, 3, 10, 30, 100, 300, 1000)
"""Of how many nearest records the commonest value is guessed, besides the root of all of them."""
MOST_LEFT_OUT = 1_000
"""So many records are left out, one at a time, at most."""
MOST_PAIRS = 1 << 24
"""Of persons and records near to them."""
FEWEST = 10
"""Of fewer records no half says anything."""
CUTS = 31
"""A column is split at one of so many quantiles."""


class ColumnSplit(NamedTuple):
    """A column that is split in two: its place, and the greatest number of the lower part."""

    column: int
    cut: float

    def parts(self, numbers: Floats) -> Ints:
        """Return the part of each number."""
        return (numbers > self.cut).astype(np.int64)


def chosen_count(
    released: ReleasedCells, values: Floats, tolerance: float, persons: int
) -> int | None:
    """Return by how many of the nearest records values of others are guessed best.

    None where the commonest value of all is as good, but for an error of one standard deviation.
    """
    rows = _spread_rows(released, values)
    fewest = len(values) // 3
    counts = {*COUNTS, round(math.sqrt(len(values)))}
    tried = sorted(one for one in counts if one <= min(fewest, MOST_PAIRS // persons))
    shares = {
        one: round(float(guess_others(released, values, rows, tolerance, one).mean()), 9)
        for one in tried
    }
    best = max(tried, key=lambda one: (shares[one], -one), default=None)
    if best is None or not exceeds(shares[best], blind_share(values, rows, tolerance), len(rows)):
        return None
    return best


def best_split(released: ReleasedCells, values: Floats, tolerance: float) -> ColumnSplit | None:
    """Return the split of a column of numbers by which values are guessed best.

    Each half of the records is guessed by the split that is best for the other one. None where the
    commonest value of all is as good, but for an error of one standard deviation.
    """
    scores, middles = dict[int, float](), released.middle()
    if len(values) < FEWEST:
        return None
    for column in np.flatnonzero(released.widths).tolist():
        numbers = middles[:, column]
        order = np.lexsort((values, numbers))
        halves = order[::2], order[1::2]
        shares = [
            _share_of_split(numbers, values, tolerance, fitted, guessed)
            for fitted, guessed in (halves, halves[::-1])
        ]
        scores[column] = round(math.fsum(shares) / 2, 9)
    best = max(scores, key=lambda column: (scores[column], -column), default=None)
    everybody = np.arange(len(values))
    blind = blind_share(values, everybody, tolerance)
    if best is None or not exceeds(scores[best], blind, len(values)):
        return None
    cut = _best_cut(middles[:, best], values, tolerance)
    return None if cut is None else ColumnSplit(best, cut)


def _share_of_split(
    numbers: Floats, values: Floats, tolerance: float, fitted: Ints, guessed: Ints
) -> float:
    cut = _best_cut(numbers[fitted], values[fitted], tolerance)
    if cut is None:
        return 0.0
    split = ColumnSplit(0, cut)
    parts = split.parts(numbers[fitted]), split.parts(numbers[guessed])
    return float(guess_by_part(*parts, values[fitted], values[guessed], tolerance).mean())


def _best_cut(numbers: Floats, values: Floats, tolerance: float) -> float | None:
    """Return where the commonest values of both parts are most; None where no split is possible."""
    shares = np.arange(1, CUTS + 1) / (CUTS + 1)
    cuts = np.unique(np.quantile(numbers, shares, method="lower"))
    cuts = cuts[cuts < numbers.max()]
    if not len(cuts):
        return None
    domain, codes = np.unique(values, return_inverse=True)
    codes, size = codes.reshape(-1), len(domain)
    first = np.searchsorted(domain, domain - tolerance, side="left")
    last = np.searchsorted(domain, domain + tolerance, side="right")
    part_of = np.searchsorted(cuts, numbers, side="left")
    counts = np.zeros(size, dtype=np.int64)
    overall, right_guesses = np.bincount(codes, minlength=size), []
    order = np.argsort(part_of, kind="stable")
    ends = np.searchsorted(part_of[order], np.arange(len(cuts) + 1))
    for start, end in pairwise(ends.tolist()):
        counts = counts + np.bincount(codes[order[start:end]], minlength=size)
        sums = (np.append(0, np.cumsum(one)) for one in (counts, overall - counts))
        right_guesses.append(sum(int((one[last] - one[first]).max()) for one in sums))
    return float(cuts[int(np.argmax(right_guesses))])


def blind_share(values: Floats, rows: Ints, tolerance: float) -> float:
    """Return the share of `rows` whose value is guessed as the commonest of all."""
    anyone, chosen = (np.zeros(len(one), dtype=np.int64) for one in (values, rows))
    return float(guess_by_part(anyone, chosen, values, values[rows], tolerance).mean())


def exceeds(share: float, blind: float, rows: int) -> bool:
    """Tell whether a share of rows is above another beyond an error of one standard deviation."""
    return share > blind + math.sqrt(share * (1 - share) / rows)


def _spread_rows(released: ReleasedCells, values: Floats) -> Ints:
    """Return rows to leave out, whatever the order of rows is: evenly among all, sorted."""
    order = np.lexsort((values, *released.high.T, *released.low.T))
    count = min(len(order), MOST_LEFT_OUT)
    return np.asarray(order[np.arange(count) * len(order) // count])
