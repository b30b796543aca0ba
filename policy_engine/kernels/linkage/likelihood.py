"""Record linkage by the likelihood of a published mechanism: a transparency attack.

Who knows how a file was masked, and with which parameters, takes for a person the masked record
that the person's values were most likely to become (Nin, Herranz and Torra: Rethinking rank
swapping to decrease disclosure risk, Data and Knowledge Engineering 64(1), 2008, for the notion).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.linkage.column_likelihood import (
    LAPLACE,
    NORMAL,
    TRANSITIONS,
    TRIANGLE,
    ColumnLikelihood,
    LikelyPersons,
    MaskedCells,
    SearchModel,
    TransitionTables,
    known_persons,
    masked_cells,
    search_model,
    transition_tables,
)
from policy_engine.kernels.linkage.tree import STACK, PointTree, is_one_point, plant
from policy_engine.kernels.searching import Search, search_here

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_ROUNDING = 1e-10
"""Log-likelihoods that differ by less than this share of them, or of 1, are equal."""


@dataclass(frozen=True)
class LikelihoodLinks:
    """By person: the probability of a right link, and the log-likelihood of the own record.

    (persons,) each; a log-likelihood is told but for a constant of the person, and -inf for what
    the mechanism does not make, and for a person without a record.
    """

    linked: Floats
    log_likelihood: Floats


def likelihood_links(columns: Sequence[ColumnLikelihood], own: Ints) -> LikelihoodLinks:
    """Return what an intruder reaches who takes the record with the greatest likelihood.

    `columns`, at least one, were masked independently of each other, or have been made so, as
    those of correlated noise. Of t equally likely records an intruder takes one: a link is right
    with the probability 1/t if the person's `own` record, (persons,), is among them, otherwise
    with 0; -1 is a person without a record. No order of rows decides anything.
    """
    index, persons = _arranged(columns, own)
    return index.look_up(persons)


def links_by_likelihood(
    columns: Sequence[ColumnLikelihood], own: Ints, search: Search = search_here
) -> Floats:
    """Return the probabilities of right links of `likelihood_links`, (persons,).

    `search` says where the records are looked for.
    """
    return search(*_arranged(columns, own))


class LikelihoodFiles(NamedTuple):
    """Records as points of a tree, what is known of persons, and the cells of the records."""

    tree: PointTree
    model: SearchModel
    masked: MaskedCells


def likelihood_files(columns: Sequence[ColumnLikelihood]) -> LikelihoodFiles:
    """Return the records and persons of columns as searches take them."""
    tree = plant(np.column_stack([column.released for column in columns]))
    own = np.full(len(columns[0].known), -1)
    model = search_model(transition_tables(columns), known_persons(columns, own))
    return LikelihoodFiles(tree, model, masked_cells(columns, tree))


def greatest_likelihoods(columns: Sequence[ColumnLikelihood], persons: Ints) -> Floats:
    """Return the log-likelihood of the likeliest record for some `persons`, (persons,).

    -inf for whom there is none. They are told as those of `likelihood_links`.
    """
    likelihoods, stack = np.empty(len(persons)), np.empty(STACK, dtype=np.int64)
    _approach(*likelihood_files(columns), persons, stack, likelihoods)
    return likelihoods


def log_likelihoods(columns: Sequence[ColumnLikelihood], persons: Ints | None = None) -> Floats:
    """Return the log-likelihood of every record for some or all persons, (persons, records).

    Of columns that were drawn by a matrix, or to which noise was added, they are told but for a
    constant of all; of others, as those of `likelihood_links`. For small files, or few persons.
    """
    files = likelihood_files(columns)
    some = np.arange(len(files.model.known)) if persons is None else persons
    likelihoods = np.empty((len(some), len(files.tree.rows)))
    _fill(*files, some, likelihoods)
    return likelihoods


@dataclass(frozen=True, eq=False)
class LikelihoodIndex:
    """Records as points, and how likely values become each of them."""

    tree: PointTree
    tables: TransitionTables
    masked: MaskedCells

    def links(self, persons: LikelyPersons) -> Floats:
        """Return the probability of a right link, (persons,)."""
        return self.look_up(persons).linked

    def look_up(self, persons: LikelyPersons) -> LikelihoodLinks:
        """Return the probability of a right link, and the log-likelihood of the own record."""
        count = len(persons.own)
        linked, logs = np.zeros(count), np.full(count, -np.inf)
        # Persons whose records are neighbours visit the same nodes, which are then at hand.
        turns = np.argsort(persons.own, kind="stable")
        stack, model = np.empty(STACK, dtype=np.int64), search_model(self.tables, persons)
        _link(self.tree, model, self.masked, persons.own, turns, stack, linked, logs)
        return LikelihoodLinks(linked, logs)


def _arranged(
    columns: Sequence[ColumnLikelihood], own: Ints
) -> tuple[LikelihoodIndex, LikelyPersons]:
    tree = plant(np.column_stack([column.released for column in columns]))
    index = LikelihoodIndex(tree, transition_tables(columns), masked_cells(columns, tree))
    return index, known_persons(columns, tree.places(own))


@compiled
def _link(tree, model, masked, own, turns, stack, linked, logs):  # type: ignore[no-untyped-def]
    for person in turns:
        place = own[person]
        if place >= 0:
            log = score(tree.points[place], model, masked, person, place, -np.inf)
            logs[person] = log
            if log > -np.inf:
                ties = _search(tree, model, masked, person, log, stack)
                if ties > 0:
                    linked[person] = 1.0 / ties


@compiled
def _fill(tree, model, masked, persons, likelihoods):  # type: ignore[no-untyped-def]
    for at in range(len(persons)):
        for place in range(len(tree.rows)):
            log = score(tree.points[place], model, masked, persons[at], place, -np.inf)
            likelihoods[at, tree.rows[place]] = log


@compiled
def _search(tree, model, masked, person, log, stack):  # type: ignore[no-untyped-def]
    """Return how many records are as likely as a log-likelihood; 0 if any is more so."""
    rounding = _ROUNDING * (1 + abs(log))
    tied, better = log - rounding, log + rounding
    half, ties, waiting = len(tree.starts) // 2, 0, 1
    stack[0] = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if (
            is_one_point(tree.low[node], tree.high[node])
            and masked.worst[node] == masked.best[node]
        ):
            place = tree.starts[node]
            likelihood = score(tree.points[place], model, masked, person, place, tied)
            if likelihood > better:
                return 0
            if likelihood >= tied:
                ties += tree.ends[node] - tree.starts[node]
        elif node < half:
            left = most_likely(tree, model, masked, person, 2 * node, tied)
            right = most_likely(tree, model, masked, person, 2 * node + 1, tied)
            likeliest = 2 * node + (right > left)
            if min(left, right) >= tied:
                stack[waiting] = likeliest ^ 1
                waiting += 1
            if max(left, right) >= tied:
                stack[waiting] = likeliest
                waiting += 1
        else:
            for place in range(tree.starts[node], tree.ends[node]):
                likelihood = score(tree.points[place], model, masked, person, place, tied)
                if likelihood > better:
                    return 0
                if likelihood >= tied:
                    ties += 1
    return ties


@compiled
def _approach(tree, model, masked, persons, stack, likelihoods):  # type: ignore[no-untyped-def]
    for at in range(len(persons)):
        likelihoods[at] = _greatest(tree, model, masked, persons[at], stack)


@compiled
def _greatest(tree, model, masked, person, stack):  # type: ignore[no-untyped-def]
    half, greatest, waiting = len(tree.starts) // 2, -np.inf, 1
    stack[0] = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if not most_likely(tree, model, masked, person, node, greatest) > greatest:
            continue
        if node < half and not (
            is_one_point(tree.low[node], tree.high[node])
            and masked.worst[node] == masked.best[node]
        ):
            left = most_likely(tree, model, masked, person, 2 * node, greatest)
            right = most_likely(tree, model, masked, person, 2 * node + 1, greatest)
            likeliest = 2 * node + (right > left)
            stack[waiting], stack[waiting + 1] = likeliest ^ 1, likeliest
            waiting += 2
        else:
            end = tree.ends[node] if node >= half else tree.starts[node] + 1
            for place in range(tree.starts[node], end):
                log = score(tree.points[place], model, masked, person, place, greatest)
                greatest = max(greatest, log)
    return greatest


@inlined
def score(point, model, masked, person, place, enough):  # type: ignore[no-untyped-def]
    """Return the log-likelihood of a record; any smaller number if it is below `enough`."""
    total = masked.bonus[place]
    if _misses(point, point, model, person):
        total = -np.inf
    for column in range(len(point)):
        if total < enough or total == -np.inf:
            break
        shape = model.shapes[column]
        if shape == TRANSITIONS:
            first, last = masked.first[place, column], masked.last[place, column]
            total += _mean(model, person, column, first, last)
        else:
            total += _density(shape, abs(point[column] - model.known[person, column]))
    return total


@inlined
def most_likely(tree, model, masked, person, node, enough):  # type: ignore[no-untyped-def]
    """Return at least the greatest log-likelihood in a node; any number below `enough` if less."""
    total = masked.best[node]
    if _misses(tree.low[node], tree.high[node], model, person):
        total = -np.inf
    for column in range(len(model.shapes)):
        if total < enough:
            break
        shape = model.shapes[column]
        if shape == TRANSITIONS:
            first, last = masked.least[node, column], masked.most[node, column]
            total += _peak(model, person, column, first, last)
        else:
            low, high = tree.low[node, column], tree.high[node, column]
            value = model.known[person, column]
            total += _density(shape, max(low - value, value - high, 0.0))
    return total


@inlined
def _misses(low, high, model, person):  # type: ignore[no-untyped-def]
    """Return whether a box has nothing within the windows of a person."""
    missed = False
    for column in range(model.low.shape[1]):
        if high[column] < model.low[person, column] or low[column] > model.high[person, column]:
            missed = True
            break
    return missed


@inlined
def _density(shape, distance):  # type: ignore[no-untyped-def]
    log = 0.0
    if shape == NORMAL:
        log = -0.5 * distance * distance
    elif shape == LAPLACE:
        log = -distance
    elif shape == TRIANGLE:
        log = np.log(1 - distance) if distance < 1 else -np.inf
    return log


@inlined
def _mean(model, person, column, first, last):  # type: ignore[no-untyped-def]
    """Return the log of the mean likelihood of cells."""
    row, start = model.row[person, column], model.start[person, column]
    begin, end = model.begins[row], model.begins[row + 1]
    low, high = begin + first - start, begin + last - start
    if first == last:
        log = model.logs[low] if begin <= low < end else model.beyond[row]
    else:
        cells = high - low + 1
        low, high = max(low, begin), min(high, end - 1)
        total = 0.0
        if low <= high:
            total = model.sums[high + 1] - model.sums[low]
            total += (cells - (high - low + 1)) * np.exp(model.beyond[row])
        else:
            total = cells * np.exp(model.beyond[row])
        log = np.log(total / cells)
    return log


@inlined
def _peak(model, person, column, first, last):  # type: ignore[no-untyped-def]
    """Return the greatest log-likelihood of cells."""
    row, start = model.row[person, column], model.start[person, column]
    begin, end = model.begins[row], model.begins[row + 1]
    low, high = begin + first - start, begin + last - start
    log = model.beyond[row] if low < begin or high >= end else -np.inf
    low, high = max(low, begin), min(high, end - 1)
    if low <= high:
        # The two longest runs of a power of 2 cells cover them all.
        level = model.levels[high - low + 1]
        behind = high + 1 - (1 << level)
        log = max(log, model.peaks[level, low], model.peaks[level, behind])
    return log
