"""Links by rank swapping in pairs: a record is a person's only if others are those of the partners.

If a record is person i's and shows the value of person j, then the record that shows i's value is
j's. So a record is possible only if those of all partners are, in each of their swapped columns.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.chosen_persons import ChosenPersons, choose_persons, order_persons
from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.linkage.tree import STACK, PointTree
from policy_engine.kernels.linkage.windows import records_within

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEPS = 3
"""How far partners of partners are followed."""
_MOST_TIED = 64
"""Of so many pairs of a person and a record with the same values, some fits nearly always."""
_MOST_PAIRS = 1_000_000
"""Of more pairs that the windows leave, those of some persons are looked at."""
_FEWEST_PERSONS = 300


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
    persons: list[Ints] = []
    records: list[Ints] = []
    person_starts, record_starts = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    size = 0
    for column in range(before.shape[1]):
        distinct = np.unique(after[:, column][~np.isnan(after[:, column])])
        for values, numbers, rows, starts in (
            (before[:, column], of_person, persons, person_starts),
            (after[:, column], of_record, records, record_starts),
        ):
            order = np.argsort(values)  # what is looked for in order is found in less time
            places = np.searchsorted(distinct, values[order])
            is_there = np.append(distinct, np.nan)[places] == values[order]
            order, places = order[is_there], places[is_there]
            numbers[order, column] = size + places
            rows.append(order)
            ends = np.cumsum(np.bincount(places, minlength=len(distinct)))
            starts.append(starts[-1][-1] + ends)
        size += len(distinct)
    lists = [np.concatenate(one) for one in (persons, person_starts, records, record_starts)]
    return SwappedValues(of_person, of_record, *lists)


class TakenRecords(NamedTuple):
    """The records that an intruder takes for some persons, one of several as likely as another.

    Those of the person chosen i-th are `records[starts[i]:starts[i + 1]]`; there may be none.
    """

    chosen: ChosenPersons
    starts: Ints
    records: Ints


def links_of(taken: TakenRecords, own: Ints) -> Floats:
    """Return for each person the probability that the own record is taken, (persons,).

    `own` (persons,) is its number, -1 where there is none.
    """
    sizes = np.diff(taken.starts)
    place = np.repeat(np.arange(len(sizes)), sizes)
    is_own = taken.records == own[taken.chosen.persons][place]
    counts = np.bincount(place, weights=is_own, minlength=len(sizes))
    return taken.chosen.stand_for_all(counts / np.maximum(sizes, 1), own >= 0)


def records_by_partners(
    tree: PointTree,
    known_values: Floats,
    low: Floats,
    high: Floats,
    swapped: SwappedValues,
    *,
    is_whole: bool,
) -> TakenRecords:
    """Return the records that are taken for persons.

    The nearest point of the tree is taken of those between `low` and `high`, (persons, columns),
    whose partners' records are between theirs, and so on. Equally near ones are equally likely.
    If persons or records are missing, not `is_whole`, only those are partners who are the only ones
    with their values. Where the windows leave too many pairs, some of the persons are looked for.
    """
    released = np.empty_like(tree.points)
    released[tree.rows] = tree.points
    most = _MOST_TIED if is_whole else 1
    if not is_whole:
        # The record that shows a value which several persons have may be the partner's of another.
        is_shared = np.append(np.diff(swapped.person_starts) > 1, False)
        of_person = np.where(is_shared[swapped.of_person], -1, swapped.of_person)
        swapped = swapped._replace(of_person=of_person)
    ends = (np.ascontiguousarray(low), np.ascontiguousarray(high))
    stack = np.empty(STACK, dtype=np.int64)
    candidates = np.empty(len(released), dtype=np.int64)
    chosen = _choose_persons(tree, known_values, *ends)
    persons = chosen.persons
    starts, memory = np.zeros(len(persons) + 1, dtype=np.int64), (stack, candidates)
    files, done, records = (tree, released, known_values, *ends, swapped), 0, np.empty(0, np.int64)
    while done < len(persons):  # there may be room for some persons alone
        more = np.empty(max(len(records), len(released)), dtype=np.int64)
        records = np.concatenate([records[: starts[done]], more])
        done = _take(*files, most, persons, done, memory, starts, records)
    return TakenRecords(chosen, starts, records[: starts[-1]])


def _choose_persons(
    tree: PointTree, known_values: Floats, low: Floats, high: Floats
) -> ChosenPersons:
    """Return all persons, or where the windows leave too many pairs some."""
    order = order_persons(known_values)
    some = choose_persons(order, _FEWEST_PERSONS).persons
    pairs = records_within(tree, low[some], high[some]).mean() * len(order)
    most = int(len(order) / (pairs // _MOST_PAIRS + 1))
    return choose_persons(order, max(most, _FEWEST_PERSONS))


@inlined
def _overlap(least, greatest, low, high):  # type: ignore[no-untyped-def]
    for column in range(len(least)):
        if greatest[column] < low[column] or least[column] > high[column]:
            return False
    return True


@compiled
def _take(tree, released, values, low, high, swapped, most, persons, done, memory, starts, records):  # type: ignore[no-untyped-def]
    """Take records for the persons from number `done` on, and return how many have theirs."""
    stack, candidates = memory
    half = len(tree.starts) // 2
    for number in range(done, len(persons)):
        person, waiting, count = persons[number], 1, 0
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
            for place in range(tree.starts[node], tree.ends[node]):
                point, record = tree.points[place], tree.rows[place]
                # To look at this first saves most calls.
                if _overlap(point, point, low[person], high[person]) and _is_possible(
                    released, low, high, swapped, person, record, most, 1
                ):
                    candidates[count] = record
                    count += 1
        for steps in range(2, _STEPS + 1):
            every, count = count, 0 if count > 1 else count
            for place in range(every if count == 0 else 0):
                record = candidates[place]
                if _is_possible(released, low, high, swapped, person, record, most, steps):
                    candidates[count] = record
                    count += 1
        nearest, end = np.inf, starts[number]
        if end + count > len(records):
            return number
        for record in candidates[:count]:
            distance = _distance(values[person], released[record])
            if distance < nearest:
                nearest, end = distance, starts[number]
            if distance == nearest:
                records[end] = record
                end += 1
        starts[number + 1] = end
    return len(persons)


@compiled
def _distance(one, other):  # type: ignore[no-untyped-def]
    distance = 0.0
    for column in range(len(one)):
        distance += (one[column] - other[column]) ** 2
    return distance


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


def records_by_buckets(
    before: Floats, after: Floats, windows: list[tuple[int, int]]
) -> TakenRecords:
    """Return the records that are taken for persons.

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
    persons, records = np.nonzero(scores == 0)
    starts = np.append(0, np.cumsum(np.bincount(persons, minlength=len(before))))
    return TakenRecords(ChosenPersons(np.arange(len(before)), len(before)), starts, records)


