"""What the classes of a table disclose of a sensitive column, by the measures of the literature.

Every measure takes a `ValueHistogram` and returns one figure for every class, (classes,). A class
in which no value is present has the worst figure there is: 0 for the diversities, 1 or infinity for
the others. Throughout, p is the distribution of the values in a class and q that of the values in
the whole table. Figures are good to a relative 1e-12 or so: compare them with bounds accordingly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import InternalError
from policy_engine.kernels.key_order import order_of_keys

INT64_MAX = np.iinfo(np.int64).max


@dataclass(frozen=True)
class ValueHistogram:
    """How often each value of one sensitive column occurs in each class.

    Pairs of a class and a value come in order, class by class. `starts` (classes + 1,) holds
    where each class's pairs start; `values` (pairs,) the codes, ascending within a class;
    `counts` (pairs,) the rows, or the distinct persons, with that value in the class; `members`
    (classes,) the rows, or the distinct persons, of the class that have any value; `overall`
    (codes,) the same counts as `counts` over the whole table, 0 for a code that does not occur.
    """

    starts: NDArray[np.int64]
    values: NDArray[np.int32]
    counts: NDArray[np.int64]
    members: NDArray[np.int64]
    overall: NDArray[np.int64]

    # Pairs that occur, not a matrix of classes and values: that would be mostly zeros, and for a
    # table of millions of rows would not fit in memory.

    def totals(self) -> NDArray[np.int64]:
        """Return the sum of the counts of every class, (classes,): what p is relative to."""
        return np.diff(_prefix_sums(self.counts)[self.starts])

    @cached_property
    def pair_totals(self) -> NDArray[np.int64]:
        """What p of every pair is relative to, (pairs,)."""
        return self.repeat_by_pair(self.totals())

    def repeat_by_pair(self, figures: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return figures of classes, repeated for every pair of the class, (pairs,)."""
        return np.repeat(figures, np.diff(self.starts))

    def reduce_by_class(
        self, reduction: np.ufunc, figures: NDArray[np.float64], empty: float
    ) -> NDArray[np.float64]:
        """Return the figures of the pairs reduced within each class; `empty` where it has none."""
        filled = self.starts[:-1] < self.starts[1:]
        reduced = np.full(len(self.members), empty)
        if len(figures):
            reduced[filled] = reduction.reduceat(figures, self.starts[:-1][filled])
        return reduced


def histogram(
    class_of: NDArray[np.int64],
    count: int,
    codes: NDArray[np.int32],
    persons: NDArray[np.int64] | None = None,
) -> ValueHistogram:
    """Return the histogram of a column of (rows,) codes over `count` classes.

    A code of -1 is a missing value, which is not a value: distributions are of the values present.
    With `persons`, (rows,) numbers of at least 0, distinct persons are counted: who has a value in
    three rows has it once.
    """
    # By one sort of a number for each row. (`np.unique` would hash, which is far slower here.)
    has_value = codes >= 0
    present: Any = slice(None) if has_value.all() else has_value  # without copies
    classes, values = class_of[present].astype(np.int64, copy=False), codes[present]
    width = int(codes.max(initial=0)) + 1
    if persons is None:
        cells = classes * width
        cells += values
        cells.sort()
        return _histogram(cells, width, np.bincount(classes, minlength=count), np.bincount(values))
    who = persons[present]
    cells = _once_a_person(classes * width + values, who)
    members = np.bincount(_once_a_person(classes, who), minlength=count)
    return _histogram(
        cells, width, members, np.bincount(_once_a_person(values.astype(np.int64), who))
    )


def whole_histogram(codes: NDArray[np.int32]) -> ValueHistogram:
    """Return the histogram of a column of (rows,) codes, -1 for missing, over all rows as one
    class."""
    parts = [codes[place : place + _PART] for place in range(0, len(codes), _PART)]
    counts = np.zeros(int(codes.max(initial=-1)) + 2, dtype=np.int64)
    for part in parts:  # numpy would copy all codes at once
        counts += np.bincount(part + np.int32(1), minlength=len(counts))
    overall = counts[1:]
    values = np.flatnonzero(overall)
    return ValueHistogram(
        starts=np.array([0, len(values)], dtype=np.int64),
        values=values.astype(np.int32),
        counts=overall[values],
        members=np.array([overall.sum()], dtype=np.int64),
        overall=overall,
    )


_PART = 1 << 20


def _histogram(
    cells: NDArray[np.int64],
    width: int,
    members: NDArray[np.int64],
    overall: NDArray[np.int64],
) -> ValueHistogram:
    firsts = _changes(cells)
    classes, values = np.divmod(cells[firsts], width)
    return ValueHistogram(
        starts=_prefix_sums(np.bincount(classes, minlength=len(members))),
        values=values.astype(np.int32),
        counts=np.diff(firsts, append=len(cells)),
        members=members,
        overall=overall,
    )


