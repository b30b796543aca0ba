"""Whether masked values stay so near to the original ones that an interval around them tells these.

Tables are (records, columns) of finite floats, and record i of one is record i of the other.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.moments import Moments, exponents

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def deviation_interval_disclosure(original: Floats, masked: Floats, deviations: float) -> Bools:
    """Return which records are in every column within an interval of deviations, (records,).

    The interval reaches so many standard deviations of the masked column, with the divisor n - 1,
    to either side of the masked value (Mateo-Sanz, Sebé and Domingo-Ferrer: Outlier protection in
    continuous microdata masking, PSD 2004). Whoever takes it for the original one errs by no more.
    """
    records = len(masked)
    variances = np.diag(Moments.of(masked, exponents(masked)).covariance)
    widths = deviations * np.sqrt(variances * records / max(records - 1, 1))
    inside: Bools = np.max(np.abs(original - masked) - widths, axis=1) <= 0
    return inside


def rank_interval_disclosure(original: Floats, masked: Floats, shares: Sequence[float]) -> Floats:
    """Return the share of values within an interval of ranks around the masked one, (shares,
    columns).

    Each interval has the masked values whose ranks are within one of `shares` of the number of
    records (Domingo-Ferrer and Torra: A quantitative comparison of disclosure control methods for
    microdata, 2001). Of equal values, the interval begins at the first and ends behind the last.
    """
    records, columns = masked.shape
    shares_within = np.empty((len(shares), columns))
    for column in range(columns):
        ranks = np.sort(_ranks_between(original[:, column], masked[:, column]))
        reached = [math.floor(share * records) for share in shares]
        shares_within[:, column] = np.searchsorted(ranks, reached, side="right") / records
    return shares_within


def _ranks_between(original: Floats, masked: Floats) -> Ints:
    """Return by how many ranks an interval must reach to have the original value, (records,).

    More than there are records, where the value is beyond all masked ones.
    """
    order, records = np.argsort(masked), len(masked)
    ordered = masked[order]
    first, last = _first_and_last(ordered)
    turns = np.argsort(original)
    # Ascending values are found several times as fast.
    below, up_to = np.empty(records, dtype=np.int64), np.empty(records, dtype=np.int64)
    below[turns] = np.searchsorted(ordered, original[turns], side="left")
    up_to[turns] = np.searchsorted(ordered, original[turns], side="right")
    below, up_to = below[order], up_to[order]
    ranks = np.maximum(np.maximum(first + 1 - up_to, below - last), 0)
    return np.where((up_to == 0) | (below == records), 2 * records, ranks)


def _first_and_last(ordered: Floats) -> tuple[Ints, Ints]:
    """Return the places of the first and the last of equal values, by place, (records,) each."""
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(starts, len(ordered)))
    return np.repeat(starts, sizes), np.repeat(starts + sizes - 1, sizes)


def pairs_within_ranks(original: Floats, masked: Floats, shares: Sequence[float]) -> list[int]:
    """Return how many pairs of any value and any masked one are within its interval, (shares,).

    `original` and `masked` are (records,); intervals are those of `rank_interval_disclosure`.
    """
    ordered, values, records = np.sort(masked), np.sort(original), len(masked)
    first, last = _first_and_last(ordered)
    below = np.searchsorted(values, ordered, side="left")
    up_to = np.searchsorted(values, ordered, side="right")
    pairs = []
    for reach in (math.floor(share * records) for share in shares):
        ends = up_to[np.minimum(last + reach, records - 1)]
        pairs.append(int(ends.sum() - below[np.maximum(first - reach, 0)].sum()))
    return pairs
