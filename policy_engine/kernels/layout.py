"""The rows of a table as the partitioner lays them out, and its working memory."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import OFFSET, Axes, Axis, Codes, pack_axes
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.constraint import (
    Tally,
    Watch,
    tally,
    watch,
)
from policy_engine.kernels.extent import Extent, extent
from policy_engine.kernels.summary import Summary, summary

Score = Literal["span", "entropy", "loss"]


@dataclass(frozen=True)
class SensitiveRows:
    """What no class may disclose: the sensitive columns, and whose rows they are.

    `sensitive` holds (rows,) codes, -1 for missing, which is not a value. `persons` (rows,)
    numbers the persons from 0; without it every row is a person of its own. `overall` counts
    the values of every sensitive column in the whole table, if these rows are a part of it.
    """

    sensitive: tuple[Codes, ...] = ()
    persons: Codes | None = None
    overall: tuple[NDArray[np.int64], ...] | None = None


@dataclass(frozen=True)
class Cutting:
    """How nodes are cut.

    By `loss`, the cut is the one whose two sides lose the least, of all boundaries in all
    dimensions. By `span` or `entropy`, the dimension with the widest normalised range or the
    greatest entropy is cut at the boundary nearest the median; but first, rows without a value
    are split from those that have one. Where `is_relaxed`, rows equal to the cut value may go to
    either side. Where it `keeps_apart`, which is for cuts between values, no class on one side of
    a cut can have the cells of one on the other.
    """

    score: Score = "loss"
    is_relaxed: bool = False
    keeps_apart: bool = False


class CodedTable(NamedTuple):
    """The rows being partitioned and all that a cut depends on.

    A row holds its quasi-identifiers, its sensitive codes and last its number; where there are
    persons, column `person` holds the person, and those behind it the numbers of the person's
    pairs with every sensitive value. `sensitive` is the first sensitive column. Nodes of `large`
    rows are cut by their summary; `left_over` is the `LEFT_OVER` of this partition.
    """

    rows: Codes
    axes: Axes
    watched: Watch
    tally: Tally
    sensitive: int
    person: int
    size: int
    score: int
    is_relaxed: bool
    keeps_apart: bool
    left_over: int
    large: int


BY_LOSS, BY_SPAN, BY_ENTROPY = range(3)
_SCORES: dict[Score, int] = {"loss": BY_LOSS, "span": BY_SPAN, "entropy": BY_ENTROPY}

LEFT_OVER = {False: 3, True: 5}
"""By whether a partition is relaxed, how many tenths of k rows are charged as lost where a cut
leaves rows over. Without the charge, classes are a tenth larger and lose as much more; the numbers
were found on the tables of the benchmark."""


def prepare(
    axes: list[Axis], people: SensitiveRows, constraint: ClassConstraint, cutting: Cutting
) -> CodedTable:
    """Return the table to be partitioned."""
    # A row's codes side by side, its number last: a node is one block of memory, and small nodes,
    # of which there are most, fit the cache.
    persons = people.persons
    rows = len(axes[0].codes)
    pairs = [] if persons is None else [_pairs(c, persons) for c in people.sensitive]
    columns = [*(axis.codes for axis in axes), *people.sensitive]
    person = 0 if persons is None else len(columns)
    columns += [] if persons is None else [persons, *pairs]
    watched, packed_axes = watch(constraint, _overall(people, pairs)), pack_axes(axes)
    table = np.empty((rows, len(columns) + 1), dtype=np.int32)
    for place, codes in enumerate([*columns, np.arange(rows, dtype=np.int32)]):
        table[:, place] = codes
    most = max((int(pair.max(initial=-1)) + 1 for pair in pairs), default=0)
    return CodedTable(
        rows=table,
        axes=packed_axes,
        watched=watched,
        tally=tally(watched, 0 if persons is None else int(persons.max(initial=-1)) + 1, most),
        sensitive=len(axes),
        person=person,
        size=constraint.size,
        score=_SCORES[cutting.score],
        is_relaxed=cutting.is_relaxed,
        keeps_apart=cutting.keeps_apart,
        left_over=LEFT_OVER[cutting.is_relaxed],
        large=_large(packed_axes),
    )


def _large(axes: Axes) -> int:
    """Return from how many rows on it pays to summarise a node."""
    # A summary is cleared and priced code by code: it pays where codes have several rows each.
    return max(2048, 2 * len(axes.places))


def _pairs(codes: Codes, persons: Codes) -> Codes:
    """Number the distinct pairs of a person and a value."""
    width = int(codes.max(initial=0)) + 2
    _, pairs = np.unique(persons.astype(np.int64) * width + codes + 1, return_inverse=True)
    numbers: Codes = pairs.astype(np.int32)
    return numbers


def _overall(people: SensitiveRows, pairs: list[Codes]) -> list[NDArray[np.int64]]:
    """Return how often the values of every sensitive column occur in the whole table."""
    if people.overall is not None:
        return list(people.overall)
    columns = zip(people.sensitive, pairs or people.sensitive, strict=True)
    return [_times(codes, pair) for codes, pair in columns]


def _times(codes: Codes, pairs: Codes) -> NDArray[np.int64]:
    """Count the values, each once for every person who has it."""
    # Or t-closeness would compare classes of persons with a distribution of rows.
    if pairs is not codes:
        _, first = np.unique(pairs, return_index=True)
        codes = codes[first]
    return np.bincount(codes[codes >= 0])


class Scratch(NamedTuple):
    """Working memory, allocated once per call.

    `node` (dimensions, 4) holds the open node's LEAST and GREATEST code in each dimension, as
    ACTIVE the list of those in which they differ, and how many DISTINCT members its sets have,
    where they are not counted in words; `codes` (values, 2) the TIMES of each code and the TURN in
    which codes come. `order` are the node's rows as sorted last, `best` as sorted for the best
    cut; `left` and `right` (rows,) the losses of the first rows and of the last.
    """

    # Allocated outside of the kernels, which could not free it: they count no references.

    extent: Extent
    summary: Summary
    node: NDArray[np.int64]
    codes: NDArray[np.int64]
    order: NDArray[np.int64]
    best: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    units: NDArray[np.int64]
    fits: NDArray[np.bool_]
    moved: Codes
    stack: NDArray[np.int64]


TIMES, TURN = range(2)


def scratch(table: CodedTable, rows: int) -> Scratch:
    """Return working memory for nodes of at most that many rows."""
    dims = len(table.axes.facts) - 1
    widest = int(np.diff(table.axes.facts[:, OFFSET]).max()) + 2
    return Scratch(
        extent=extent(table.axes),
        summary=summary(table.axes),
        node=np.zeros((dims, 4), np.int64),
        codes=np.zeros((widest, 2), np.int64),
        order=np.zeros(rows, np.int64),
        best=np.zeros(rows, np.int64),
        left=np.zeros(rows, np.int64),
        right=np.zeros(rows, np.int64),
        units=np.zeros((2, rows if table.person else 0), np.int64),
        fits=np.zeros(rows if len(table.watched.bounds) else 0, np.bool_),
        moved=np.zeros((rows, table.rows.shape[1]), np.int32),
        stack=np.zeros((rows // table.size + 2, 2), np.int64),
    )