def by_group(
    h: ValueHistogram, group_of: NDArray[np.int64]
) -> tuple[ValueHistogram, NDArray[np.int64]]:
    """Return the histogram of the values of each group in each class, and the class of each such
    part, (parts,); `group_of` (codes,) is the group of every code.

    Its members are counted by their values: who has two of a group counts twice.
    """
    width = int(group_of.max(initial=0)) + 1
    classes = np.repeat(np.arange(len(h.members)), np.diff(h.starts))
    keys = classes * width + group_of[h.values]
    order = np.argsort(keys, kind="stable")
    parts, sizes = np.unique(keys, return_counts=True)
    counts = h.counts[order]
    starts = _prefix_sums(sizes)
    members = np.diff(_prefix_sums(counts)[starts])
    return ValueHistogram(starts, h.values[order], counts, members, h.overall), parts // width


def _once_a_person(groups: NDArray[np.int64], persons: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of each row's group, in order, but once for each person in the group."""
    width = int(persons.max(initial=0)) + 1
    # One sort of one number is several times faster than a sort by two keys, where it fits.
    if int(groups.max(initial=0)) < INT64_MAX // width:
        keys = np.sort(groups * width + persons)
        return keys[_changes(keys)] // width
    order = np.lexsort((persons, groups))
    return groups[order][_changes(groups[order], persons[order])]


def _prefix_sums(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))


def distinct(h: ValueHistogram) -> NDArray[np.int64]:
    """Return the l of distinct l-diversity, (classes,).

    Machanavajjhala et al., "l-diversity", TKDD 2007. The least of the number of distinct values
    and 1 + the number of members without the most frequent value. Where every person has one row
    this is the number of distinct values.
    """
    # With one row a person, each value but the most frequent has a member of its own. With several
    # the second bound may be less: three persons who all have flu, one of whom also has four other
    # diseases, have five values, but whoever knows that somebody is in the class knows of the flu.
    without_most_frequent = h.members - _greatest(h)
    return np.where(h.members > 0, np.minimum(np.diff(h.starts), without_most_frequent + 1), 0)


def _greatest(h: ValueHistogram) -> NDArray[np.int64]:
    """Return the count of every class's most frequent value, 0 where it has none."""
    greatest = np.zeros(len(h.members), np.int64)
    filled = h.starts[:-1] < h.starts[1:]
    if len(h.counts):
        greatest[filled] = np.maximum.reduceat(h.counts, h.starts[:-1][filled])
    return greatest


def entropy(h: ValueHistogram) -> NDArray[np.float64]:
    """Return the l of entropy l-diversity, (classes,): the exponential of the entropy of p.

    Machanavajjhala et al., TKDD 2007.
    """
    # Computed as the number of distinct values times the exponential of minus their divergence from
    # the uniform distribution, so that l equally frequent values give exactly l, not a little less.
    width = np.diff(h.starts)
    relative = h.counts * h.repeat_by_pair(width) / h.pair_totals
    information = h.counts / h.pair_totals * np.log(relative)
    return width * np.exp(-h.reduce_by_class(np.add, information, 0.0))


def recursive(h: ValueHistogram, l: int) -> NDArray[np.float64]:  # noqa: E741
    """Return r_1 / (r_l + ... + r_m), (classes,), where r are the counts, the greatest first.

    Machanavajjhala et al., TKDD 2007: recursive (c, l)-diversity holds where it is
    less than c. Infinite where there are fewer than l values.
    """
    # The counts of every class in descending order by one sort: class and complement in one number.
    top = int(h.counts.max(initial=0)) + 1
    least = h.repeat_by_pair(np.arange(1, len(h.members) + 1) * top - 1)
    descending = least - np.sort(least - h.counts)
    sums = _prefix_sums(descending)
    tails = sums[h.starts[1:]] - sums[np.minimum(h.starts[:-1] + l - 1, h.starts[1:])]
    ratios = np.full(len(tails), np.inf)
    np.divide(_greatest(h), tails, out=ratios, where=tails > 0)
    return ratios


def most_frequent(h: ValueHistogram) -> NDArray[np.float64]:
    """Return the share of the members who have the most frequent value, (classes,).

    The alpha of (alpha, k)-anonymity for every sensitive value (Wong et al., KDD 2006). Members
    without a value do not lower it.
    """
    shares = np.ones(len(h.members))
    np.divide(_greatest(h), h.members, out=shares, where=h.members > 0)
    return shares


