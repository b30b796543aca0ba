"""What an intruder guesses of a sensitive value from the records of a release.

After the inference risk of Giomi, Boenisch, Wehmeyer and Tasnádi: A unified framework for
quantifying privacy risk in synthetic data, PoPETs 2023(2). Where they take the value of one nearest
record, here the commonest of the nearest is taken; where they take a random value as the baseline,
the commonest of all: the intruder and the baseline both guess as well as they can.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.attribute_inference.neighbours import (
    Neighbours,
    ReleasedCells,
    nearest_points,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PAIRS = 1 << 24
"""Of persons and values that are counted at once."""


@dataclass(frozen=True)
class Guesses:
    """By person, (persons,) each: the probability that a sensitive value is guessed.

    `informed` by what is known of the person and by the release, or `blind`, from the values that
    the release has in all.
    """

    informed: Floats
    blind: Floats


def guess_values(
    known_values: Floats,
    released: ReleasedCells,
    values: Floats,
    truth: Floats,
    tolerance: float = 0.0,
    least: int = 1,
) -> Guesses:
    """Return how probably values are guessed as those of the nearest records.

    `known_values` (persons, columns) is what an intruder knows, `truth` (persons,) the sensitive
    values, and `values` (rows,) those of the release; codes, if they are categories. A guess is
    right if it differs by `tolerance` at most. Of the nearest records, `least` or more and all that
    are equally near, the value is guessed that is right for most of them, or one of m such values:
    then its probability is their share that is right. For the risk beyond what a release tells of
    anybody, compare persons of the original with others (`excess`). No order of rows matters.
    """
    value_codes, truth_codes, reach = coded(values, truth, tolerance)
    near = nearest_points(known_values, released, least)
    informed = _guess_by_set(near, _occurrences(near.point_of, value_codes), reach, truth_codes)
    rows, persons = (np.zeros(len(one), dtype=np.int64) for one in (values, truth))
    return Guesses(informed, _guess_by_part(rows, persons, value_codes, truth_codes, reach))


def guess_by_part(
    part_of_row: Ints, part_of_person: Ints, values: Floats, truth: Floats, tolerance: float = 0.0
) -> Floats:
    """Return how probably values are guessed as the commonest of a part of the release, (persons,).

    Parts are numbered from 0, and each has a row; otherwise as by `guess_values`.
    """
    value_codes, truth_codes, reach = coded(values, truth, tolerance)
    return _guess_by_part(part_of_row, part_of_person, value_codes, truth_codes, reach)


def guess_from_records(
    records: Ints, starts: Ints, values: Floats, truth: Floats, tolerance: float = 0.0
) -> Floats:
    """Return how probably values are guessed as the commonest of a person's records, (persons,).

    Those of person i are `records[starts[i]:starts[i + 1]]`, numbers of `values`; who has none is
    guessed as anybody. Otherwise as by `guess_values`.
    """
    value_codes, truth_codes, reach = coded(values, truth, tolerance)
    everybody = np.zeros(len(values), dtype=np.int64)
    blind = np.zeros(len(truth), dtype=np.int64)
    informed = _guess_by_part(everybody, blind, value_codes, truth_codes, reach)
    has_records = np.diff(starts) > 0
    if has_records.any():
        point_of = np.arange(len(values))
        near = Neighbours(records, np.append(starts[:-1][has_records], starts[-1]), point_of)
        occurrences = _occurrences(point_of, value_codes)
        informed[has_records] = _guess_by_set(near, occurrences, reach, truth_codes[has_records])
    return informed


def guess_others(
    released: ReleasedCells, values: Floats, rows: Ints, tolerance: float = 0.0, least: int = 1
) -> Floats:
    """Return how probably the values of `rows` are guessed as those of the others nearest.

    What a release tells of persons who are not in it, as far as it can tell by itself how well
    `guess_values` does by `least` records.
    """
    codes, own, reach = coded(values, values[rows], tolerance)
    near = nearest_points(released.middle()[rows], released, least + 1)
    occurrences = _occurrences(near.point_of, codes)
    return _right(
        _Sets(near.points, near.starts), occurrences, reach, np.arange(len(rows)), own, omits=True
    )


class Reach(NamedTuple):
    """The first and the last value that is within the tolerance of each, (values,) each."""

    first: Ints
    last: Ints


def coded(values: Floats, truth: Floats, tolerance: float) -> tuple[Ints, Ints, Reach]:
    """Return the codes of the released and of the true values, and how far a guess reaches."""
    domain, codes = np.unique(np.concatenate([values, truth]), return_inverse=True)
    codes = codes.reshape(-1)
    reach = Reach(
        np.searchsorted(domain, domain - tolerance, side="left"),
        np.searchsorted(domain, domain + tolerance, side="right") - 1,
    )
    return codes[: len(values)], codes[len(values) :], reach


def _guess_by_part(
    part_of_row: Ints, part_of_person: Ints, codes: Ints, truth_codes: Ints, reach: Reach
) -> Floats:
    parts = int(part_of_row.max()) + 1
    sets = _Sets(np.arange(parts), np.arange(parts + 1))
    return _right(sets, _occurrences(part_of_row, codes), reach, part_of_person, truth_codes)


class _Occurrences(NamedTuple):
    """How often which values occur at points: those of point i from `begins[i]` on."""

    begins: Ints
    values: Ints
    counts: Ints


def _occurrences(point_of: Ints, codes: Ints) -> _Occurrences:
    size = int(codes.max()) + 1
    keys, counts = np.unique(point_of * size + codes, return_counts=True)
    points, values = np.divmod(keys, size)
    return _Occurrences(np.append(0, np.cumsum(np.bincount(points))), values, counts)


class _Sets(NamedTuple):
    """Sets of points: those of set i are `points[starts[i]:starts[i + 1]]`."""

    points: Ints
    starts: Ints


def _guess_by_set(
    near: Neighbours, occurrences: _Occurrences, reach: Reach, truth_codes: Ints
) -> Floats:
    """Return how probably each person's value is guessed; one near point is looked at once."""
    sizes = np.diff(near.starts)
    first = near.points[near.starts[:-1]]
    keys = np.where(sizes == 1, first, len(near.point_of) + np.arange(len(sizes)))
    _, chosen, set_of = np.unique(keys, return_index=True, return_inverse=True)
    set_of, shares = set_of.reshape(-1), np.empty(len(truth_codes))
    lengths = np.diff(occurrences.begins)[near.points]
    part_of = np.cumsum(np.add.reduceat(lengths, near.starts[:-1])[chosen]) // _PAIRS
    persons = np.argsort(part_of[set_of], kind="stable")
    for part in np.unique(part_of):
        low, high = np.searchsorted(part_of, [part, part + 1])
        start, end = np.searchsorted(part_of[set_of[persons]], [part, part + 1])
        mine, some = persons[start:end], _person_sets(near, chosen[low:high])
        shares[mine] = _right(some, occurrences, reach, set_of[mine] - low, truth_codes[mine])
    return shares


