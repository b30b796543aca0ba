"""Bucketization: quasi-identifiers stay exact, and sensitive values are published by bucket.

Two definitions. `anatomy` puts a sensitive value at most once into a bucket of at least l rows
(Xiao and Tao: Anatomy, VLDB 2006), and `anatomy_of_rows` at most once in l rows of larger ones.
`distinct_l` makes buckets of given classes, each with at least l distinct values, one of which may
be frequent (figure 3.4 of MOSAICrOWN D5.2).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.diversity import histogram

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class NotEligible:
    """Why there are no buckets: `most` is the largest l for which there are, 0 if for none."""

    most: int


@dataclass(frozen=True)
class ClassBuckets:
    """The bucket of every row, (rows,), and how many classes share theirs with another class."""

    bucket_of: Ints
    merged: int


def anatomy(
    codes: NDArray[np.integer],
    words: Words,
    least: int,
    order: Ints | None = None,
    missing: int = 0,
) -> Ints | NotEligible:
    """Return the bucket of every row, (rows,): no bucket has a sensitive value twice.

    `codes` (rows,) are the sensitive values, from 0; `words` (rows,) are random bits of each row,
    no two alike. There are floor(rows / least) buckets of at least `least` rows, whose sizes differ
    by at most one, numbered at random. Not eligible where a value has more rows than that.

    So many rows as are `missing` have no value, and the last code. A bucket holds one of them at
    most, besides `least` rows with a value: there are as many buckets as if they were not there.

    Rows of one value are dealt in the order of their words, or first of `order` (rows,), from 0,
    such as the cell of each row on a space-filling curve: buckets then hold rows that are near each
    other. Only rows of equal `order` are interchangeable to who knows this algorithm, so that the
    cells must be large.
    """
    # The stride instead of the paper's heap: sorted by value, rows are dealt to the buckets in
    # turn. A value has at most as many rows as there are buckets, so it never meets itself, and the
    # rows that the paper distributes at last are dealt like all others.
    valued = len(codes) - missing
    most = valued // max(int(np.bincount(codes).max(initial=0)), 1)
    if least > most:
        return NotEligible(most)
    rows, count = _sorted_rows(codes, words, order), valued // least
    turn = np.empty(len(codes), dtype=np.int64)
    turn[rows] = np.arange(len(codes)) % count
    return _random_numbers(turn, count, words)[turn]


def anatomy_of_rows(
    codes: NDArray[np.integer], words: Words, least: int, rows: int, missing: int = 0
) -> Ints | NotEligible:
    """Return the bucket of every row, (rows,): at least `rows` rows each, of which no value has
    more than one in `least`.

    Where values allow it, none occurs twice in a bucket. Otherwise several buckets of at least
    `least` rows, in which none does, are put together at random. The other arguments are those of
    `anatomy`, and not eligible is what is not for `least`.
    """
    wide = anatomy(codes, words, max(least, rows), missing=missing)
    if not isinstance(wide, NotEligible):
        return wide
    narrow = anatomy(codes, words, least, missing=missing)
    if isinstance(narrow, NotEligible):
        return narrow
    together = -(-rows // least)
    return narrow % max((int(narrow.max()) + 1) // together, 1)


def _sorted_rows(codes: NDArray[np.integer], words: Words, order: Ints | None) -> Ints:
    """Return the rows by code, then order, then word."""
    # By one number that holds both and as much of the word as there is room for: several times
    # faster than by three. Where that leaves a tie, the whole words decide.
    places = np.zeros(1, np.int64) if order is None else order
    bits = int(places.max()).bit_length()
    room = 64 - bits - int(codes.max()).bit_length()
    if room > 0:
        key = codes.astype(np.uint64) << np.uint64(bits) | places.astype(np.uint64)
        key = key << np.uint64(room) | words >> np.uint64(64 - room)
        rows = np.argsort(key)
        if (np.diff(key[rows]) > 0).all():
            return rows
    return np.lexsort((words, np.broadcast_to(places, len(codes)), codes))


_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def _random_numbers(turn: Ints, count: int, words: Words) -> Ints:
    """Return a number for every turn, (count,): a permutation that the words decide."""
    # The turns themselves would tell in which order the rows of a value were. Those of the first
    # turn have small words, which the product hides: its high bits depend on their low bits.
    sums = np.zeros(count, dtype=np.uint64)
    np.add.at(sums, turn, words)
    numbers = np.empty(count, dtype=np.int64)
    numbers[np.argsort(sums * _SPREAD, kind="stable")] = np.arange(count)
    return numbers


def distinct_l(
    class_of: Ints, codes: NDArray[np.int32], least: int, rows: int = 1
) -> ClassBuckets | NotEligible:
    """Return the classes as buckets with at least `least` distinct sensitive values each, and at
    least `rows` rows.

    `class_of` (rows,) numbers the class of each row from 0, and `codes` (rows,) its sensitive
    value, from 0, or below 0 without one. A class with fewer is merged with those that follow by
    number until there are enough, at the end with the bucket before: callers number neighbours one
    after the other. Buckets are in the order of the classes. Not eligible where there are not so
    many values, or rows.
    """
    pairs = histogram(class_of, int(class_of.max(initial=-1)) + 1, codes)
    sizes = np.bincount(class_of, minlength=len(pairs.members))
    bucket_of_class = np.zeros(len(pairs.members), dtype=np.int64)
    seen = np.full(len(pairs.overall), -1)
    count = _merge(pairs.starts, pairs.values, sizes, least, rows, seen, bucket_of_class)
    if count == 0:
        return NotEligible(int(np.count_nonzero(pairs.overall)))
    np.minimum(bucket_of_class, count - 1, out=bucket_of_class)
    sharing = np.bincount(bucket_of_class[sizes > 0])
    return ClassBuckets(bucket_of_class[class_of], int(sharing[sharing > 1].sum()))


@compiled
def _merge(starts, values, sizes, least, rows, seen, bucket_of_class):  # type: ignore[no-untyped-def]
    """Set the bucket of every class, and return how many buckets have enough values and rows.

    Classes after the last of them are numbered one higher. `seen` holds for every value the last
    bucket with it.
    """
    bucket = distinct = size = 0
    for one in range(len(bucket_of_class)):
        for pair in range(starts[one], starts[one + 1]):
            if seen[values[pair]] != bucket:
                seen[values[pair]] = bucket
                distinct += 1
        size += sizes[one]
        bucket_of_class[one] = bucket
        if distinct >= least and size >= rows:
            bucket, distinct, size = bucket + 1, 0, 0
    return bucket


def undiverse_classes(class_of: Ints, codes: NDArray[np.int32], least: int) -> Ints:
    """Return the numbers of the classes with fewer than `least` distinct values, ascending.

    `class_of` and `codes` are as in `distinct_l`, which merges these.
    """
    pairs = histogram(class_of, int(class_of.max(initial=-1)) + 1, codes)
    return np.flatnonzero((pairs.members > 0) & (np.diff(pairs.starts) < least))
