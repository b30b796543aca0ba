"""Which records of a release are those of which persons, by what an intruder knows of them."""

from policy_engine.kernels.linkage.assignment import AssignmentLinks, assignment_links
from policy_engine.kernels.linkage.column_likelihood import CellTransitions, ColumnLikelihood
from policy_engine.kernels.linkage.fellegi_sunter import (
    Agreement,
    greatest_weights,
    probabilistic_links,
)
from policy_engine.kernels.linkage.likelihood import (
    LikelihoodLinks,
    greatest_likelihoods,
    likelihood_links,
    links_by_likelihood,
    log_likelihoods,
)
from policy_engine.kernels.linkage.nearest import links, nearest_distances
from policy_engine.kernels.linkage.tree import PointTree, plant
from policy_engine.kernels.linkage.windows import records_within, windows

__all__ = [
    "Agreement",
    "AssignmentLinks",
    "CellTransitions",
    "ColumnLikelihood",
    "LikelihoodLinks",
    "PointTree",
    "assignment_links",
    "greatest_likelihoods",
    "greatest_weights",
    "likelihood_links",
    "links",
    "links_by_likelihood",
    "log_likelihoods",
    "nearest_distances",
    "plant",
    "probabilistic_links",
    "records_within",
    "windows",
]
