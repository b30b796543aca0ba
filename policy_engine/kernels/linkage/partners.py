"""Links by rank swapping in pairs: a record is a person's only if others are those of the partners.

If a record is person i's and shows the value of person j, then the record that shows i's value is
j's. So a record is possible only if those of all partners are, in each of their swapped columns.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.linkage.tree import STACK, PointTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEPS = 3
"""How far partners of partners are followed."""
_MOST_TIED = 64
"""Of so many pairs of a person and a record with the same values, some fits nearly always."""
MOST_PAIRS = 500_000_000
"""Of more pairs that the windows leave, partners are not followed."""


class SwappedValues(NamedTuple):
    """Who has which value of the swapped columns, and which records show it.

    `of_person` (persons, columns) and `of_record` (records, columns) number the values of all
    columns, -1 for one that no record shows; `persons` and `records` list who has each, the value v
    from `person_starts[v]` to before `person_starts[v + 1]`, and likewise.
    """

    of_person: Ints
    of_record: Ints
    persons: Ints
    person_starts: Ints
    records: Ints
    record_starts: Ints


def swapped_values(before: Floats, after: Floats) -> SwappedValues:
    """Return the values of persons, (persons, columns), and of records, (records, columns); nan is
    none."""
    of_person, of_record = np.full(before.shape, -1), np.full(after.shape, -1)
    size = 0
    for column in range(before.shape[1]):
        distinct = np.unique(after[:, column][~np.isnan(after[:, column])])
        for values, numbers in ((before[:, column], of_person), (after[:, column], of_record)):
            places = np.minimum(np.searchsorted(distinct, values), max(len(distinct) - 1, 0))
            is_there = distinct[places] == values if len(distinct) else np.zeros(len(values), bool)
            numbers[is_there, column] = size + places[is_there]
        size += len(distinct)
    lists = [_listed(numbers, size) for numbers in (of_person, of_record)]
    return SwappedValues(of_person, of_record, *lists[0], *lists[1])


def _listed(numbers: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the rows of each number, one after the other, and where those of each start."""
    flat = numbers.ravel()
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(size + 1))
    return order // numbers.shape[1], starts


def partner_links(
    tree: PointTree,
    known_values: Floats,
    own: Ints,
    low: Floats,
    high: Floats,
    swapped: SwappedValues,
    *,
    is_whole: bool,
) -> Floats:
    """Return for each person the probability that the own record is taken, (persons,).

    The nearest point of the tree is taken of those between `low` and `high`, (persons, columns),
    whose partners' records are between theirs, and so on. Equally near ones are equally likely.
    `own` (persons,) is the number of the own record, -1 where there is none. If persons or records
    are missing, not `is_whole`, only those are partners who are the only ones with their values.
    """
    released = np.empty_like(tree.points)
    released[tree.rows] = tree.points
    probabilities = np.zeros(len(known_values))
    most = _MOST_TIED if is_whole else 1
    ends = (np.ascontiguousarray(low), np.ascontiguousarray(high))
    stack = np.empty(STACK, dtype=np.int64)
    _link(tree, released, known_values, own, *ends, swapped, most, stack, probabilities)
    return probabilities


@compiled
def _link(tree, released, known_values, own, low, high, swapped, most, stack, probabilities):  # type: ignore[no-untyped-def]
    half = len(tree.starts) // 2
    for person in range(len(low)):
        waiting, nearest, ties, is_own = 1, np.inf, 0, False
        stack[0] = 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            if not _overlap(tree.low[node], tree.high[node], low[person], high[person]):
                continue
            if node < half:
                stack[waiting], stack[waiting + 1] = 2 * node, 2 * node + 1
                waiting += 2
                continue
            for record in tree.rows[tree.starts[node] : tree.ends[node]]:
                distance = _distance(known_values[person], released[record])
                if distance <= nearest and _is_possible(
                    released, low, high, swapped, person, record, most, _STEPS
                ):
                    ties = ties + 1 if distance == nearest else 1
                    is_own = record == own[person] or (is_own and distance == nearest)
                    nearest = distance
        if is_own:
            probabilities[person] = 1 / ties


@compiled
def _distance(one, other):  # type: ignore[no-untyped-def]
    distance = 0.0
    for column in range(len(one)):
        distance += (one[column] - other[column]) ** 2
    return distance


@compiled
def _overlap(least, greatest, low, high):  # type: ignore[no-untyped-def]
    for column in range(len(least)):
        if greatest[column] < low[column] or least[column] > high[column]:
            return False
    return True