def _ranks(values: Floats, ordered: Floats) -> Ints:
    """Return the ranks of values among others, in the middle of their equals, 0 of none."""
    present = np.sort(ordered[~np.isnan(ordered)])
    first, behind = (np.searchsorted(present, values, side=one) for one in ("left", "right"))
    ranks: Ints = np.where(np.isnan(values), 0, (first + np.maximum(behind - 1, first)) // 2)
    return ranks


def _partner_scores(scores: Ints, values: SwappedValues) -> Ints:
    """Return the best score of partners, (persons, records), 0 where nobody knows who they are."""
    persons, records = values.persons, values.records
    if not len(persons):
        return np.zeros_like(scores)
    # Where nobody has the last values, the last person stands for nobody, and is left out below.
    starts = np.minimum(values.person_starts[:-1], len(persons) - 1)
    by_person = np.maximum.reduceat(scores[persons], starts)
    best = np.maximum.reduceat(by_person[:, records], values.record_starts[:-1], axis=1)
    of_person, of_record = values.of_person[:, 0], values.of_record[:, 0]
    partner: Ints = best[of_record][:, of_person].T
    is_empty = np.diff(values.person_starts) == 0
    is_unknown = (of_person < 0)[:, None] | ((of_record < 0) | is_empty[of_record])[None, :]
    return np.where(is_unknown, 0, partner)
