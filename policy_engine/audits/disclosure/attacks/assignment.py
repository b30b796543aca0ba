"""One-to-one record linkage (Herranz et al., 2015): all persons get their records together."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.scales import distance_columns
from policy_engine.audits.disclosure.settings import MOST_PERSONS_UNNAMED, AttackSettings
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage.assignment import MOST_RECORDS, assignment_links
from policy_engine.kernels.linkage.likelihood import log_likelihoods


def assignment_linkage(
    files: TwoFiles, settings: AttackSettings
) -> NDArray[np.float64] | NotApplicable:
    """Return for each person the probability of a right link, (persons,).

    Each record is that of one person at most, and the squared distances of all links are the least
    in sum; they are those of distance-based linkage.
    """
    most = max(len(files.own), files.released)
    if most > MOST_RECORDS:
        reason = f"its time grows with the third power of the rows, {MOST_RECORDS:,} at most"
        return NotApplicable(reason=f"{reason}, and there are {most:,}")
    if most > MOST_PERSONS_UNNAMED and not settings.names("assignment-linkage"):
        reason = f"it takes long for more than {MOST_PERSONS_UNNAMED:,} rows"
        return NotApplicable(reason=f"{reason}, unless it is asked for by name")
    costs = -log_likelihoods([part for one in files.columns for part in distance_columns(one)])
    assignment = assignment_links(costs, files.own)
    return assignment if isinstance(assignment, NotApplicable) else assignment.linked
