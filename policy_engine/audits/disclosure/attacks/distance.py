"""Distance-based record linkage (Pagliuca and Seri, 1999): the nearest record is the person's."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.scales import distance_column, standardised
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
    if _are_points(files):
        known, released = _points(files)
        return links(plant(released), known, files.own, search=search)
    return links_by_likelihood([distance_column(one) for one in files.columns], files.own, search)


def distance_taken(files: TwoFiles, persons: Ints) -> Floats:
    """Return how far the record is that is taken for some persons, (persons,)."""
    if _are_points(files):
        known, released = _points(files)
        return nearest_distances(plant(released), known, persons)
    return -greatest_likelihoods([distance_column(one) for one in files.columns], persons)


def _are_points(files: TwoFiles) -> bool:
    return all(one.is_number and one.is_exact for one in files.columns)


def _points(files: TwoFiles) -> tuple[Floats, Floats]:
    known, released, _ = zip(*map(standardised, files.columns), strict=True)
    return np.column_stack(known), np.column_stack(released)
