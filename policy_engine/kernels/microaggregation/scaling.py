"""Columns on one scale, the same to the bit for any order of rows and any partitions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.moments import Moments

Floats = NDArray[np.float64]


def shares(values: Floats, low: Floats, high: Floats) -> Floats:
    """Return values (rows, columns) as shares of their columns' ranges, from 0 at `low` to 1.

    0 where a column is constant. `low` and `high` (columns,) are its least and greatest value.
    """
    # Halves, whose difference is finite for all finite numbers. Columns lie in memory one after
    # another, as everything that follows reads them.
    column_shares = np.empty(values.shape[::-1])
    for share, column, least, greatest in zip(column_shares, values.T, low, high, strict=True):
        width = greatest / 2 - least / 2
        np.divide(column / 2 - least / 2, width if width > 0 else 1.0, out=share)
    return column_shares.T


def share_moments(row_shares: Floats) -> Moments:
    """Return the moments of shares, or of distances of shares; those of parts are added."""
    return Moments.of(row_shares, np.ones(row_shares.shape[1], dtype=np.int64))


@dataclass(frozen=True)
class Scale:
    """The scale of a table: its least and greatest values (columns,), and its shares' moments."""

    low: Floats
    high: Floats
    moments: Moments

    def points(self, values: Floats) -> Floats:
        """Return values (rows, columns) standardised: 0 at the mean, 1 a standard deviation away.

        The divisor of the variance is the number of rows. 0 where a column is constant.
        """
        points, means = shares(values, self.low, self.high), self.moments.means
        points -= means
        points /= self.deviations
        return points

    @property
    def deviations(self) -> Floats:
        """The standard deviations of the shares, (columns,); 1 where a column is constant."""
        deviations = np.sqrt(np.diag(self.moments.covariance))
        return np.where(deviations > 0, deviations, 1.0)


def scale(values: Floats) -> Scale:
    """Return the scale of a table of finite values, (rows, columns), with one row or more."""
    # Column by column: numpy reduces many short rows ten times as slowly.
    low = np.array([column.min() for column in values.T])
    high = np.array([column.max() for column in values.T])
    return Scale(low, high, share_moments(shares(values, low, high)))
