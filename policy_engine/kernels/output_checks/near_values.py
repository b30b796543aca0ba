"""Which values lie near to those of others: so near that who knows one knows all of them nearly."""

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]
Counts = NDArray[np.int64]
Masks = NDArray[np.bool_]

NEAR = 0.01
"""Values are near that differ by this share of the larger one, at most."""


def near_widths(groups: Counts, sizes: Figures, many: int) -> Figures:
    """Return by how much the nearest so `many` sizes of a group differ that each is one of,
    (sizes,), infinite where they are not near to each other. Sizes are not below 0."""
    order = np.lexsort((sizes, groups))
    own, of_group = sizes[order], groups[order]
    count = max(len(own) - many + 1, 0)
    first, last = own[:count], own[many - 1 :]
    is_near = (of_group[:count] == of_group[many - 1 :]) & (last - first <= NEAR * last)
    widths, spans = np.full(len(own), np.inf), np.where(is_near, last - first, np.inf)
    for shift in range(many if count else 0):
        np.minimum(widths[shift : shift + count], spans, out=widths[shift : shift + count])
    result = np.empty(len(own))
    result[order] = widths
    return result


def nearest(sizes: Figures) -> Masks:
    """Return the most of some sizes, none below 0, that are near to each other: (sizes,)."""
    order = np.argsort(sizes, kind="stable")
    own, is_in = sizes[order], np.zeros(len(sizes), np.bool_)
    ends = np.searchsorted(own, own / (1 - NEAR), side="right")
    counts = ends - np.arange(len(own))
    if len(own):
        first = int(counts.argmax())
        is_in[order[first : ends[first]]] = True
    return is_in
