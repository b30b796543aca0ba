"""Whether a growing set of rows satisfies every bound, for compiled code.

The same bounds as those of `diversity`, on purpose computed another way: there, on the output, by
the definitions; here row by row, as often as the partitioner tries a cut.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.bounds import TOLERANCE, Ancestry, ClassConstraint, Diversity
from policy_engine.kernels.compiled import compiled, linked

Codes = NDArray[np.int32]


class Watch(NamedTuple):
    """The bounds in a few arrays, with one row for each sensitive column that has any.

    `facts` (columns + 1, 4) holds COLUMN, its number, the DISTANCE of t-closeness, and where
    its values and its taxonomy's nodes begin: OFFSET in `shares` (values, 2), which holds the
    overall distribution and its running sum, and in `leaf` (values,); ROOT in `nodes`
    (nodes, 2), which holds UP, the parent, and HEIGHT.
    """

    facts: NDArray[np.int64]
    bounds: NDArray[np.float64]
    shares: NDArray[np.float64]
    leaf: NDArray[np.int64]
    nodes: NDArray[np.int64]


COLUMN, DISTANCE, OFFSET, ROOT = range(4)
DISTINCT, ENTROPY, REC_C, REC_L, ALPHA, T, BETA, ENHANCED, DELTA, TIMES, WITHIN = range(11)
SHARE, CUMULATED = range(2)
UP, HEIGHT = range(2)
_DISTANCES = ("variational", "ordered", "hierarchical")


def watch(constraint: ClassConstraint, overall: list[NDArray[np.int64]]) -> Watch:
    """Return the constraint for compiled code; `overall` counts the values of every column."""
    # Columns without bounds are left out: they would be counted in vain.
    columns = [c for c, one in enumerate(constraint.diversity) if _bounds(one) != _NO_BOUNDS]
    diversities = [constraint.diversity[column] for column in columns]
    counts = [overall[column] for column in columns]
    trees = [one.ancestry or _NO_ANCESTRY for one in diversities]
    facts = np.zeros((len(columns) + 1, 4), dtype=np.int64)
    facts[:-1, COLUMN] = columns
    facts[:-1, DISTANCE] = [_DISTANCES.index(one.distance) for one in diversities]
    facts[:, OFFSET] = np.cumsum([0, *map(len, counts)])
    facts[:, ROOT] = np.cumsum([0, *(len(tree.parent) for tree in trees)])
    shares, leaf = np.zeros((facts[-1, OFFSET], 2)), np.zeros(facts[-1, OFFSET], np.int64)
    nodes = np.zeros((facts[-1, ROOT], 2), dtype=np.int64)
    for place, tree in enumerate(trees):
        here = slice(facts[place, OFFSET], facts[place + 1, OFFSET])
        shares[here, SHARE] = counts[place] / max(counts[place].sum(), 1)
        shares[here, CUMULATED] = np.cumsum(counts[place]) / max(counts[place].sum(), 1)
        leaf[here] = tree.leaf[: len(counts[place])] if diversities[place].ancestry else 0
        nodes[facts[place, ROOT] : facts[place + 1, ROOT], UP] = tree.parent
        nodes[facts[place, ROOT] : facts[place + 1, ROOT], HEIGHT] = tree.height
    bounds = np.array([_bounds(one) for one in diversities]).reshape(len(columns), WITHIN + 1)
    return Watch(facts, bounds, shares, leaf, nodes)


_NO_ANCESTRY = Ancestry(np.array([-1], np.int32), np.zeros(1, np.int32), np.zeros(0, np.int32))


def _bounds(diversity: Diversity) -> list[float]:
    # No share and no distance exceeds 1, not even those of a class without a value.
    alpha, t = (bound if bound < 1 else float("inf") for bound in (diversity.alpha, diversity.t))
    return [
        *(diversity.distinct, diversity.entropy, *diversity.recursive),
        *(alpha, t, diversity.beta, diversity.enhanced_beta, diversity.delta),
        *(diversity.least, float(diversity.within)),
    ]


_NO_BOUNDS = _bounds(Diversity())


class Tally(NamedTuple):
    """How many persons have each watched value in a growing set of rows.

    `counts` (values,) counts distinct (person, value) pairs, `touched[column, :KINDS]` lists
    the codes that occur. `state` (columns + 1, 4) holds how many KINDS of values a column has,
    their TOTAL count, its HOLDERS, the persons with a value, and the MOST frequent value's count;
    the last row holds the number of UNITS and the STAMP. `persons` (columns + 1, persons) and
    `pairs` (columns, pairs) hold the stamp of the last set in which a person had a value, or (last
    row) a row at all, and in which a pair occurred.
    """

    # Stamps and lists of what occurs, so that forgetting a small set costs no pass over all values
    # and all persons of the table.

    counts: NDArray[np.int64]
    touched: NDArray[np.int64]
    state: NDArray[np.int64]
    persons: NDArray[np.int64]
    pairs: NDArray[np.int64]
    flows: NDArray[np.float64]


KINDS, TOTAL, HOLDERS, MOST = range(4)
UNITS, STAMP = range(2)
EXCESS, DEFICIT = range(2)
HAS, SUM, PEAK, INFORMATION = range(4)
"""What `flows` holds of a group of values: how many there are, the sum of their counts n, the
greatest of these, and the sum of n log n."""


def tally(watched: Watch, persons: int, pairs: int) -> Tally:
    """Return a tally, to be cleared before its first use; without persons, rows count."""
    columns = len(watched.bounds)
    widest = int(np.diff(watched.facts[:, OFFSET]).max(initial=0))
    deepest = int(np.diff(watched.facts[:, ROOT]).max(initial=0))
    return Tally(
        counts=np.zeros(int(watched.facts[-1, OFFSET]), np.int64),
        touched=np.zeros((columns, widest), np.int64),
        state=np.zeros((columns + 1, 4), np.int64),
        persons=np.zeros((columns + 1, persons), np.int64),
        pairs=np.zeros((columns, pairs), np.int64),
        flows=np.zeros((deepest, 4)),
    )


def fresh(tally: Tally) -> Tally:
    """Return an empty tally for the same table, for another thread."""
    return Tally(*map(np.zeros_like, tally))  # type: ignore[arg-type]


@compiled
def forget(watched, tally):  # type: ignore[no-untyped-def]
    """Forget all rows."""
    columns, state = len(watched.bounds), tally.state
    state[columns, UNITS] = 0
    state[columns, STAMP] += 1
    for place in range(columns):
        for kind in range(state[place, KINDS]):
            tally.counts[watched.facts[place, OFFSET] + tally.touched[place, kind]] = 0
        for entry in range(4):
            state[place, entry] = 0


@compiled
def count(watched, tally, rows, order, start, end, first, person):  # type: ignore[no-untyped-def]
    """Add the rows order[start] .. order[end - 1].

    Their sensitive codes are in the columns from `first`, their pairs behind their person. Without
    a unit of privacy, `person` is 0 and every row is a person of its own.
    """
    # The pairs were numbered beforehand: whether somebody was met with a value is one look-up in a
    # table of stamps, without a hash.
    facts, state, counts, touched = watched.facts, tally.state, tally.counts, tally.touched
    persons, pairs, columns = tally.persons, tally.pairs, len(watched.bounds)
    stamp = state[columns, STAMP]
    for at in range(start, end):
        row = order[at]
        if person == 0 or _is_first(persons, columns, rows[row, person], stamp):
            state[columns, UNITS] += 1
        for place in range(columns):
            column = facts[place, COLUMN]
            code = rows[row, first + column]
            if code < 0:
                continue
            if person == 0 or _is_first(persons, place, rows[row, person], stamp):
                state[place, HOLDERS] += 1
            if person > 0 and not _is_first(pairs, place, rows[row, person + 1 + column], stamp):
                continue
            value = facts[place, OFFSET] + code
            if counts[value] == 0:
                touched[place, state[place, KINDS]] = code
                state[place, KINDS] += 1
            counts[value] += 1
            state[place, TOTAL] += 1
            state[place, MOST] = max(state[place, MOST], counts[value])


@linked
def _is_first(stamps, place, number, stamp):  # type: ignore[no-untyped-def]
    """Return whether a number occurs for the first time since the stamp was set."""
    if stamps[place, number] == stamp:
        return False
    stamps[place, number] = stamp
    return True


@compiled
def is_diverse(watched, tally):  # type: ignore[no-untyped-def]
    """Return whether the rows added satisfy every bound on sensitive values."""
    # A set without any value has nothing to be diverse with.
    for place in range(len(watched.bounds)):
        if tally.state[place, TOTAL] == 0 or not _keeps(watched, tally, place):
            return False
    return True


@linked
def _keeps(watched, tally, place):  # type: ignore[no-untyped-def]
    bounds, state = watched.bounds, tally.state
    if bounds[place, WITHIN] > 0:
        return _keeps_within(watched, tally, place)
    if bounds[place, TIMES] > 0 and not _is_often(watched, tally, place):
        return False
    # The cheap bounds first; the distances need a pass over the values. All are relaxed by what
    # rounding can cause, as in the certificate: a cut that it would accept is never rejected here.
    most, holders = state[place, MOST], state[place, HOLDERS]
    if min(state[place, KINDS], holders - most + 1) < bounds[place, DISTINCT]:
        return False
    if most > bounds[place, ALPHA] * holders * (1 + TOLERANCE):
        return False
    least = bounds[place, ENTROPY] * (1 - TOLERANCE)
    if least > 0 and _effective(watched, tally, place) < least:
        return False
    if bounds[place, REC_L] > 0 and not _is_recursive(watched, tally, place):
        return False
    furthest = bounds[place, T] * (1 + TOLERANCE)
    if furthest < np.inf and _distance(watched, tally, place) > furthest:
        return False
    if min(bounds[place, BETA], bounds[place, ENHANCED], bounds[place, DELTA]) < np.inf:
        return _is_near(watched, tally, place)
    return True


@linked
def _is_often(watched, tally, place):  # type: ignore[no-untyped-def]
    """Return whether every value that occurs does so often enough."""
    for kind in range(tally.state[place, KINDS]):
        value = watched.facts[place, OFFSET] + tally.touched[place, kind]
        if tally.counts[value] < watched.bounds[place, TIMES]:
            return False
    return True


@linked
def _keeps_within(watched, tally, place):  # type: ignore[no-untyped-def]
    """Return whether the values of every group that occurs are diverse."""
    # Sums by group in one pass over the values that occur; groups are met again by their values.
    bounds, nodes, flows = watched.bounds, watched.nodes, tally.flows
    offset, root = watched.facts[place, OFFSET], watched.facts[place, ROOT]
    kinds = tally.state[place, KINDS]
    for kind in range(kinds):
        group = nodes[root + watched.leaf[offset + tally.touched[place, kind]], UP]
        for entry in range(4):
            flows[group, entry] = 0.0
    for kind in range(kinds):
        value = offset + tally.touched[place, kind]
        group, times = nodes[root + watched.leaf[value], UP], tally.counts[value]
        flows[group, HAS] += 1
        flows[group, SUM] += times
        flows[group, PEAK] = max(flows[group, PEAK], times)
        flows[group, INFORMATION] += times * np.log(times)
    for kind in range(kinds):
        group = nodes[root + watched.leaf[offset + tally.touched[place, kind]], UP]
        total = flows[group, SUM]
        if min(flows[group, HAS], total - flows[group, PEAK] + 1) < bounds[place, DISTINCT]:
            return False
        if flows[group, PEAK] > bounds[place, ALPHA] * total * (1 + TOLERANCE):
            return False
        effective = np.exp(np.log(total) - flows[group, INFORMATION] / total)
        if effective < bounds[place, ENTROPY] * (1 - TOLERANCE):
            return False
    return True


@linked
def _effective(watched, tally, place):  # type: ignore[no-untyped-def]
    """Return the exponential of the entropy of the values that occur."""
    entropy = 0.0
    for kind in range(tally.state[place, KINDS]):
        value = watched.facts[place, OFFSET] + tally.touched[place, kind]
        share = tally.counts[value] / tally.state[place, TOTAL]
        entropy -= share * np.log(share)
    return np.exp(entropy)


@linked
def _is_recursive(watched, tally, place):  # type: ignore[no-untyped-def]
    """Return whether r1 < c (r_l + ... + r_m), counts in descending order."""
    # The l - 1 greatest counts are subtracted one after the other instead of sorting: l is small.
    left = int(watched.bounds[place, REC_L]) - 1
    most = tally.state[place, MOST]
    tail, limit = tally.state[place, TOTAL], most
    while left > 0 and limit > 0:
        following = 0
        for kind in range(tally.state[place, KINDS]):
            times = tally.counts[watched.facts[place, OFFSET] + tally.touched[place, kind]]
            if times == limit and left > 0:
                tail -= times
                left -= 1
            elif times < limit:
                following = max(following, times)
        limit = following
    return most < watched.bounds[place, REC_C] * tail * (1 - TOLERANCE)


@linked
def _is_near(watched, tally, place):  # type: ignore[no-untyped-def]
    """Return whether no value is more, or less, likely than beta and delta allow."""
    bounds = watched.bounds
    beta = min(bounds[place, BETA], bounds[place, ENHANCED]) * (1 + TOLERANCE)
    for kind in range(tally.state[place, KINDS]):
        value = watched.facts[place, OFFSET] + tally.touched[place, kind]
        overall = watched.shares[value, SHARE]
        share = tally.counts[value] / tally.state[place, TOTAL]
        gain = (share - overall) / overall
        if gain > beta:
            return False
        if bounds[place, ENHANCED] < np.inf and gain > -np.log(overall) * (1 + TOLERANCE):
            return False
        if abs(np.log(share / overall)) >= bounds[place, DELTA] * (1 - TOLERANCE):
            return False
    return True


@linked
def _distance(watched, tally, place):  # type: ignore[no-untyped-def]
    if watched.facts[place, DISTANCE] == 1:
        return _ordered(watched, tally, place)
    if watched.facts[place, DISTANCE] == 2:
        return _hierarchical(watched, tally, place)
    # Half the sum of |p - q| is what p exceeds q by: values that do not occur add nothing to it.
    distance = 0.0
    for kind in range(tally.state[place, KINDS]):
        value = watched.facts[place, OFFSET] + tally.touched[place, kind]
        share = tally.counts[value] / tally.state[place, TOTAL]
        distance += max(share - watched.shares[value, SHARE], 0.0)
    return distance


@linked
def _ordered(watched, tally, place):  # type: ignore[no-untyped-def]
    """Return the earth mover's distance where neighbouring values are 1 / (m - 1) apart."""
    # On a line the distance is the sum of |P - Q| of the running sums (Li et al., 2007, 4.1). Only
    # values that occur in the table count for m.
    start, end = watched.facts[place, OFFSET], watched.facts[place + 1, OFFSET]
    count_so_far, values, distance = 0, 0, 0.0
    for value in range(start, end):
        if watched.shares[value, SHARE] > 0:
            count_so_far += tally.counts[value]
            values += 1
            distance += abs(
                count_so_far / tally.state[place, TOTAL] - watched.shares[value, CUMULATED]
            )
    return distance / max(values - 1, 1)


