"""Which records may be nearer to a person than the person's own, by any distance of a family."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.linkage.learned.distances import Distances

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MARGIN = 1e-6
"""Of the most by which any distance may set all other records farther than a person's own.

A person is linked if they are farther by this share of it. So an unresolved tie is not a link, in
whatever unit, and it is far above what rounding adds.
"""
_TIED = 1e-7
"""Squares that differ by less than this share of them are equal."""


@dataclass(frozen=True, eq=False)
class Rivals:
    """Those persons whose link some distances of a family make and others do not.

    `always` persons are linked by every distance. Of the others that are linked by any, `own`
    (persons, columns) are the differences from their own record and `others` (rows, columns) those
    from its rivals, the rows of one person from `starts` of it to the next, (persons + 1,). A
    person is linked where all of them are farther by `margins`, (persons,). The records left out
    are farther than one of them by every distance. What the rows hold decides their order, and
    that of the persons.
    """

    always: int
    own: Floats
    others: Floats
    starts: Ints
    margins: Floats

    def persons(self) -> Ints:
        """Return the person of every row, (rows,)."""
        return np.repeat(np.arange(len(self.own)), np.diff(self.starts))


def find_rivals(differences: Floats, own: Ints, distances: Distances) -> Rivals:
    """Return the rivals of each person, given (persons, records, columns) and own (persons,).

    `differences` are between what is known of persons and the records, scaled as an intruder would;
    all finite. -1 is a person without a record, who is never linked.
    """
    always, contested = 0, []
    for person in np.flatnonzero(own >= 0):
        mine, others = _oriented(differences[person], own[person], distances)
        least, most = reach(mine, others, distances)
        margin = margin_of(mine, most)
        if margin <= 0:
            continue
        others = others[least < margin]
        if len(others):
            contested.append((mine.tobytes(), others.tobytes(), mine, others, margin))
        else:
            always += 1
    contested.sort(key=lambda person: person[:2])
    empty = np.empty((0, distances.columns))
    return Rivals(
        always=always,
        own=np.concatenate([empty, *(person[2][np.newaxis] for person in contested)]),
        others=np.concatenate([empty, *(person[3] for person in contested)]),
        starts=np.cumsum([0, *(len(person[3]) for person in contested)]),
        margins=np.array([person[4] for person in contested]),
    )


def margin_of(mine: Floats, most: Floats) -> float:
    """Return by how much all others must be farther for a link; 0 if none can be.

    `mine` (columns,) are the differences from a person's own record; `most` (records,) is by how
    much each other record is farther at the most, of those that may be nearest.
    """
    widest = float(most.min(initial=np.inf))
    if widest <= _TIED * float(np.square(mine).sum()):
        return 0.0
    return MARGIN * min(widest, float(np.finfo(np.float64).max))


def reach(mine: Floats, others: Floats, distances: Distances) -> tuple[Floats, Floats]:
    """Return by how much other records, (..., columns), are farther, at the least and the most."""
    if distances.ordered is None:
        # The eigenvalues of a difference of two matrices of rank 1.
        one, two = np.square(mine).sum(axis=-1), np.square(others).sum(axis=-1)
        half = (two - one) / 2
        spread = np.sqrt(np.maximum(half**2 + one * two - (mine * others).sum(axis=-1) ** 2, 0))
        return np.minimum(half - spread, 0), half + spread
    # A distance that looks at one column alone is in every family.
    apart = np.square(distances.ordered(np.abs(others))) - np.square(
        distances.ordered(np.abs(mine))
    )
    return apart.min(axis=-1), apart.max(axis=-1)


def _oriented(differences: Floats, own: int, distances: Distances) -> tuple[Floats, Floats]:
    """Return the differences from one's own record and from those that may be nearest."""
    others = np.delete(differences, own, axis=0)
    if distances.ordered is None:
        rows = _one_sign(np.vstack([differences[own], others]))
        return rows[0], np.unique(rows[1:], axis=0)
    rows = np.abs(others)
    order = _order(distances.ordered(rows))
    ranked = np.ascontiguousarray(distances.ordered(rows)[order])
    kept = np.empty(len(ranked), dtype=np.int64)
    count = _skyline(ranked, kept)
    return np.abs(differences[own]), rows[order[kept[:count]]]


def _one_sign(rows: Floats) -> Floats:
    """Return the rows whose first difference is positive: a form does not tell them from others."""
    first = np.take_along_axis(rows, (rows != 0).argmax(axis=1)[:, np.newaxis], axis=1)
    # No zero is negative.
    return np.where(first < 0, -rows, rows) + 0.0


def _order(rows: Floats) -> Ints:
    # No row comes behind one that it is nowhere above: rounded sums keep that order.
    return np.lexsort((*rows.T[::-1], rows.sum(axis=1)))


@compiled
def _skyline(rows, kept):  # type: ignore[no-untyped-def]
    """Put the places of rows not at or above an earlier one in every column; return their count."""
    count = 0
    for place in range(len(rows)):
        is_above = False
        for which in range(count):
            earlier = rows[kept[which]]
            is_above = True
            for column in range(rows.shape[1]):
                if rows[place, column] < earlier[column]:
                    is_above = False
                    break
            if is_above:
                break
        if not is_above:
            kept[count] = place
            count += 1
    return count
