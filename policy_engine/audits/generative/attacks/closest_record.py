"""Members are closer to synthetic rows: the distance to the closest record, column by column."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.rows import labelled_values
from policy_engine.audits.generative.material import Bools, Material
from policy_engine.audits.generative.spaces.encoded_rows import without_outliers
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.generative.gower_neighbours import nearest_samples

Floats = NDArray[np.float64]


class DistanceSummary(NamedTuple):
    """The median and the 5th percentile of members and of the holdout, and how they compare.

    `closer` is how often a member is closer than a record of the holdout, ties as half.
    """

    members_median: float
    holdout_median: float
    members_low: float
    holdout_low: float
    closer: float


def closest_record(material: Material) -> Floats | NotApplicable:
    """Return the distances of audited records to the closest synthetic row, negative, (n,).

    The distance is the mean over the columns, the class among them: differences of numbers as
    shares of the range of the public ones, at most 1, and 1 for another category or for a value
    that is missing on one side alone.
    """
    if not material.is_table:
        return NotApplicable(reason="Columns are of tables, and these are arrays.")
    if material.synthetic is None:
        return NotApplicable(reason="There are no released records.")
    rows, others = (
        labelled_values(material, records) for records in (material.audited, material.synthetic)
    )
    widths = np.zeros(rows.shape[1])
    widths[: len(material.columns)] = _ranges(material)
    return -nearest_samples(rows, others, widths).distances[:, 0]


def distance_summary(scores: Floats, is_member: Bools) -> DistanceSummary:
    """Return the summary of the scores of `closest_record`."""
    members, holdout = -scores[is_member], -scores[~is_member]
    order = falling_order(scores)
    return DistanceSummary(
        float(np.median(members)),
        float(np.median(holdout)),
        float(np.quantile(members, 0.05)),
        float(np.quantile(holdout, 0.05)),
        curve(scores[order], is_member[order]).area(),
    )


def _ranges(material: Material) -> Floats:
    """Return the range of each column of numbers in the public records, without outliers; 0 of
    categories."""
    ranges = np.zeros(len(material.columns))
    for place, column in enumerate(material.columns):
        values = material.public.values[:, place]
        numbers = values[np.isfinite(values)]
        if column.is_number and len(numbers):
            ranges[place] = np.ptp(without_outliers(numbers.astype(np.float64)))
    return ranges
