"""Distance-based record linkage, by whether any record is nearer than a person's own."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.linkage.tree import STACK, PointTree, is_one_point
from policy_engine.kernels.searching import Search, search_here

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING = 1e-12
"""Squared distances that differ by less than this share of them are equal."""
_EVERYWHERE = np.empty((0, 0))


def links(
    tree: PointTree,
    known_values: Floats,
    own: Ints,
    low: Floats | None = None,
    high: Floats | None = None,
    search: Search = search_here,
) -> Floats:
    """Return for each person the probability of being linked to the right record, (persons,).

    An intruder who knows the `known_values`, (persons, columns), of a person takes the
    record nearest by Euclidean distance, or one of t equally near ones: 1/t if the person's `own`
    record, (persons,), a row of the tree's points, is among them, and otherwise 0, as for a person
    without a record (-1). So the mean is the share of distance-based linkage (Pagliuca and Seri,
    1999). Scale both as the intruder would. Between `low` and `high`, (persons, columns) each, lie
    the only records that may be the person's, such as rank swapping allows (Nin, Herranz and Torra,
    2008); without them, any may. No order of rows decides anything. `search` says where the records
    are looked for.
    """
    box = (_EVERYWHERE, _EVERYWHERE) if low is None or high is None else (low, high)
    return search(NearestIndex(tree), NearPersons(known_values, tree.places(own), *box))


class NearPersons(NamedTuple):
    """Persons among points: what is known, the place of the own record in the tree or -1, and
    between which values the own record lies, with no rows where nobody knows."""

    known: Floats
    own: Ints
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class NearestIndex:
    """Records as points, of which the nearest is a person's."""

    tree: PointTree

    def links(self, persons: NearPersons) -> Floats:
        """Return the probability of a right link, (persons,)."""
        probabilities = np.zeros(len(persons.own))
        # Persons whose records are neighbours visit the same nodes, which are then at hand.
        turns = np.argsort(persons.own, kind="stable")
        known_values, own = np.ascontiguousarray(persons.known), persons.own
        stack = np.empty(STACK, dtype=np.int64)
        _link(self.tree, known_values, own, turns, persons.low, persons.high, stack, probabilities)
        return probabilities


def nearest_distances(
    tree: PointTree,
    known_values: Floats,
    persons: Ints,
    low: Floats | None = None,
    high: Floats | None = None,
) -> Floats:
    """Return how far the nearest record is from some `persons`, rows of `known_values`, (persons,).

    In squares of the unit of the points; inf for whom no record lies between `low` and `high`,
    which are as in `links`.
    """
    distances = np.empty(len(persons))
    box = (_EVERYWHERE, _EVERYWHERE) if low is None or high is None else (low, high)
    stack = np.empty(STACK, dtype=np.int64)
    _approach(tree, np.ascontiguousarray(known_values), persons, *box, stack, distances)
    return distances


@compiled
def _link(tree, known_values, own, turns, low, high, stack, probabilities):  # type: ignore[no-untyped-def]
    for person in turns:
        place = own[person]
        if place >= 0 and _is_within(tree.points[place], person, low, high):
            radius = _distance(known_values[person], tree.points[place])
            ties = _search(tree, known_values[person], radius, person, low, high, stack)
            if ties > 0:
                probabilities[person] = 1.0 / ties


@compiled
def _search(tree, point, radius, person, low, high, stack):  # type: ignore[no-untyped-def]
    """Return how many records are as near as one at the radius; 0 if any is nearer."""
    nearer, tied = radius * (1 - _ROUNDING), radius * (1 + _ROUNDING)
    half, ties, waiting = len(tree.starts) // 2, 0, 1
    stack[0] = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if _misses(tree.low[node], tree.high[node], person, low, high):
            continue
        is_point = is_one_point(tree.low[node], tree.high[node])
        if is_point and _distance_to_box(point, tree.low[node], tree.high[node]) < nearer:
            return 0
        if node < half and not is_point:
            left = _distance_to_box(point, tree.low[2 * node], tree.high[2 * node])
            right = _distance_to_box(point, tree.low[2 * node + 1], tree.high[2 * node + 1])
            nearest = 2 * node + (right < left)
            # The radius stays as it is, so that boxes beyond it need not wait.
            if max(left, right) <= tied:
                stack[waiting] = nearest ^ 1
                waiting += 1
            if min(left, right) <= tied:
                stack[waiting] = nearest
                waiting += 1
        elif node < half:
            ties += tree.ends[node] - tree.starts[node]
        else:
            for place in range(tree.starts[node], tree.ends[node]):
                distance = _distance(point, tree.points[place])
                if distance <= tied and _is_within(tree.points[place], person, low, high):
                    if distance < nearer:
                        return 0
                    ties += 1
    return ties


@compiled
def _approach(tree, known_values, persons, low, high, stack, distances):  # type: ignore[no-untyped-def]
    for at in range(len(persons)):
        distances[at] = _least(tree, known_values[persons[at]], persons[at], low, high, stack)


@compiled
def _least(tree, point, person, low, high, stack):  # type: ignore[no-untyped-def]
    half, least, waiting = len(tree.starts) // 2, np.inf, 1
    stack[0] = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if _distance_to_box(point, tree.low[node], tree.high[node]) >= least:
            continue
        if _misses(tree.low[node], tree.high[node], person, low, high):
            continue
        if node < half:
            left = _distance_to_box(point, tree.low[2 * node], tree.high[2 * node])
            right = _distance_to_box(point, tree.low[2 * node + 1], tree.high[2 * node + 1])
            nearest = 2 * node + (right < left)
            stack[waiting], stack[waiting + 1] = nearest ^ 1, nearest
            waiting += 2
        else:
            for place in range(tree.starts[node], tree.ends[node]):
                distance = _distance(point, tree.points[place])
                if distance < least and _is_within(tree.points[place], person, low, high):
                    least = distance
    return least


@inlined
def _distance(one, other):  # type: ignore[no-untyped-def]
    total = 0.0
    for column in range(len(one)):
        away = one[column] - other[column]
        total += away * away
    return total


@inlined
def _distance_to_box(point, low, high):  # type: ignore[no-untyped-def]
    # At most the distance to any point in the box, rounding included.
    total = 0.0
    for column in range(len(point)):
        away = max(low[column] - point[column], point[column] - high[column], 0.0)
        total += away * away
    return total


@inlined
def _is_within(point, person, low, high):  # type: ignore[no-untyped-def]
    inside = True
    if len(low) > 0:
        for column in range(len(point)):
            if not low[person, column] <= point[column] <= high[person, column]:
                inside = False
                break
    return inside


@inlined
def _misses(least, greatest, person, low, high):  # type: ignore[no-untyped-def]
    missed = False
    if len(low) > 0:
        for column in range(len(least)):
            if greatest[column] < low[person, column] or least[column] > high[person, column]:
                missed = True
                break
    return missed