def _person_sets(near: Neighbours, persons: Ints) -> _Sets:
    sizes = np.diff(near.starts)[persons]
    places, starts = _runs(near.starts[persons], sizes)
    return _Sets(near.points[places], starts)


def _runs(begins: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of runs one behind the other, and where each run starts, and the end."""
    starts = np.append(0, np.cumsum(lengths))
    return np.arange(starts[-1]) + np.repeat(begins - starts[:-1], lengths), starts


def _right(
    sets: _Sets,
    occurrences: _Occurrences,
    reach: Reach,
    set_of: Ints,
    truth_codes: Ints,
    *,
    omits: bool = False,
) -> Floats:
    """Return the share of each person's best guesses that are right, given the set of each.

    If it `omits` them, each set is without one true value of its person, of whom it is.
    """
    size = len(reach.first)
    keys, counts = _counted(sets, occurrences, size)
    if omits:
        counts[np.searchsorted(keys, set_of * size + truth_codes)] -= 1
        keys, counts = keys[counts > 0], counts[counts > 0]
    numbers, values = np.divmod(keys, size)
    sums = np.append(0, np.cumsum(counts))
    low = np.searchsorted(keys, numbers * size + reach.first[values], side="left")
    high = np.searchsorted(keys, numbers * size + reach.last[values], side="right")
    covered = sums[high] - sums[low]
    begins = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    is_best = covered == np.maximum.reduceat(covered, begins)[numbers]
    best, many = keys[is_best], np.add.reduceat(is_best.astype(np.int64), begins)
    left = np.searchsorted(best, set_of * size + reach.first[truth_codes], side="left")
    right = np.searchsorted(best, set_of * size + reach.last[truth_codes], side="right")
    return np.asarray((right - left) / many[set_of])


def _counted(sets: _Sets, occurrences: _Occurrences, size: int) -> tuple[Ints, Ints]:
    """Return set * size + value of the values in sets, ascending, and how often each occurs."""
    lengths = np.diff(occurrences.begins)[sets.points]
    places, _ = _runs(occurrences.begins[sets.points], lengths)
    number = np.repeat(np.arange(len(sets.starts) - 1), np.diff(sets.starts))
    keys, pair_of = np.unique(
        np.repeat(number, lengths) * size + occurrences.values[places], return_inverse=True
    )
    totals = np.zeros(len(keys), dtype=np.int64)
    np.add.at(totals, pair_of.reshape(-1), occurrences.counts[places])
    return keys, totals
