"""Of how many units a statistic of two columns tells something that is not known of them.

A covariance adds up (x - a) (y - b) over units. Whoever has a, or b, adds nothing, and hides
nobody: where all but few have either, it is about those few, though enough have another value in
each column alone.

Who knows one column, and the total of the other, knows the sum of (x - c) y for every c: he chooses
the one for which what others add is least beside what somebody adds whose x lies apart from theirs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.distinct_numbers import distinct_numbers

_MOST_VALUES = 20
"""So many values of a column are tried; where more could matter, there are not enough units."""

_MOST_CENTRES, _MANY_ROWS = 64, 20_000
"""How many centres are tried, and from how many rows on a few: nobody of many dominates by one."""

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


class LargestTerms(NamedTuple):
    """The largest and the second term that a unit adds to a sum, and the sum of all by absolute
    value: (centres,) each."""

    largest: _Floats
    second: _Floats
    total: _Floats


def largest_terms(units: _Ints, one: _Floats, other: _Floats) -> LargestTerms:
    """Return what units add to the sum of (x - c) y and of (y - c) x, for centres c at which one of
    them may dominate it: x and y are `one` and `other`, (rows,) each, of the units of rows."""
    pairs = ((one, other), (other, one))
    rows = [
        _terms(units, (weights - centre) * secret)
        for weights, secret in pairs
        for centre in _centres(weights)
    ]
    return LargestTerms(*(np.array(part) for part in zip(*rows, strict=True)))


def _terms(units: _Ints, terms: _Floats) -> tuple[float, float, float]:
    sizes = np.append(np.abs(np.bincount(units, terms, minlength=1)), 0.0)
    second, first = np.partition(sizes, -2)[-2:]
    return float(first), float(second), float(sizes.sum())


def _centres(values: _Floats) -> _Floats:
    """Return centres: between those of two neighbours, which unit adds how much grows or shrinks
    steadily, so that values themselves are enough; of many, some of them."""
    levels = np.unique(values)
    most = _MOST_CENTRES if len(values) < _MANY_ROWS else 5
    if len(levels) > most:
        levels = np.quantile(values, np.linspace(0, 1, most))
    return np.append(levels, 0.0)


def are_enough_of_both(units: _Ints, one: _Ints, other: _Ints, least: int) -> bool:
    """Return whether at least so many units have neither some value in one column nor some value in
    the other, whichever these are.

    `units` is the unit of each row, `one` and `other` are the places of its values, (rows,) each.
    A unit of several values counts as having each.
    """
    columns = [(codes, _units_by_value(units, codes)) for codes in (one, other)]
    count = len(distinct_numbers(units))
    most = [int(counts.max(initial=0)) for _, counts in columns]
    if count - sum(most) >= least:
        return True
    common = [
        np.flatnonzero(counts > count - least - other_most)
        for (_, counts), other_most in zip(columns, reversed(most), strict=True)
    ]
    if len(common[0]) > len(common[1]):
        columns, common = columns[::-1], common[::-1]
    if not 0 < len(common[0]) <= _MOST_VALUES:
        return False
    (first, _), (second, _) = columns
    rests = (first != value for value in common[0])
    return all(_without_most_common(units[rest], second[rest]) >= least for rest in rests)


def _without_most_common(units: _Ints, codes: _Ints) -> int:
    """Return how many units have another value than the one that most have."""
    most = int(_units_by_value(units, codes).max(initial=0))
    return len(distinct_numbers(units)) - most


def _units_by_value(units: _Ints, codes: _Ints) -> _Ints:
    """Return how many units have each value."""
    width = int(units.max(initial=0)) + 1
    return np.bincount(distinct_numbers(codes * width + units) // width)
