"""Which values lie near to those of others: so near that who knows one knows all of them nearly."""

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]
Counts = NDArray[np.int64]
Masks = NDArray[np.bool_]

NEAR = 0.01
"""Values are near that differ by this share of the larger one, at most."""

CLOSE = 0.1
"""Values are known closely within this share of them."""


def spreads_tell(squares: Figures, rows: Counts, largest: Figures) -> Masks:
    """Return where a spread and a mean tell what all have closely, (cells,): `squares` are the sums
    of squared deviations from the mean, `rows` how many they are of, and `largest` is the largest
    value. No value is further from the mean than the root of (rows - 1) / rows of that sum (P. A.
    Samuelson: How deviant can you be?, JASA 63, 1968).
    """
    with np.errstate(over="ignore", invalid="ignore"):  # What is infinite is not close.
        widths = 2 * np.sqrt(squares * (rows - 1) / np.maximum(rows, 1))
        return np.asarray((rows > 1) & (widths <= CLOSE * largest), np.bool_)


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
