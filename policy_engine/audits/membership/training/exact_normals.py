"""Normal numbers on a grid, drawn exactly from the random bits of the operating system."""

import os
from collections.abc import Callable
from decimal import Context, Decimal
from functools import cache

import numpy as np
from numpy.typing import NDArray

Entropy = Callable[[int], bytes]
"""Returns a number of random bytes."""

_LEAD = 31
_MORE = 64
_BLOCK_SIZE = 1 << 16  # they stay in the cache
_SLACK = 2.0**-10
"""More than float64 errs in a probability times 2**31, were even its last ten bits wrong."""


def floored_normals(
    count: int, bits: int, entropy: Entropy = os.urandom, lead: int = _LEAD
) -> NDArray[np.int64]:
    """Return `floor(2**bits * X)` of independent X, normal of mean 0 and deviation 1, (count,).

    The distribution is exactly that, tails and last bits included: no float replaces a random
    number. The whole part of |X| is k with a chance in proportion to exp(-k^2 / 2); the rest is
    a uniform x, accepted with chance exp(-x (2k + x) / 2) (Karney, ACM TOMS 2016, section 2). Of
    every uniform number `lead` bits are drawn, and 64 more at a time where a decision hangs on
    them: then the bounds are computed in as many decimals as it takes (interval refining: Haney,
    Desfontaines, Hartman, Shrestha and Hay, 2022). `bits` and `lead` are at most 31, `bits` no
    more than `lead`. Takes 18 random bytes a number.
    """
    drawn, missing = [np.zeros(0, np.int64)], count
    while missing > 0:
        tries = min(_BLOCK_SIZE, missing * 3 // 2 + 16)
        drawn.append(_try_draws(tries, bits, entropy, lead)[:missing])
        missing -= len(drawn[-1])
    return np.concatenate(drawn)


def _try_draws(tries: int, bits: int, entropy: Entropy, lead: int) -> NDArray[np.int64]:
    """Return the accepted draws of `tries` tries, about seven in ten."""
    words = np.frombuffer(entropy(12 * tries), np.uint32).reshape(3, tries)
    first, rest, last = (words >> (32 - lead)).astype(np.int64)
    whole_parts, is_open = _whole_parts(first, lead)
    accepted, is_near = _decide_fast(whole_parts, rest, last, lead)
    for place in np.flatnonzero(is_open | is_near):
        own = int(first[place]), int(rest[place]), int(last[place])
        settled = _decide_exactly(*own, lead, entropy)
        accepted[place], whole_parts[place] = settled is not None, settled or 0
    size = ((whole_parts << lead) + rest) >> (lead - bits)
    is_negative = (words[1] & 1).astype(bool)  # below the bits of `rest`
    drawn: NDArray[np.int64] = np.where(is_negative, -size - 1, size)[accepted]
    return drawn


def _whole_parts(
    first: NDArray[np.int64], lead: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return how many of the bounds each number is below, and whether it may equal one."""
    floors = _floors(lead)
    whole_parts = len(floors) - np.searchsorted(floors[::-1], first, side="right")
    return whole_parts.astype(np.int64), first == floors[whole_parts]


def _decide_fast(
    whole_parts: NDArray[np.int64], rest: NDArray[np.int64], last: NDArray[np.int64], lead: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which are accepted, and which of these decisions hang on further bits.

    From one x to the next, 2**-lead further, the chance falls by no more than k + 1 of them.
    """
    x = rest * 2.0**-lead
    chance = np.exp(-x * (2 * whole_parts + x) / 2) * 2.0**lead
    surely = last <= chance - (whole_parts + 2) - _SLACK
    return surely, ~surely & (last < chance + _SLACK)


def _decide_exactly(first: int, rest: int, last: int, lead: int, entropy: Entropy) -> int | None:
    """Return the whole part of a number, drawing bits until it is known; None if not accepted."""
    whole_part = _whole_part(first, lead, entropy)
    while True:
        low, _ = _bounds(_chance(whole_part, rest + 1, lead), lead)
        _, high = _bounds(_chance(whole_part, rest, lead), lead)
        if last + 1 <= low:
            return whole_part
        if last >= high:
            return None
        rest, last, lead = _extend(rest, entropy), _extend(last, entropy), lead + _MORE


def _whole_part(first: int, lead: int, entropy: Entropy) -> int:
    count = 0
    while True:
        low, high = _bounds(_tail(count + 1, _digits(lead)), lead)
        if first + 1 <= low:
            count += 1
        elif first >= high:
            return count
        else:
            first, lead = _extend(first, entropy), lead + _MORE


def _extend(bits: int, entropy: Entropy) -> int:
    return (bits << _MORE) | int.from_bytes(entropy(_MORE // 8), "little")


def _bounds(share: Decimal, lead: int) -> tuple[int, int]:
    """Return whole numbers below and above a share, known to many more digits, times 2**lead."""
    scaled = int(_context(lead).multiply(share, Decimal(1 << lead)))
    return scaled - 1, scaled + 2


def _chance(whole_part: int, rest: int, lead: int) -> Decimal:
    """Return exp(-x (2 whole + x) / 2) of x = rest / 2**lead."""
    context = _context(lead)
    exponent = context.divide(
        Decimal(-rest * ((whole_part << (lead + 1)) + rest)), Decimal(1 << (2 * lead + 1))
    )
    return context.exp(exponent)


@cache
def _tail(whole_part: int, digits: int) -> Decimal:
    """Return the chance that the whole part of a number is this one or a larger one."""
    context = Context(prec=digits)
    size, weights = 0, list[Decimal]()
    while not weights or weights[-1] > Decimal(10) ** -(2 * digits):
        weights.append(context.exp(Decimal(-size * size) / 2))
        size += 1
    total, larger = Decimal(0), Decimal(0)
    for place, weight in enumerate(weights):
        total = context.add(total, weight)
        larger = context.add(larger, weight) if place >= whole_part else larger
    return context.divide(larger, total)


@cache
def _floors(lead: int) -> NDArray[np.int64]:
    """Return the tails of whole parts from 1 on, times 2**lead and rounded down, to the first 0."""
    floors, context = [1], _context(lead)
    while floors[-1]:
        tail = _tail(len(floors), _digits(lead))
        floors.append(int(context.multiply(tail, Decimal(1 << lead))))
    return np.array(floors[1:], np.int64)


def _digits(lead: int) -> int:
    """Return how many decimals leave thirty beyond so many bits, squared."""
    return 2 * lead * 302 // 1000 + 30


def _context(lead: int) -> Context:
    return Context(prec=_digits(lead))