@linked
def _hierarchical(watched, tally, place):  # type: ignore[no-untyped-def]
    """Return the earth mover's distance over the taxonomy (Li et al., 2007, section 4.2)."""
    # From the leaves up: each node settles what it can among its children at its own height, and
    # passes the rest to its parent.
    root, count = watched.facts[place, ROOT], watched.facts[place + 1, ROOT]
    flows, nodes = tally.flows, watched.nodes
    count -= root
    for node in range(count):
        flows[node, EXCESS] = flows[node, DEFICIT] = 0.0
    for value in range(watched.facts[place, OFFSET], watched.facts[place + 1, OFFSET]):
        extra = tally.counts[value] / tally.state[place, TOTAL] - watched.shares[value, SHARE]
        flows[watched.leaf[value], EXCESS] += max(extra, 0.0)
        flows[watched.leaf[value], DEFICIT] += max(-extra, 0.0)
    distance = 0.0
    for level in range(nodes[root, HEIGHT] + 1):
        for node in range(count):
            if nodes[root + node, HEIGHT] == level:
                extra = flows[node, EXCESS] - flows[node, DEFICIT]
                distance += level * min(flows[node, EXCESS], flows[node, DEFICIT])
                up = nodes[root + node, UP]
                if up >= 0:
                    flows[up, EXCESS] += max(extra, 0.0)
                    flows[up, DEFICIT] += max(-extra, 0.0)
    return distance / max(nodes[root, HEIGHT], 1)
