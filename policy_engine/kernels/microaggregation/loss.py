"""What microaggregation loses: 100 SSE/SST, as the literature measures it."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.microaggregation.class_sums import distances_from_means
from policy_engine.kernels.microaggregation.scaling import Scale, scale, share_moments, shares
from policy_engine.kernels.moments import Moments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def information_loss(values: Floats, groups: Ints) -> float:
    """Return how much of the variance classes lose by their means, from 0 to 100.

    100 SSE/SST of the standardised columns (Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 14(1), 2002):
    the squared distances of rows from the means of their classes, over those from the mean of all.
    `values` (rows, columns) are finite; constant columns, which lose nothing, do not count.
    `groups` (rows,) numbers the classes from 0.
    """
    if not len(values):
        return 0.0
    table = scale(values)
    return lost_share(within_class_moments(values, groups, table), table)


def within_class_moments(values: Floats, groups: Ints, table: Scale) -> Moments:
    """Return the moments of the rows' distances from their classes' means.

    Of a table's parts, in which classes are whole, they are added.
    """
    row_shares = shares(values, table.low, table.high)
    return share_moments(distances_from_means(row_shares, groups))


def lost_share(within: Moments, table: Scale) -> float:
    """Return 100 SSE/SST, given the moments of the distances within classes."""
    total, lost = (np.diag(moments.covariance) for moments in (table.moments, within))
    is_varied = total > 0
    if not is_varied.any():
        return 0.0
    return min(float(100 * (lost[is_varied] / total[is_varied]).mean()), 100.0)
