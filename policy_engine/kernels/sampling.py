"""Samples by the hash of what is sampled: whoever has one of the smallest is in it."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Hashes = NDArray[np.uint64]


def last_of_share(share: float) -> int:
    """Return the greatest hash below 2**64 times a share, which is read as it is written.

    With a hash of 64 random bits each, everything up to it is a Bernoulli sample.
    """
    return max(int(Fraction(repr(share)) * 2**64) - 1, 0)


def nearest_sizes(counts: Counts, share: float) -> Counts:
    """Return the share of every stratum, rounded to a whole number, a half up; (strata,)."""
    doubled = 2 * Fraction(repr(share))
    return np.array([int(doubled * int(count) + 1) // 2 for count in counts], dtype=np.int64)


def proportional_sizes(counts: Counts, size: int) -> Counts:
    """Return what each stratum gives to a sample of a size, (strata,), by largest remainders.

    Of equal remainders, those of the first strata are taken. `counts` (strata,) have no less in all
    than the size.
    """
    total = int(counts.sum())
    parts = [divmod(int(count) * size, total) for count in counts]
    sizes = np.array([whole for whole, _ in parts], dtype=np.int64)
    order = sorted(range(len(parts)), key=lambda one: -parts[one][1])
    sizes[order[: size - int(sizes.sum())]] += 1
    return sizes


def size_bounds(counts: Counts, size: int) -> tuple[Counts, Counts]:
    """Return the least and the most that each stratum can give to a sample of a size, (strata,).

    They differ where `proportional_sizes` decides between equal remainders by the order of strata.
    """
    total = int(counts.sum())
    parts = [divmod(int(count) * size, total) for count in counts]
    least = np.array([whole for whole, _ in parts], dtype=np.int64)
    rest = np.array([left for _, left in parts], dtype=object)
    extra = size - int(least.sum())
    if not extra:
        return least, least
    last = sorted(rest, reverse=True)[extra - 1]
    surely = (rest > last) | ((rest == last) & (int((rest >= last).sum()) == extra))
    return least + surely.astype(np.int64), least + (rest >= last).astype(np.int64)


def last_hashes(hashes: Hashes, strata: Counts, sizes: Counts) -> Hashes:
    """Return the greatest hash that is in the sample, for every stratum, (strata,).

    `hashes` and `strata`, from 0, are those of what is sampled, (units,); the `sizes` are 1 or more
    and at most the number of units of the stratum.
    """
    order = np.lexsort((hashes, strata))
    starts = np.searchsorted(strata[order], np.arange(len(sizes)))
    return np.asarray(hashes[order][starts + sizes - 1])
