"""Classes of rows that lie near to each other in several columns."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.microaggregation.blocks import cut_blocks, default_block_size
from policy_engine.kernels.microaggregation.mdav import mdav
from policy_engine.kernels.microaggregation.scaling import Scale, scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def microaggregate(
    values: Floats,
    k: int,
    words: Words,
    block_size: int | None = None,
    scale_of_table: Scale | None = None,
) -> Ints:
    """Return the class of every row, (rows,), numbered from 0: max(1, rows // k) classes.

    By MDAV on the standardised values (rows, columns), which are finite; in large tables within
    blocks of at most `block_size` rows, at least 2k (`default_block_size`). All classes have k
    rows but one, which has fewer than 2k if there are k rows at all. `words` (rows,) move with the
    rows, and tell apart those with equal values. The order of the rows decides nothing: neither
    the classes nor their numbers. Rows that are a part of a table have the scale of that.
    """
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    points = (scale_of_table or scale(values)).points(values)
    blocks = cut_blocks(points, words, k, block_size or default_block_size(len(points), k))
    labels, before = np.empty(len(points), dtype=np.int64), 0
    for rows in blocks.rows:
        labels[rows] = before + mdav(points[rows], words[rows], k)
        before += max(1, len(rows) // k)
    return labels
