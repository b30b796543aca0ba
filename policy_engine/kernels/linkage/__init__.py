"""Which records of a release are those of which persons, by what an intruder knows of them."""

from policy_engine.kernels.linkage.assignment import AssignmentLinks, assignment_links
from policy_engine.kernels.linkage.fellegi_sunter import Agreement, probabilistic_links
from policy_engine.kernels.linkage.likelihood import (
    CellTransitions,
    ColumnLikelihood,
    LikelihoodLinks,
    likelihood_links,
    log_likelihoods,
)
from policy_engine.kernels.linkage.nearest import links
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
    "likelihood_links",
    "links",
    "log_likelihoods",
    "plant",
    "probabilistic_links",
    "records_within",
    "windows",
]
