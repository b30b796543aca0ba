"""Members are copied: whether a record is one of the synthetic ones, value by value."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Bools, Material
from policy_engine.audits.generative.record_marks import record_marks
from policy_engine.audits.membership.intervals import difference
from policy_engine.kernels.estimates import Estimate, NotApplicable, clopper_pearson

Floats = NDArray[np.float64]


class CopyRates(NamedTuple):
    """The shares of members and of the holdout that are copied, and how much more of the members.

    Records that many people share are copied without having been seen: the holdout's share says
    how many.
    """

    members: Estimate
    holdout: Estimate
    excess: Estimate


def exact_copies(material: Material) -> Floats | NotApplicable:
    """Return 1 for audited records that are among the synthetic ones, 0 for others, (n,).

    Compared are all values, and the class; what is missing is equal to what is missing.
    """
    if material.synthetic is None:
        return NotApplicable(reason="There are no released records.")
    audited, synthetic = map(record_marks, (material.audited, material.synthetic))
    return np.isin(audited, synthetic).astype(np.float64)


def exact_copies_any_class(material: Material) -> Floats | NotApplicable:
    """Return 1 for audited records whose values are among the synthetic ones, whatever the class,
    0 for others, (n,): whoever copies a record may write another label beside it."""
    if not material.has_classes:
        return NotApplicable(reason=NO_CLASSES)
    return exact_copies(material.without_classes())


NO_CLASSES = "The records are not of several classes."


def copy_rates(scores: Floats, is_member: Bools) -> CopyRates:
    """Return how often members and others have the score 1 of `exact_copies`, and the excess."""
    sides = scores[is_member], scores[~is_member]
    members, holdout = (clopper_pearson(int(one.sum()), len(one)) for one in sides)
    return CopyRates(members, holdout, difference(members, holdout))
