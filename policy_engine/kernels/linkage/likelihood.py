"""Record linkage by the likelihood of a published mechanism: a transparency attack.

Who knows how a file was masked, and with which parameters, takes for a person the masked record
that the person's values were most likely to become (Nin, Herranz and Torra: Rethinking rank
swapping to decrease disclosure risk, Data and Knowledge Engineering 64(1), 2008, for the notion).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.linkage.tree import STACK, PointTree, is_one_point, plant
from policy_engine.kernels.searching import Search, search_here

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shape = Literal["even", "normal", "laplace", "triangle", "transitions"]

_CODES: dict[Shape, int] = {"even": 0, "normal": 1, "laplace": 2, "triangle": 3, "transitions": 4}
_NORMAL, _LAPLACE, _TRIANGLE, _TRANSITIONS = 1, 2, 3, 4

_ROUNDING = 1e-10
"""Log-likelihoods that differ by less than this share of them, or of 1, are equal."""


@dataclass(frozen=True)
class CellTransitions:
    """How likely each cell is that a value may become: rows of logarithms, the largest being 0.

    Row i is `logs[begins[i]:begins[i + 1]]`, for neighbouring cells; of all others, `beyond[i]`,
    (rows,), is the logarithm. A person's value has the row `row`, which begins at the cell
    `start`, (persons,) each; a masked value takes up the cells `first` to `last`, (records,) each,
    and counts as their mean. Larger masked values have no smaller cells.
    """

    logs: Floats
    begins: Ints
    beyond: Floats
    row: Ints
    start: Ints
    first: Ints
    last: Ints


@dataclass(frozen=True)
class ColumnLikelihood:
    """What an intruder knows of a column, what was released of it, and how it was masked.

    `known` (persons,) and `released` (records,) are finite, in the unit of the mechanism: at the
    distance d of a released value from a known one, the log-likelihood is, but for a constant of
    the person, 0 in the shape `even`, -d**2 / 2 in `normal`, -d in `laplace`, log(1 - d) in
    `triangle`, which ends at 1, and what `transitions` say in that shape. Beyond `low` and
    `high`, (persons,) each, a released value cannot be the person's. `bonus` (records,) is added
    to the log-likelihoods of a record for every person, such as the logarithm of a density.
    """

    shape: Shape
    known: Floats
    released: Floats
    low: Floats | None = None
    high: Floats | None = None
    transitions: CellTransitions | None = None
    bonus: Floats | None = None


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


def greatest_likelihoods(columns: Sequence[ColumnLikelihood], persons: Ints) -> Floats:
    """Return the log-likelihood of the likeliest record for some `persons`, (persons,).

    -inf for whom there is none. They are told as those of `likelihood_links`.
    """
    tree = plant(np.column_stack([column.released for column in columns]))
    found, stack = np.empty(len(persons)), np.empty(STACK, dtype=np.int64)
    own = np.full(len(columns[0].known), -1)
    model = _model(_tables(columns), _known(columns, own))
    _approach(tree, model, _masked(columns, tree), persons, stack, found)
    return found


def log_likelihoods(columns: Sequence[ColumnLikelihood]) -> Floats:
    """Return the log-likelihood of every record for every person, (persons, records).

    As those of `likelihood_links` they are told but for a constant of the person: for small files.
    """
    tree = plant(np.column_stack([column.released for column in columns]))
    found = np.empty((len(columns[0].known), len(tree.rows)))
    model = _model(_tables(columns), _known(columns, np.full(len(found), -1)))
    _fill(tree, model, _masked(columns, tree), found)
    return found


class LikelyPersons(NamedTuple):
    """What is known of persons, (persons, columns) each, with no rows in `low` and `high` where
    there are no windows, and the place of the own record in a tree, -1 for none, (persons,)."""

    known: Floats
    own: Ints
    low: Floats
    high: Floats
    row: NDArray[np.int32]
    start: NDArray[np.int32]


class _Tables(NamedTuple):
    """The shapes of the columns, and the rows of all transitions."""

    shapes: Ints
    logs: Floats
    sums: Floats
    peaks: Floats
    begins: Ints
    beyond: Floats
    levels: Ints


class _Model(NamedTuple):
    """What is known of persons, and the rows of all transitions."""

    shapes: Ints
    known: Floats
    low: Floats
    high: Floats
    row: NDArray[np.int32]
    start: NDArray[np.int32]
    logs: Floats
    sums: Floats
    peaks: Floats
    begins: Ints
    beyond: Floats
    levels: Ints


class _Masked(NamedTuple):
    """The cells of records in the order of a tree, (records, columns), those of its nodes, (nodes,
    columns), and the bonus of each, (records,) and (nodes,)."""

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    least: NDArray[np.int32]
    most: NDArray[np.int32]
    bonus: Floats
    worst: Floats
    best: Floats


@dataclass(frozen=True, eq=False)
class LikelihoodIndex:
    """Records as points, and how likely values become each of them."""

    tree: PointTree
    tables: _Tables
    masked: _Masked

    def links(self, persons: LikelyPersons) -> Floats:
        """Return the probability of a right link, (persons,)."""
        return self.look_up(persons).linked

    def look_up(self, persons: LikelyPersons) -> LikelihoodLinks:
        """Return the probability of a right link, and the log-likelihood of the own record."""
        count = len(persons.own)
        linked, logs = np.zeros(count), np.full(count, -np.inf)
        # Persons whose records are neighbours visit the same nodes, which are then at hand.
        turns = np.argsort(persons.own, kind="stable")
        stack, model = np.empty(STACK, dtype=np.int64), _model(self.tables, persons)
        _link(self.tree, model, self.masked, persons.own, turns, stack, linked, logs)
        return LikelihoodLinks(linked, logs)


def _arranged(
    columns: Sequence[ColumnLikelihood], own: Ints
) -> tuple[LikelihoodIndex, LikelyPersons]:
    tree = plant(np.column_stack([column.released for column in columns]))
    index = LikelihoodIndex(tree, _tables(columns), _masked(columns, tree))
    return index, _known(columns, tree.places(own))


def _model(tables: _Tables, persons: LikelyPersons) -> _Model:
    known, _, low, high, row, start = persons
    return _Model(tables.shapes, known, low, high, row, start, *tables[1:])


def _known(columns: Sequence[ColumnLikelihood], own: Ints) -> LikelyPersons:
    """Return what is known of persons whose `own` records have these places."""
    persons = len(own)
    tables = [column.transitions for column in columns]
    rows = np.cumsum([0] + [0 if table is None else len(table.beyond) for table in tables])
    row, start = (np.zeros((persons, len(columns)), dtype=np.int32) for _ in range(2))
    for place, table in enumerate(tables):
        if table is not None:
            row[:, place], start[:, place] = table.row + rows[place], table.start
    known = np.column_stack([column.known for column in columns])
    return LikelyPersons(known, own, *_ends(columns, persons), row, start)


def _tables(columns: Sequence[ColumnLikelihood]) -> _Tables:
    given = [column.transitions for column in columns if column.transitions is not None]
    entries = np.cumsum([0] + [len(table.logs) for table in given])
    logs = np.concatenate([np.empty(0), *(table.logs for table in given)])
    offsets = zip(given, entries.tolist(), strict=False)
    begins = np.concatenate([*(table.begins[:-1] + one for table, one in offsets), entries[-1:]])
    sums = np.append(0.0, np.cumsum(np.exp(logs)))
    longest = int(np.diff(begins).max(initial=1))
    levels = np.array([max(size, 1).bit_length() - 1 for size in range(longest + 1)])
    beyond = np.concatenate([np.empty(0), *(table.beyond for table in given)])
    shapes = np.array([_CODES[column.shape] for column in columns])
    peaks = _peaks(logs, int(levels[-1]) + 1)
    return _Tables(shapes, logs, sums, peaks, begins, beyond, levels)


def _ends(columns: Sequence[ColumnLikelihood], persons: int) -> tuple[Floats, Floats]:
    """Return the windows of all columns, (persons, columns), with no rows if there are none."""
    if all(column.low is None and column.high is None for column in columns):
        return np.empty((0, 0)), np.empty((0, 0))
    low, high = (np.full((persons, len(columns)), end) for end in (-np.inf, np.inf))
    for place, column in enumerate(columns):
        if column.low is not None:
            low[:, place] = column.low
        if column.high is not None:
            high[:, place] = column.high
    return low, high


def _peaks(logs: Floats, levels: int) -> Floats:
    """Return the greatest of the next 2**level entries from each on, (levels, entries)."""
    peaks = np.empty((levels, len(logs)))
    peaks[:1] = logs
    for level in range(1, levels):
        half = 1 << (level - 1)
        peaks[level] = peaks[level - 1]
        ahead = peaks[level - 1, half:]
        np.maximum(peaks[level, : len(ahead)], ahead, out=peaks[level, : len(ahead)])
    return peaks


def _masked(columns: Sequence[ColumnLikelihood], tree: PointTree) -> _Masked:
    first, last = (np.zeros((len(tree.rows), len(columns)), dtype=np.int32) for _ in range(2))
    bonus = np.zeros(len(tree.rows))
    for place, column in enumerate(columns):
        if column.transitions is not None:
            first[:, place] = column.transitions.first[tree.rows]
            last[:, place] = column.transitions.last[tree.rows]
        if column.bonus is not None:
            bonus += column.bonus[tree.rows]
    # None adds anything then: a sum that has fallen below what is looked for stays below it.
    bonus -= bonus.max(initial=-np.inf)
    least, most = _by_node(first, tree, np.minimum), _by_node(last, tree, np.maximum)
    worst, best = _by_node(bonus, tree, np.minimum), _by_node(bonus, tree, np.maximum)
    return _Masked(first, last, least, most, bonus, worst, best)


def _by_node(values: NDArray[Any], tree: PointTree, extreme: np.ufunc) -> NDArray[Any]:
    """Return the least or the greatest value of each node, (nodes, ...)."""
    half = len(tree.starts) // 2
    found = np.zeros((len(tree.starts), *values.shape[1:]), dtype=values.dtype)
    found[half:] = extreme.reduceat(values, tree.starts[half:], axis=0)
    while half > 1:
        found[half // 2 : half] = extreme(
            found[half : 2 * half : 2], found[half + 1 : 2 * half : 2]
        )
        half //= 2
    return found


@compiled
def _link(tree, model, masked, own, turns, stack, linked, logs):  # type: ignore[no-untyped-def]
    for person in turns:
        place = own[person]
        if place >= 0:
            log = _score(tree.points[place], model, masked, person, place, -np.inf)
            logs[person] = log
            if log > -np.inf:
                ties = _search(tree, model, masked, person, log, stack)
                if ties > 0:
                    linked[person] = 1.0 / ties


@compiled
def _fill(tree, model, masked, found):  # type: ignore[no-untyped-def]
    for person in range(len(found)):
        for place in range(len(tree.rows)):
            log = _score(tree.points[place], model, masked, person, place, -np.inf)
            found[person, tree.rows[place]] = log


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
            found = _score(tree.points[place], model, masked, person, place, tied)
            if found > better:
                return 0
            if found >= tied:
                ties += tree.ends[node] - tree.starts[node]
        elif node < half:
            left = _most(tree, model, masked, person, 2 * node, tied)
            right = _most(tree, model, masked, person, 2 * node + 1, tied)
            likeliest = 2 * node + (right > left)
            if min(left, right) >= tied:
                stack[waiting] = likeliest ^ 1
                waiting += 1
            if max(left, right) >= tied:
                stack[waiting] = likeliest
                waiting += 1
        else:
            for place in range(tree.starts[node], tree.ends[node]):
                found = _score(tree.points[place], model, masked, person, place, tied)
                if found > better:
                    return 0
                if found >= tied:
                    ties += 1
    return ties


@compiled
def _approach(tree, model, masked, persons, stack, found):  # type: ignore[no-untyped-def]
    for at in range(len(persons)):
        found[at] = _greatest(tree, model, masked, persons[at], stack)


@compiled
def _greatest(tree, model, masked, person, stack):  # type: ignore[no-untyped-def]
    half, greatest, waiting = len(tree.starts) // 2, -np.inf, 1
    stack[0] = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if not _most(tree, model, masked, person, node, greatest) > greatest:
            continue
        if node < half and not (
            is_one_point(tree.low[node], tree.high[node])
            and masked.worst[node] == masked.best[node]
        ):
            left = _most(tree, model, masked, person, 2 * node, greatest)
            right = _most(tree, model, masked, person, 2 * node + 1, greatest)
            likeliest = 2 * node + (right > left)
            stack[waiting], stack[waiting + 1] = likeliest ^ 1, likeliest
            waiting += 2
        else:
            end = tree.ends[node] if node >= half else tree.starts[node] + 1
            for place in range(tree.starts[node], end):
                score = _score(tree.points[place], model, masked, person, place, greatest)
                greatest = max(greatest, score)
    return greatest


@inlined
def _score(point, model, masked, person, place, enough):  # type: ignore[no-untyped-def]
    """Return the log-likelihood of a record; any smaller number if it is below `enough`."""
    total = masked.bonus[place]
    if _misses(point, point, model, person):
        total = -np.inf
    for column in range(len(point)):
        if total < enough or total == -np.inf:
            break
        shape = model.shapes[column]
        if shape == _TRANSITIONS:
            first, last = masked.first[place, column], masked.last[place, column]
            total += _mean(model, person, column, first, last)
        else:
            total += _density(shape, abs(point[column] - model.known[person, column]))
    return total


@inlined
def _most(tree, model, masked, person, node, enough):  # type: ignore[no-untyped-def]
    """Return at least the greatest log-likelihood in a node; any number below `enough` if less."""
    total = masked.best[node]
    if _misses(tree.low[node], tree.high[node], model, person):
        total = -np.inf
    for column in range(len(model.shapes)):
        if total < enough:
            break
        shape = model.shapes[column]
        if shape == _TRANSITIONS:
            first, last = masked.least[node, column], masked.most[node, column]
            total += _peak(model, person, column, first, last)
        else:
            low, high = tree.low[node, column], tree.high[node, column]
            known = model.known[person, column]
            total += _density(shape, max(low - known, known - high, 0.0))
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
    if shape == _NORMAL:
        log = -0.5 * distance * distance
    elif shape == _LAPLACE:
        log = -distance
    elif shape == _TRIANGLE:
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
