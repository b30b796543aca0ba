"""The cuts of a guided tree by themselves, to study what they would make of other rows.

The published protocol of accuracy-guided anonymisation cuts the tree for two fifths of the rows and
anonymises two others: a class that has k of the first can have fewer of the second. No engine does
that; whoever compares with it is refused where it happens.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import DataError, format_count
from policy_engine.kernels.axis import Axis, Interval
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.descent import Cut, Cuts, descend
from policy_engine.kernels.guided_tree import choose_guided, guided_memory, guided_table
from policy_engine.kernels.layout import SensitiveRows
from policy_engine.kernels.mondrian import Partition

Codes = NDArray[np.int32]


def guided_cuts(
    axes: list[Axis],
    people: SensitiveRows,
    constraint: ClassConstraint,
    targets: NDArray[np.integer[Any]],
) -> Cuts:
    """Return the cuts of `guided_partition`, which leave the same classes of the same rows."""
    table = guided_table(axes, people, constraint, targets)
    memory = guided_memory(table, targets.shape[1], len(table.rows))
    cuts, waiting = Cuts(), [(0, 0, len(table.rows))]
    while waiting:
        node, start, end = waiting.pop()
        left = choose_guided(table, memory, start, end)
        if left:
            order = memory.scratch.best[: end - start]
            table.rows[start:end] = table.rows[order]
            sides = table.rows[start : start + left], table.rows[start + left : end]
            one, other = cuts.cut(node, _cut_between(axes, *sides))
            waiting += [(other, start + left, end), (one, start, start + left)]
    return cuts


def _cut_between(axes: list[Axis], left: Codes, right: Codes) -> Cut:
    """Return the first cut that has some rows on one side and others on the other, for any code."""
    for dim, axis in enumerate(axes):
        goes_left = np.zeros(axis.size, dtype=np.bool_)
        goes_left[left[:, dim]] = True
        if isinstance(axis.shape, Interval):
            goes_left[: left[:, dim].max() + 1] = True
        if not goes_left[right[:, dim]].any():
            break
    return Cut(dim, 0, goes_left)


def class_other_rows(cuts: Cuts, codes: Codes, size: int) -> Partition:
    """Return the classes that cuts make of other rows than those that they were made for.

    `codes` (rows, dimensions) are those of the same axes. Raises DataError (R019) with the number
    of rows of the smallest class where that is less than `size`.
    """
    leaf = descend(cuts.descent(), codes)
    _, groups, rows = np.unique(leaf, return_inverse=True, return_counts=True)
    if rows.min(initial=size) < size:
        smallest = format_count(int(rows.min()), "row")
        message = f"The tree was cut for other rows. Of these, its smallest class has {smallest}, "
        message += f"fewer than k, which is {size}."
        hint = "Cut the tree for the rows that it divides."
        raise DataError.of("R019", message, hint)
    starts = np.concatenate([[0], np.cumsum(rows)])
    return Partition(np.argsort(groups, kind="stable"), starts)
