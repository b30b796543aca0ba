"""Distance-based record linkage (Pagliuca and Seri, 1999): the nearest record is the person's."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.scales import distance_column, standardised
from policy_engine.kernels.linkage.likelihood import likelihood_links
from policy_engine.kernels.linkage.nearest import links
from policy_engine.kernels.linkage.tree import plant


def distance_linkage(files: TwoFiles) -> NDArray[np.float64]:
    """Return for each person the probability of a right link, (persons,).

    Numbers are compared in standard deviations, categories by whether they are equal, generalised
    cells by the expected distance of their values.
    """
    if all(one.is_number and one.is_exact for one in files.columns):
        known, released, _ = zip(*map(standardised, files.columns), strict=True)
        return links(plant(np.column_stack(released)), np.column_stack(known), files.own)
    return likelihood_links([distance_column(one) for one in files.columns], files.own).linked
