"""Links by rank swapping in pairs, followed to the end: what a link means for the partner, for the
partner's partner, and so on.

If a record is person i's and shows the value of person j, then the record that shows i's value is
j's. So of values that nobody else has, a link is right only if the links of the partners are, in
each swapped column; of shared values, as many persons with one have records that show another as
the reverse.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.balancing import record_scales
from policy_engine.kernels.chosen_persons import ChosenPersons, choose_persons, order_persons
from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.linkage.column_likelihood import TRANSITIONS, SearchModel
from policy_engine.kernels.linkage.likelihood import LikelihoodFiles, most_likely, score
from policy_engine.kernels.linkage.tree import STACK

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_FOLLOWED = 64
"""Links that a link means, until it is believed: in windows as wide as the ranks allow, a wrong one
survives so many with a probability below 1e-7."""
_LEAST_EVIDENCE = -12.0
"""A link is given up that is exp(12) times less likely than chance, by what it means so far."""
_MOST_PAIRS, _FEWEST_PERSONS, _MOST_PERSONS = 1_000_000, 100, 10_000
"""Of more pairs that are possible, or of more persons, some persons are looked at, so many at
least."""
_MOST_COMPARED = 50_000
"""Of more records that are possible for a person, some are compared with the own one."""
_SAMPLED, _FEWEST_SAMPLED = 1 << 24, 16
"""Pairs by which it is estimated how likely a person's record is by chance, and records at least;
of few records, all."""
_ROUNDS = 40
_BALANCED, _BALANCED_LAST = 3, 50
"""How often the probabilities of persons and of records are made 1 in sum, in a round and last."""
_LEAST, _IMPOSSIBLE = 1e-9, -1e4
_ROUNDING = 1e-9


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
            ends = np.cumsum(np.bincount(places, minlength=len(distinct)))
            starts.append(sum(map(len, rows)) + ends)
            rows.append(order)
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


def records_by_exchanges(files: LikelihoodFiles, swapped: SwappedValues, own: Ints) -> TakenRecords:
    """Return for each person the record whose link has the most evidence, or several.

    A link implies others where nobody else has the values that it exchanges. Its evidence is how
    much likelier all of these are together than by chance; none of them may be impossible, and
    nobody may have two records. Where too many pairs are possible, some persons are looked at.
    Where too many records are for one person, some of them are, and the `own` one, (persons,), -1
    for none: then more persons find theirs than would, not fewer.
    """
    tree, model, _ = files
    count = len(model.known)
    work = _Work(
        tree.places(np.arange(len(tree.rows))),
        _greatest_of_persons(model),
        np.full(count, np.nan),
        np.zeros(count, dtype=np.int64),
        np.empty(count, dtype=np.int64),
        np.zeros(len(tree.rows), dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.empty(_MOST_FOLLOWED, dtype=np.int64),
        np.empty(STACK, dtype=np.int64),
        np.empty(len(tree.rows), dtype=np.int64),
        max(len(tree.rows) // max(_SAMPLED // count, _FEWEST_SAMPLED), 1),
    )
    chosen = _choose_persons(files, work)
    starts, done, records = np.zeros(len(chosen.persons) + 1, np.int64), 0, np.empty(0, np.int64)
    while done < len(chosen.persons):  # there may be room for some persons alone
        more = np.empty(max(len(records), len(tree.rows)), dtype=np.int64)
        records = np.concatenate([records[: starts[done]], more])
        done = _take(*files, swapped, own, work, chosen.persons, done, starts, records)
    return TakenRecords(chosen, starts, records[: starts[-1]])


class _Work(NamedTuple):
    """The places of records in the tree, (records,); by person at least the greatest
    log-likelihood, and that by chance, nan until it is known, (persons,) each; what is marked while
    links are followed, with the number of the first one, by person and by record, and the last
    number, (1,); room for persons, nodes, and possible places; and the step from one record to the
    next by which chance is estimated."""

    place_of: Ints
    greatest: Floats
    chance: Floats
    person_marks: Ints
    record_of: Ints
    record_marks: Ints
    last_mark: Ints
    followed: Ints
    stack: Ints
    possible: Ints
    step: int


def _choose_persons(files: LikelihoodFiles, work: _Work) -> ChosenPersons:
    """Return all persons, or where too many pairs are possible some."""
    order = order_persons(files.model.known)
    some = choose_persons(order, _FEWEST_PERSONS).persons
    sizes = np.zeros(len(some), dtype=np.int64)
    _count_possible(*files, some, work.stack, work.possible, sizes)
    most = int(len(order) / (sizes.mean() * len(order) // _MOST_PAIRS + 1))
    return choose_persons(order, min(max(most, _FEWEST_PERSONS), _MOST_PERSONS))


@compiled
def _count_possible(tree, model, masked, persons, stack, possible, sizes):  # type: ignore[no-untyped-def]
    for at in range(len(persons)):
        sizes[at] = _list_possible(tree, model, masked, persons[at], stack, possible)


@compiled
def _list_possible(tree, model, masked, person, stack, possible):  # type: ignore[no-untyped-def]
    """List the places of the records that a person's values can become, and return how many."""
    half, waiting, count = len(tree.starts) // 2, 1, 0
    stack[0] = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if most_likely(tree, model, masked, person, node, -np.inf) == -np.inf:
            continue
        if node < half:
            stack[waiting], stack[waiting + 1] = 2 * node, 2 * node + 1
            waiting += 2
            continue
        for place in range(tree.starts[node], tree.ends[node]):
            if score(tree.points[place], model, masked, person, place, -np.inf) > -np.inf:
                possible[count] = place
                count += 1
    return count


