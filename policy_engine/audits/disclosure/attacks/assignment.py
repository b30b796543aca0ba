"""One-to-one record linkage (Herranz et al., 2015): all persons get their records together."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.transparency import column_likelihoods
from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.scales import distance_columns
from policy_engine.audits.disclosure.settings import MOST_PERSONS_UNNAMED, AttackSettings
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage.assignment import MOST_RECORDS, assignment_links
from policy_engine.kernels.linkage.likelihood import log_likelihoods

Floats = NDArray[np.float64]

_IMPOSSIBLE = 1_000.0
"""By how much what cannot be is less likely than all that can be, in logarithms: enough that no
other links make up for it, and still a link where a model is wrong."""


def assignment_linkage(files: TwoFiles, settings: AttackSettings) -> Floats | NotApplicable:
    """Return for each person the probability of a right link, (persons,).

    Each record is that of one person at most. The squared distances of all links, those of
    distance-based linkage, are the least in sum, or all links together are the likeliest by the
    published mechanism: whichever links more persons.
    """
    most = max(len(files.own), files.released)
    if most > MOST_RECORDS:
        reason = f"its time grows with the third power of the rows, {MOST_RECORDS:,} at most"
        return NotApplicable(reason=f"{reason}, and there are {most:,}")
    if most > MOST_PERSONS_UNNAMED and not settings.names("assignment-linkage"):
        reason = f"it takes long for more than {MOST_PERSONS_UNNAMED:,} rows"
        return NotApplicable(reason=f"{reason}, unless it is asked for by name")
    results = [assignment_links(costs, files.own) for costs in _costs(files)]
    return max((one.linked for one in results if not isinstance(one, NotApplicable)), key=np.sum)


def _costs(files: TwoFiles) -> Iterator[Floats]:
    """Yield what links may cost, (persons, records) each."""
    yield -log_likelihoods([part for one in files.columns for part in distance_columns(one)])
    if files.is_published:
        costs = -log_likelihoods(column_likelihoods(files))
        is_possible = np.isfinite(costs)
        worst = costs[is_possible].max(initial=0.0) + _IMPOSSIBLE
        yield np.where(is_possible, costs, worst)
