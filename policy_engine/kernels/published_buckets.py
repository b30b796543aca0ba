"""What two published tables disclose by bucket.

This code shares nothing with what makes buckets, so that an error there is not repeated here.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class BucketFigures:
    """The buckets of two tables: one of quasi-identifiers, one of sensitive values.

    `numbers` (buckets,) are all that occur in either, ascending. By bucket, (buckets,): `rows` of
    the first table; `entries`, the values of the second, each as often as it is counted;
    `distinct` of them; `largest`, how often the most frequent is counted.
    """

    numbers: Ints
    rows: Ints
    entries: Ints
    distinct: Ints
    largest: Ints

    def agree(self) -> bool:
        """Return whether both tables have the same buckets, each as many rows as values."""
        return bool((self.rows == self.entries).all())

    def inverse_shares(self) -> Ints:
        """Return the greatest l so that no value has more than 1/l of its bucket, (buckets,).

        0 for a bucket without values (Xiao and Tao: Anatomy, VLDB 2006, definition 2).
        """
        return np.where(self.largest > 0, self.entries // np.maximum(self.largest, 1), 0)


def bucket_figures(
    row_buckets: Ints, entry_buckets: Ints, entry_codes: Ints, entry_counts: Ints | None = None
) -> BucketFigures:
    """Return the figures of both tables' buckets.

    `row_buckets` (rows,) numbers the bucket of each row of quasi-identifiers. Each entry of the
    other table has a bucket, a value by its code from 0, and how often it occurs, once without
    `entry_counts`: (entries,). A value may have several entries in one bucket.
    """
    counts = np.ones_like(entry_buckets) if entry_counts is None else entry_counts
    numbers, place = np.unique(np.append(row_buckets, entry_buckets), return_inverse=True)
    rows = np.bincount(place[: len(row_buckets)], minlength=len(numbers))
    buckets, times = _times(place[len(row_buckets) :], entry_codes, counts)
    entries, largest = np.zeros_like(rows), np.zeros_like(rows)
    np.add.at(entries, buckets, times)
    np.maximum.at(largest, buckets, times)
    distinct = np.bincount(buckets, minlength=len(numbers))
    return BucketFigures(numbers, rows, entries, distinct, largest)


def _times(buckets: Ints, codes: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return the bucket of every pair of a bucket and a value that occurs, and how often."""
    width = int(codes.max(initial=0)) + 1
    pairs, place = np.unique(buckets * width + codes, return_inverse=True)
    times = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(times, place, counts)
    return pairs[times > 0] // width, times[times > 0]