@compiled
def _take(tree, model, masked, swapped, own, work, persons, done, starts, records):  # type: ignore[no-untyped-def]
    """Take records for the persons from number `done` on, and return how many have theirs."""
    for number in range(done, len(persons)):
        person = persons[number]
        count = _list_possible(tree, model, masked, person, work.stack, work.possible)
        end, greatest = starts[number], _LEAST_EVIDENCE
        if end + count > len(records):
            return number
        step, own_place = -(-count // _MOST_COMPARED), -1
        if own[person] >= 0:
            own_place = work.place_of[own[person]]
        for at in range(count):
            place = work.possible[at]
            if at % step and place != own_place:
                continue
            evidence = _follow(tree, model, masked, swapped, work, person, place)
            rounding = _ROUNDING * (1 + abs(greatest))
            if evidence > greatest + rounding:
                greatest, end = evidence, starts[number]
            if evidence >= greatest - rounding and evidence > _LEAST_EVIDENCE:
                records[end] = tree.rows[place]
                end += 1
        starts[number + 1] = end
    return len(persons)


@compiled
def _follow(tree, model, masked, swapped, work, person, place):  # type: ignore[no-untyped-def]
    """Return the evidence for a link and what it means, -inf if anything of it is impossible."""
    work.last_mark[0] += 1
    mark = work.last_mark[0]
    work.person_marks[person], work.record_of[person] = mark, tree.rows[place]
    work.record_marks[tree.rows[place]] = mark
    work.followed[0] = person
    evidence, count, done = 0.0, 1, 0
    while done < count:
        one = work.followed[done]
        record = work.record_of[one]
        at = work.place_of[record]
        log = score(tree.points[at], model, masked, one, at, -np.inf)
        if log == -np.inf:
            return -np.inf
        evidence += log - _chance(tree, model, masked, work, one)
        if evidence < _LEAST_EVIDENCE:
            return -np.inf
        done += 1
        for column in range(swapped.of_person.shape[1]):
            has, shows = swapped.of_person[one, column], swapped.of_record[record, column]
            if has < 0 or shows < 0:
                continue
            if not (_is_alone(swapped, has) and _is_alone(swapped, shows)):
                continue
            partner = swapped.persons[swapped.person_starts[shows]]
            other = swapped.records[swapped.record_starts[has]]
            if work.person_marks[partner] == mark:
                if work.record_of[partner] != other:
                    return -np.inf
            elif work.record_marks[other] == mark:
                return -np.inf
            elif count < len(work.followed):
                work.person_marks[partner], work.record_of[partner] = mark, other
                work.record_marks[other] = mark
                work.followed[count] = partner
                count += 1
    return evidence


@inlined
def _is_alone(swapped, value):  # type: ignore[no-untyped-def]
    """Tell whether one person has a value, and one record shows it: where records are missing,
    either may be another person's."""
    persons = swapped.person_starts[value + 1] - swapped.person_starts[value]
    records = swapped.record_starts[value + 1] - swapped.record_starts[value]
    return persons == 1 and records == 1


@compiled
def _chance(tree, model, masked, work, person):  # type: ignore[no-untyped-def]
    """Return how likely a record at random is a person's, as a logarithm."""
    if np.isnan(work.chance[person]):
        total, count, greatest = 0.0, 0, work.greatest[person]
        for place in range(0, len(tree.rows), work.step):
            log = score(tree.points[place], model, masked, person, place, -np.inf)
            total += np.exp(log - greatest)
            count += 1
        work.chance[person] = greatest + np.log(max(total / count, _LEAST_CHANCE))
    return work.chance[person]


_LEAST_CHANCE = 1e-9
"""Records at random are taken to be likelier than this share of the likeliest that there may be."""


def _greatest_of_persons(model: SearchModel) -> Floats:
    """Return at least the greatest log-likelihood of each person, (persons,): only the likelihoods
    of cells are not 0 at the most."""
    greatest = np.zeros(len(model.known))
    if len(model.beyond):
        of_rows = np.maximum(np.maximum.reduceat(model.logs, model.begins[:-1]), model.beyond)
        for column in np.flatnonzero(model.shapes == TRANSITIONS):
            greatest += of_rows[model.row[:, column]]
    return greatest


def posterior_of_exchanges(log_likelihoods: Floats, swapped: SwappedValues) -> Floats:
    """Return how likely each record is a person's, as logarithms, (persons, records).

    `log_likelihoods` (persons, records) tell it by the values alone, but for a constant of each
    person. By belief propagation: how many persons with one value of a swapped column have records
    that show another is told by the reverse, of all links but for what the column itself has told
    of them; and a record is one person's. For small files.
    """
    likelihoods = np.maximum(log_likelihoods - _greatest(log_likelihoods), _IMPOSSIBLE)
    columns = range(swapped.of_person.shape[1])
    parts = [_column_of(swapped, column) for column in columns]
    messages = [np.zeros_like(likelihoods) for _ in columns]
    together = likelihoods.copy()
    best = together.argmax(axis=1)
    for _ in range(_ROUNDS):
        fresh = [
            _message(_balanced(together - message, _BALANCED), *part)
            for message, part in zip(messages, parts, strict=True)
        ]
        messages = fresh
        together = likelihoods + sum(messages)
        is_as_before = (together.argmax(axis=1) == best).all()
        best = together.argmax(axis=1)
        if is_as_before:
            break
    with np.errstate(divide="ignore"):
        posterior: Floats = np.log(_balanced(together, _BALANCED_LAST))
    return posterior


def _greatest(log_likelihoods: Floats) -> Floats:
    greatest: Floats = log_likelihoods.max(axis=1, keepdims=True)
    return np.where(greatest > -np.inf, greatest, 0.0)  # of whom no record can be, any may be


def likeliest_records(posterior: Floats) -> TakenRecords:
    """Return for every person the record that is the likeliest, as logarithms, or several."""
    persons, records = np.nonzero(posterior >= posterior.max(axis=1, keepdims=True) - _ROUNDING)
    starts = np.append(0, np.cumsum(np.bincount(persons, minlength=len(posterior))))
    return TakenRecords(ChosenPersons(np.arange(len(posterior)), len(posterior)), starts, records)


def _column_of(swapped: SwappedValues, column: int) -> tuple[Ints, Ints]:
    """Return the values of persons and of records in a column, numbered from 1, and 0 for those
    that have none that anybody shows."""
    of_person, of_record = swapped.of_person[:, column], swapped.of_record[:, column]
    first = of_record.min(initial=of_record.max(initial=0), where=of_record >= 0)
    return np.maximum(of_person - first + 1, 0), np.maximum(of_record - first + 1, 0)


def _message(probabilities: Floats, of_person: Ints, of_record: Ints) -> Floats:
    """Return what the reverse exchanges tell of links, (persons, records): how many more of them
    there are than by chance, as a logarithm; nothing of values that stay, or of the value 0."""
    size = int(max(of_person.max(), of_record.max())) + 1
    # Of persons without a record, the reverse is missing.
    least = max(1 - len(of_record) / len(of_person), _LEAST)
    by_value = np.zeros((size, size))
    order = np.argsort(of_person, kind="stable")
    values, begins = np.unique(of_person[order], return_index=True)
    by_person = np.add.reduceat(probabilities[order], begins, axis=0)
    order = np.argsort(of_record, kind="stable")
    shown_values, begins = np.unique(of_record[order], return_index=True)
    by_value[np.ix_(values, shown_values)] = np.add.reduceat(by_person[:, order], begins, axis=1)
    having, showing = (np.bincount(one, minlength=size) for one in (of_person, of_record))
    by_chance = np.outer(having, showing) / len(of_record)
    gains = np.log((by_value + least) / np.maximum(by_chance, least))
    np.fill_diagonal(gains, 0.0)
    gains[0], gains[:, 0] = 0.0, 0.0
    message: Floats = gains[of_record][:, of_person].T
    return message


def _balanced(logs: Floats, rounds: int) -> Floats:
    """Return probabilities whose sums are 1 by person, and by record about 1 or less."""
    weights: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights *= record_scales(weights, np.ones(len(weights)), rounds)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