@compiled
def _is_possible(released, low, high, swapped, person, record, most, steps):  # type: ignore[no-untyped-def]
    """Tell whether a record may be a person's, as far as partners are followed."""
    if not _overlap(released[record], released[record], low[person], high[person]):
        return False
    if steps == 0:
        return True
    for column in range(swapped.of_person.shape[1]):
        has, shows = swapped.of_person[person, column], swapped.of_record[record, column]
        if has < 0 or shows < 0:
            continue
        first, last = swapped.person_starts[shows], swapped.person_starts[shows + 1]
        start, end = swapped.record_starts[has], swapped.record_starts[has + 1]
        if not 0 < (last - first) * (end - start) <= most:
            continue
        is_possible = False
        for partner in swapped.persons[first:last]:
            for other in swapped.records[start:end]:
                if _is_possible(released, low, high, swapped, partner, other, most, steps - 1):
                    is_possible = True
                    break
            if is_possible:
                break
        if not is_possible:
            return False
    return True


MOST_COMPARED = 25_000_000
"""Of more persons times records, moves by buckets are not compared with those of partners."""
_ROUNDS = 5
_NEVER = -(2**20)


def partner_links_by_buckets(
    before: Floats, after: Floats, own: Ints, windows: list[tuple[int, int]]
) -> Floats:
    """Return for each person the probability that the own record is taken, (persons,).

    For swaps whose moves have no limit, but are half as likely with every bucket further. The
    likeliest record is taken, by its moves, those that it means for the partners, for theirs and so
    on. `before` (persons, columns) and `after` (records, columns) have the values, nan for none;
    `windows` says of each column how many ranks a bucket has, 0 where there are none, and by how
    many a value moves at most. Equally likely records are equally likely taken.
    """
    alone = np.zeros((len(before), len(after)), dtype=np.int32)
    lists = []
    for column, (width, most) in enumerate(windows):
        known_ranks, ranks = (_ranks(one[:, column], after[:, column]) for one in (before, after))
        moves = np.abs(known_ranks[:, None] - ranks[None, :])
        if width:
            moves = np.abs((known_ranks // width)[:, None] - (ranks // width)[None, :])
        else:
            moves = np.where(moves > most, -_NEVER, 0)
        is_missing = [np.isnan(one[:, column]) for one in (before, after)]
        moves[is_missing[0][:, None] != is_missing[1][None, :]] = -_NEVER
        moves[is_missing[0][:, None] & is_missing[1][None, :]] = 0
        alone -= moves.astype(np.int32)
        lists.append(swapped_values(before[:, [column]], after[:, [column]]))
    scores = np.maximum(alone, _NEVER)
    for _ in range(_ROUNDS):
        together = alone.copy()
        for one in lists:
            together += _partner_scores(scores, one)
        scores = np.maximum(together - together.max(axis=1, keepdims=True), _NEVER)
    is_best = scores == 0
    has_own = own >= 0
    chances = np.zeros(len(before))
    chances[has_own] = is_best[np.flatnonzero(has_own), own[has_own]]
    probabilities: Floats = chances / is_best.sum(axis=1)
    return probabilities


def _ranks(values: Floats, ordered: Floats) -> Ints:
    """Return the ranks of values among others, in the middle of their equals, 0 of none."""
    present = np.sort(ordered[~np.isnan(ordered)])
    first, behind = (np.searchsorted(present, values, side=one) for one in ("left", "right"))
    ranks: Ints = np.where(np.isnan(values), 0, (first + np.maximum(behind - 1, first)) // 2)
    return ranks


def _partner_scores(scores: Ints, values: SwappedValues) -> Ints:
    """Return the best score of partners, (persons, records), 0 where nobody knows who they are."""
    persons, records = values.persons, values.records
    has_none = values.person_starts[0], values.record_starts[0]
    if has_none[0] == len(persons):
        return np.zeros_like(scores)
    by_person = np.maximum.reduceat(scores[persons[has_none[0] :]], _begins(values.person_starts))
    of_records = by_person[:, records[has_none[1] :]]
    best = np.maximum.reduceat(of_records, _begins(values.record_starts), axis=1)
    of_person, of_record = values.of_person[:, 0], values.of_record[:, 0]
    partner: Ints = best[of_record][:, of_person].T
    is_empty = np.diff(values.person_starts) == 0
    is_unknown = (of_person < 0)[:, None] | ((of_record < 0) | is_empty[of_record])[None, :]
    return np.where(is_unknown, 0, partner)


def _begins(starts: Ints) -> Ints:
    begins: Ints = np.minimum(starts[:-1] - starts[0], starts[-1] - starts[0] - 1)
    return begins
