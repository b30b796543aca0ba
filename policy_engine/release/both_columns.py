"""Of how many units a statistic of two columns tells something that is not known of them.

A covariance adds up (x - a) (y - b) over units. Whoever has a, or b, adds nothing, and hides
nobody: where all but few have either, it is about those few, though enough have another value in
each column alone.
"""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.distinct_numbers import distinct_numbers

_MOST_VALUES = 20
"""So many values of a column are tried; where more could matter, there are not enough units."""

_Ints = NDArray[np.int64]


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
