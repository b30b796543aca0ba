"""Record linkage by the distance that links most: the worst case for a release."""

from policy_engine.kernels.linkage.learned.choquet import choquet, choquet_of_pairs
from policy_engine.kernels.linkage.learned.distances import (
    Distances,
    ordered_weighted_mean,
    weighted_mean,
)
from policy_engine.kernels.linkage.learned.forms import bilinear
from policy_engine.kernels.linkage.learned.held_out import held_out, learn_in_turn
from policy_engine.kernels.linkage.learned.learning import LearnedLinkage, learn
from policy_engine.kernels.linkage.learned.linked import linked

__all__ = [
    "Distances",
    "LearnedLinkage",
    "bilinear",
    "choquet",
    "choquet_of_pairs",
    "held_out",
    "learn",
    "learn_in_turn",
    "linked",
    "ordered_weighted_mean",
    "weighted_mean",
]
