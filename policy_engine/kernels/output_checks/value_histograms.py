"""Whether a total and a count over a few values tell how many have which.

How many have each value is known to who knows the number of rows and their total if no other
whole numbers have the same sum and the same total. Others are found by moving three values at a
time: some rows from two of them to a third, or from one to the two others.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import gcd, isfinite
from typing import Any


def can_have_more(
    values: Sequence[Fraction], counts: Sequence[int], place: int, least: int
) -> bool:
    """Return whether some table of counts has the same rows and the same total of the values, and
    at least the `least` rows of the value at a place. False where none was found."""
    left = [*counts]
    others = [one for one in range(len(values)) if one != place]
    triples = [(one, two, _move(values, (place, one, two))) for one, two in combinations(others, 2)]
    while left[place] < least:
        best = max(triples, key=lambda triple: _gain(left, triple), default=None)
        if best is None or not _gain(left, best):
            return False
        one, two, (own, first, second) = best
        times = min(_times(left, best), -((left[place] - least) // own))
        left[place] += times * own
        left[one] += times * first
        left[two] += times * second
    return True


def tell_counts(
    values: Sequence[Any], rows: Sequence[int], is_few: Sequence[bool], least: int
) -> bool:
    """Return whether a total and a number of rows tell how many `rows` have each of few values,
    (values,) each: unless enough, the `least`, might have each of those that `few` have."""
    if not all(map(isfinite, values)):
        return True
    exact = [Fraction(one) for one in values]
    places = [place for place, is_it in enumerate(is_few) if is_it]
    return not all(can_have_more(exact, rows, place, least) for place in places)


_Triple = tuple[int, int, tuple[int, int, int]]


def _move(values: Sequence[Fraction], places: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return the smallest whole numbers of rows that three values can be given so that neither
    rows nor total change, and the first has more."""
    one, two, three = (values[place] for place in places)
    parts = (three - two, one - three, two - one)
    scale = parts[0].denominator * parts[1].denominator * parts[2].denominator
    whole = [int(part * scale) for part in parts]
    sign = 1 if whole[0] > 0 else -1
    divisor = sign * gcd(*whole)
    return whole[0] // divisor, whole[1] // divisor, whole[2] // divisor


def _times(left: Sequence[int], triple: _Triple) -> int:
    """Return how often a move can be made before a count is below zero."""
    one, two, (_, first, second) = triple
    pairs = ((left[one], first), (left[two], second))
    return min(count // -change for count, change in pairs if change < 0)


def _gain(left: Sequence[int], triple: _Triple) -> int:
    return _times(left, triple) * triple[2][0]