def variational(h: ValueHistogram) -> NDArray[np.float64]:
    """Return the t of t-closeness under the equal distance, (classes,): half the sum of |p - q|.

    Li, Li, Venkatasubramanian, ICDE 2007.
    """
    # As p and q both sum to 1, this is what p exceeds q by: only the values present in a class
    # count, and the cost is that of the pairs, not of classes times values.
    p, q = _shares(h)
    return h.reduce_by_class(np.add, np.maximum(p - q, 0.0), 1.0)


def ordered(h: ValueHistogram) -> NDArray[np.float64]:
    """Return the t of t-closeness under the ordered distance, (classes,).

    Li, Li, Venkatasubramanian, ICDE 2007: the sum of |P - Q| / (m - 1) over the m values that
    occur in the table, in the order of their codes, with P and Q the cumulated p and q.
    """
    # From one value of the class to the next P is constant while Q grows, so that P - Q changes its
    # sign at most once: prefix sums of Q give the sums on both sides, again by pairs alone.
    below = np.cumsum(h.overall[h.overall > 0])  # how many have each value or a lower one
    area = _prefix_sums(below)
    rows, m = int(h.overall.sum()), len(below)
    place = (np.cumsum(h.overall > 0) - 1)[h.values]
    filled = h.starts[:-1] < h.starts[1:]
    until = np.roll(place, -1)
    until[h.starts[1:][filled] - 1] = m
    sums = _prefix_sums(h.counts)
    reached, totals = sums[1:] - h.repeat_by_pair(sums[h.starts[:-1]]), h.pair_totals
    turn = np.clip(_above(below, reached * rows // totals), place, until)
    level = reached / totals * (2 * turn - place - until)
    moved = level + (area[place] + area[until] - 2 * area[turn]) / rows
    moved[h.starts[:-1][filled]] += area[place[h.starts[:-1][filled]]] / rows
    return h.reduce_by_class(np.add, moved / max(m - 1, 1), 1.0)


def _above(ends: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of the ascending `ends` are no greater than each number."""
    most = int(numbers.max(initial=0))
    if most > _TABLE * len(numbers):
        return np.searchsorted(ends, numbers, "right")
    # Looked up, where a table of all numbers is not much longer than what is looked for.
    return np.cumsum(np.bincount(ends[ends <= most], minlength=most + 1))[numbers]


_TABLE = 4


def beta(h: ValueHistogram) -> NDArray[np.float64]:
    """Return the beta of basic beta-likeness, (classes,): the greatest (p - q) / q where p > q.

    Cao and Karras, VLDB 2012.
    """
    return h.reduce_by_class(np.maximum, np.maximum(_ratios(h) - 1, 0.0), np.inf)


def enhanced_beta(h: ValueHistogram) -> NDArray[np.float64]:
    """Return the beta of enhanced beta-likeness, (classes,): infinite where there is none.

    Cao and Karras, VLDB 2012: (p - q) / q is at most beta and at most -ln q wherever p > q. So it
    is the basic beta where the second bound holds, and infinity where some value violates it,
    whatever the beta.
    """
    gains = np.maximum(_ratios(h) - 1, 0.0)
    _, q = _shares(h)
    return h.reduce_by_class(np.maximum, np.where(gains > -np.log(q), np.inf, gains), np.inf)


def delta(h: ValueHistogram) -> NDArray[np.float64]:
    """Return the delta of delta-disclosure privacy, (classes,): the greatest |ln(p / q)|.

    Brickell and Shmatikov, KDD 2008: the table is delta-disclosure private where it is less than
    delta. Only the values in the class count, as in ARX (with the logarithm to base 2) and pycanon.
    """
    # For a value that the class lacks the logarithm is infinite: no delta would do for a table with
    # more values than its smallest class has rows.
    return h.reduce_by_class(np.maximum, np.abs(np.log(_ratios(h))), np.inf)


def _shares(h: ValueHistogram) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return p and q of every pair, (pairs,) each."""
    return h.counts / h.pair_totals, (h.overall / max(h.overall.sum(), 1))[h.values]


def _ratios(h: ValueHistogram) -> NDArray[np.float64]:
    """Return p / q of every pair, (pairs,); exactly 1 where they are equal."""
    # Multiplied as integers before the one division, so that equal shares give exactly 1.
    in_class, in_table = h.pair_totals, h.overall[h.values]
    ratios: NDArray[np.float64] = h.counts * int(h.overall.sum()) / (in_class * in_table)
    return ratios


@dataclass(frozen=True)
class ValueHierarchy:
    """The tree over the values of a column.

    `parents` (nodes,) holds the number of each node's parent, -1 for the root; `node_of` the node
    of each code, at least of every code in use. Raises `InternalError` where the nodes are not a
    tree.
    """

    parents: NDArray[np.int64]
    node_of: NDArray[np.int64]

    def __post_init__(self) -> None:
        if np.count_nonzero(self.parents < 0) != 1 or self.depths().max() >= len(self.parents):
            raise InternalError.of("X001", f"The parents {self.parents.tolist()} are not a tree.")

    def depths(self) -> NDArray[np.int64]:
        """Return how far below the root each node is, (nodes,); in a circle, too far for a tree."""
        # All nodes move up a step at a time: as many steps as the tree is high, or, in a circle, as
        # there are nodes, by which `__post_init__` recognises it.
        depths, above = np.zeros(len(self.parents), np.int64), self.parents
        for _ in self.parents:
            if (above < 0).all():
                break
            depths += above >= 0
            above = np.where(above >= 0, self.parents[above], -1)
        return depths

    def heights(self) -> NDArray[np.int64]:
        """Return the longest path from each node down to a node without children, (nodes,)."""
        heights, depths = np.zeros(len(self.parents), np.int64), self.depths()
        for depth in range(int(depths.max()), 0, -1):
            nodes = np.flatnonzero(depths == depth)
            np.maximum.at(heights, self.parents[nodes], heights[nodes] + 1)
        return heights

    def paths(self) -> NDArray[np.int64]:
        """Return the nodes from the root to each code, (levels, codes).

        A path that is shorter than the longest repeats its last node.
        """
        depths, nodes = self.depths(), self.node_of
        paths = []
        for depth in range(int(depths.max()), -1, -1):
            paths.append(nodes)
            nodes = np.where((depths[nodes] == depth) & (depth > 0), self.parents[nodes], nodes)
        return np.array(paths[::-1])


def hierarchical(h: ValueHistogram, hierarchy: ValueHierarchy) -> NDArray[np.float64]:
    """Return the t of t-closeness under the hierarchical distance, (classes,).

    Li, Li, Venkatasubramanian, ICDE 2007: two values are as far apart as their lowest common
    ancestor is high, relative to the height H of the tree.
    """
    # The paper sums over the nodes N what is moved there: height(N) / H * min(positive, negative
    # excess of the children). Moving along the edges gives the same, each as long as half the
    # difference of its ends' heights over H: an edge carries |p - q| of the values below it.
    codes = len(h.overall)
    place = np.argsort(np.lexsort(hierarchy.paths()[::-1, :codes]))
    classes = h.repeat_by_pair(np.arange(len(h.members)))
    order = order_of_keys(classes * codes + place[h.values], len(h.members) * codes)
    values, p = h.values[order], _shares(h)[0][order]
    begins = np.zeros(len(classes), dtype=np.bool_)
    begins[h.starts[:-1][h.starts[:-1] < h.starts[1:]]] = True
    q = h.overall / max(h.overall.sum(), 1)
    moved = np.zeros(len(h.members))
    for groups, lengths in _edges(hierarchy, codes):
        group_of = groups[values]
        firsts = np.flatnonzero(begins | np.append(True, group_of[1:] != group_of[:-1]))
        if len(firsts) < len(values):
            ends, owners = values[firsts], classes[firsts]
            actual, due = np.add.reduceat(p, firsts), np.bincount(groups, q)[group_of[firsts]]
        else:  # an edge above each value
            ends, owners, actual, due = values, classes, p, np.bincount(groups, q)[group_of]
        carried = lengths[ends] * (np.abs(actual - due) - due)
        # Where a class has none of the values below an edge, the edge carries their whole q.
        moved += np.bincount(owners, carried, len(moved)) + (lengths * q).sum()
    return np.where(h.members > 0, np.maximum(moved, 0.0), 1.0)


def _edges(
    hierarchy: ValueHierarchy, codes: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield the edges of each level that have a length, as two (codes,) arrays.

    The first numbers the edge above each code, the second is its length. A code at an inner node
    counts as a leaf below it, as deep as the other leaves.
    """
    paths, heights = hierarchy.paths()[:, :codes], hierarchy.heights()
    tops = [*heights[paths], np.zeros(codes, np.int64)]
    for level, groups in enumerate([*paths[1:], np.arange(codes)]):
        lengths = (tops[level] - tops[level + 1]) / (2 * max(int(heights.max()), 1))
        if lengths.any():
            yield groups, lengths


def _changes(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where rows differ from the row before, the first row included."""
    different = np.ones(len(columns[0]), dtype=np.bool_)
    different[1:] = False
    for column in columns:
        different[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(different)
