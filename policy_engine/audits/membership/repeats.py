"""Repeated records: their rows are drawn together, or none of them."""

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def codes_of(marks: NDArray[np.uint64] | Rows) -> Rows:
    """Return for every row the first one with the same mark, (n,)."""
    _, first, place = np.unique(marks, return_index=True, return_inverse=True)
    return first[place].astype(np.int64)


def quota_of(sizes: Rows, share: float) -> int:
    """Return how many rows are a share of those of groups that may be drawn for it.

    A group that is larger than what is to be drawn is none of these.
    """
    quota = int(sizes.sum() * share)
    while (sizes > quota).any():
        sizes = sizes[sizes <= quota]
        quota = int(sizes.sum() * share)
    return quota


def draw_groups(
    rows: Rows, codes: Rows, quota: int, random: np.random.Generator, *, fill: bool = False
) -> Rows:
    """Return at most so many of the rows, in order: groups of one code by lot, each as a whole.

    A group that does not fit any more is passed over. To `fill` what is left then, the first of
    them is drawn in part.
    """
    _, place, sizes = np.unique(codes[rows], return_inverse=True, return_counts=True)
    order = random.permutation(len(sizes)).tolist()
    is_drawn, room, sizes_of_groups = np.zeros(len(sizes), dtype=np.bool_), quota, sizes.tolist()
    for number in order:
        if sizes_of_groups[number] <= room:
            is_drawn[number] = True
            room -= sizes_of_groups[number]
        if not room:
            break
    chosen = rows[is_drawn[place]]
    if fill and room:
        first_left = next((number for number in order if not is_drawn[number]), None)
        part = rows[place == first_left][:room] if first_left is not None else rows[:0]
        chosen = np.concatenate([chosen, part])
    return np.sort(chosen)
