"""Whether masked values stay so near to the original ones that an interval around them tells these.

Tables are (records, columns) of finite floats, and record i of one is record i of the other.
"""

import math

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.moments import Moments, exponents

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


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


def rank_interval_disclosure(original: Floats, masked: Floats, share: float) -> Floats:
    """Return the share of values within an interval of ranks around the masked one, (columns,).

    The interval has the masked values whose ranks are within `share` of the number of records
    (Domingo-Ferrer and Torra: A quantitative comparison of disclosure control methods for
    microdata, 2001). Of equal values, the interval begins at the first and ends behind the last.
    """
    records, columns = masked.shape
    reach, shares = math.floor(share * records), np.empty(columns)
    for column in range(columns):
        ordered = np.sort(masked[:, column])
        first = np.searchsorted(ordered, masked[:, column], side="left") - reach
        last = np.searchsorted(ordered, masked[:, column], side="right") - 1 + reach
        low, high = ordered[np.maximum(first, 0)], ordered[np.minimum(last, records - 1)]
        values = original[:, column]
        shares[column] = np.count_nonzero((low <= values) & (values <= high)) / records
    return shares
