"""Distance-based record linkage (Pagliuca and Seri, 1999): the nearest record is the person's."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.scales import are_points, distance_columns, points
from policy_engine.kernels.linkage.column_likelihood import ColumnLikelihood
from policy_engine.kernels.linkage.likelihood import greatest_likelihoods, links_by_likelihood
from policy_engine.kernels.linkage.nearest import links, nearest_distances
from policy_engine.kernels.linkage.tree import plant
from policy_engine.kernels.searching import Search, search_here

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def distance_linkage(files: TwoFiles, search: Search = search_here) -> Floats:
    """Return for each person the probability of a right link, (persons,).

    Numbers are compared in standard deviations, categories by whether they are equal, generalised
    cells by the expected distance of their values. `search` says where records are looked for.
    """
    if are_points(files):
        known_values, released = points(files)
        return links(plant(released), known_values, files.own, search=search)
    return links_by_likelihood(_compared(files), files.own, search)


def distance_taken(files: TwoFiles, persons: Ints) -> Floats:
    """Return the distance of the record linked to each of some persons, (persons,)."""
    if are_points(files):
        known_values, released = points(files)
        return nearest_distances(plant(released), known_values, persons)
    return -greatest_likelihoods(_compared(files), persons)


def _compared(files: TwoFiles) -> list[ColumnLikelihood]:
    return [part for one in files.columns for part in distance_columns(one)]
