"""What several releases of one table tell together: the rows that their classes cannot tell apart.

`classes` (rows, releases) holds the number of each row's class in each release, and -1 where a
release lacks the row: because it was suppressed, or was not in the sample. No order of rows
matters.

If `absence_is_known`, the intruder knows which releases have the person that is looked for, and an
absence is a class as any other: the worst case. Otherwise a release that lacks the person rules
nothing out, and only the releases that have it are intersected.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.grouping import classes_of, distinct

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

ABSENT = -1
_MOST_PAIRS = 2**22
"""Of pairs of a class and a value, looked up at a time."""


def aligned_classes(
    identities: Sequence[NDArray[Any]], classes: Sequence[Ints]
) -> tuple[NDArray[Any], Ints]:
    """Return the identities of all rows in order, and their `classes`, of the rows of each release.

    Raises `ValueError` if two rows of one release have the same identity.
    """
    every, row_of = np.unique(np.concatenate(list(identities)), return_inverse=True)
    ends = np.cumsum([len(names) for names in identities])
    table = np.full((len(every), len(identities)), ABSENT, dtype=np.int64)
    for at, rows in enumerate(np.split(row_of, ends[:-1])):
        if np.bincount(rows, minlength=1).max() > 1:
            raise ValueError(f"Two rows of release {at + 1} have the same identity.")
        table[rows, at] = classes[at]
    return every, table


def consistent_rows(classes: Ints, *, absence_is_known: bool = True) -> Ints:
    """Return how many rows share a row's classes in all releases, itself included, (rows,).

    0 for a row that no release has.
    """
    sizes = np.zeros(len(classes), dtype=np.int64)
    for rows, columns in _patterns(classes, absence_is_known=absence_is_known):
        # Rows that lack a release of the pattern never share the classes of those that have it.
        able = rows if absence_is_known else (classes[:, columns] != ABSENT).all(axis=1)
        cells, count = _cells(classes[:, columns][able])
        sizes[rows] = np.bincount(cells, minlength=count)[cells[rows[able]]]
    return sizes


def rows_consistent_with(classes: Ints, row: int, *, absence_is_known: bool = True) -> Ints:
    """Return the rows that share all classes of one row: the persons it may be of, ascending."""
    columns = classes[row] != ABSENT
    if not columns.any():
        return np.zeros(0, dtype=np.int64)
    considered = slice(None) if absence_is_known else columns
    same = (classes[:, considered] == classes[row, considered]).all(axis=1)
    return np.flatnonzero(same).astype(np.int64)


def _patterns(classes: Ints, *, absence_is_known: bool) -> Iterator[tuple[Bools, Bools]]:
    """Yield the rows that are in the same releases, (rows,), and these, (releases,)."""
    present = classes != ABSENT
    if absence_is_known:
        yield present.any(axis=1), np.ones(classes.shape[1], dtype=bool)
        return
    pattern_of, _ = _cells(present.astype(np.int64))
    for number in range(int(pattern_of.max(initial=-1)) + 1):
        rows = pattern_of == number
        columns: Bools = present[int(np.argmax(rows))]
        if columns.any():
            yield rows, columns


def _cells(classes: Ints) -> tuple[Ints, int]:
    """Number the distinct rows of classes, (rows,), and say how many there are."""
    if not classes.size:
        return np.zeros(len(classes), dtype=np.int64), 0
    return classes_of([(column + 1).astype(np.int32) for column in classes.T])


@dataclass(frozen=True)
class Accumulated:
    """What the first releases tell together, and what the last one of them added.

    `least` is the size of the smallest set of consistent rows, `uniques` how many rows are alone in
    theirs. `gained` counts the uniques that were not so before this release, and `combined` those
    of them that are not unique in it either: only the releases together single them out. `linked`
    is how many of the rows are expected to be linked rightly by a choice at random.
    """

    releases: int
    rows: int
    least: int
    uniques: int
    gained: int
    combined: int
    linked: float


def accumulated(classes: Ints, *, absence_is_known: bool = True) -> tuple[Accumulated, ...]:
    """Return what the releases tell one after the other, in the order of the columns.

    Rows that no release has had so far are not counted; where none has any, `least` is 0.
    """
    before, totals = np.zeros(len(classes), dtype=np.int64), []
    for count in range(1, classes.shape[1] + 1):
        sizes = consistent_rows(classes[:, :count], absence_is_known=absence_is_known)
        alone = consistent_rows(classes[:, count - 1 : count], absence_is_known=absence_is_known)
        totals.append(_added(count, sizes, before, alone))
        before = sizes
    return tuple(totals)


def _added(count: int, sizes: Ints, before: Ints, alone: Ints) -> Accumulated:
    released = sizes[sizes > 0]
    gained = (sizes == 1) & (before != 1)
    by_size = np.bincount(released, minlength=2)
    present = np.flatnonzero(by_size)
    return Accumulated(
        releases=count,
        rows=len(released),
        least=int(released.min(initial=len(sizes))) if len(released) else 0,
        uniques=int(by_size[1]),
        gained=int(gained.sum()),
        combined=int((gained & (alone != 1)).sum()),
        linked=float((by_size[present] / present).sum()),
    )


def least_excess(first: Ints, second: Ints, rows: Ints) -> int:
    """Return by how many rows, at least, a class exceeds another one that is part of it.

    Of two releases, either may have the larger class; 0 where no class is a proper part of one of
    the other release. Sums over both classes then differ by what so few rows contribute. `first`
    and `second` are the classes in each of sets of so many `rows`, (sets,), -1 for none.
    """
    both = (first != ABSENT) & (second != ABSENT)
    width = int(second.max(initial=0)) + 1
    pairs, pair_of = np.unique(first[both] * width + second[both], return_inverse=True)
    shared = _weighed(pair_of, rows[both])
    large, small = (
        _weighed(classes[classes != ABSENT], rows[classes != ABSENT])[chosen]
        for classes, chosen in ((first, pairs // width), (second, pairs % width))
    )
    excess = np.abs(large - small)[(shared == large) | (shared == small)]
    proper = excess[excess > 0]
    return int(proper.min()) if len(proper) else 0


def _weighed(classes: Ints, rows: Ints) -> Ints:
    return np.bincount(classes, weights=rows).astype(np.int64)


def values_in_common(classes: Ints, values: Ints) -> Ints:
    """Return how many sensitive values all classes of a row have in common, (rows,).

    The intersection attack of an intruder who cannot tell which row of one release is which of the
    other, but finds the person's class in each that has it (Ganta, Kasiviswanathan and Smith:
    Composition attacks and auxiliary information in data privacy, KDD 2008). `values` (rows,
    releases) are codes of the value that each release shows, -1 where it shows none, which is no
    candidate. 1: the value is disclosed. 0 for a row that no release has, and where none shows a
    value.
    """
    cells, count = _cells(classes)
    combinations = np.zeros((count, classes.shape[1]), dtype=np.int64)
    combinations[cells] = classes
    releases = [_ShownValues.of(classes[:, at], values[:, at]) for at in range(classes.shape[1])]
    common = np.zeros(count, dtype=np.int64)
    for at in range(classes.shape[1]):
        is_first = (combinations[:, at] != ABSENT) & (combinations[:, :at] == ABSENT).all(axis=1)
        chosen = np.flatnonzero(is_first)
        for part in _parts(chosen, releases[at].counts(combinations[chosen, at])):
            common[part] = _common(combinations[part], releases, at)
    return common[cells]


@dataclass(frozen=True)
class _ShownValues:
    """The distinct pairs of a class and a value in it, in order: class * width + value."""

    keys: Ints
    width: int

    @classmethod
    def of(cls, classes: Ints, values: Ints) -> "_ShownValues":
        width = int(values.max(initial=0)) + 1
        is_shown = (classes != ABSENT) & (values >= 0)
        return cls(distinct(classes[is_shown] * width + values[is_shown]), width)

    def counts(self, classes: Ints) -> Ints:
        ends = np.searchsorted(self.keys, (classes + 1) * self.width)
        return ends - np.searchsorted(self.keys, classes * self.width)

    def has(self, classes: Ints, values: Ints) -> Bools:
        if not len(self.keys):
            return np.zeros(len(classes), dtype=bool)
        sought = classes * self.width + values
        at = np.minimum(np.searchsorted(self.keys, sought), len(self.keys) - 1)
        is_member: Bools = (self.keys[at] == sought) & (values < self.width)
        return is_member


def _parts(chosen: Ints, counts: Ints) -> Iterator[Ints]:
    """Yield the chosen combinations in parts whose pairs fit into memory together."""
    part = np.cumsum(counts) // _MOST_PAIRS
    for number in range(int(part.max(initial=-1)) + 1):
        yield chosen[part == number]


def _common(combinations: Ints, releases: Sequence[_ShownValues], first: int) -> Ints:
    """Return how many values of the `first` release's class each combination has in all others."""
    counts = releases[first].counts(combinations[:, first])
    of = np.repeat(np.arange(len(combinations)), counts)
    starts = np.searchsorted(releases[first].keys, combinations[:, first] * releases[first].width)
    places = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    values = releases[first].keys[starts[of] + places] % releases[first].width
    for at in range(first + 1, len(releases)):
        classes = combinations[of, at]
        is_left = (classes == ABSENT) | releases[at].has(classes, values)
        of, values = of[is_left], values[is_left]
    return np.bincount(of, minlength=len(combinations))
