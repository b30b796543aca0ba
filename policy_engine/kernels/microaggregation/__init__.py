"""Microaggregation: classes of k rows or more that are near to each other, for their means.

`microaggregate` is for several columns, `microaggregate_column` the optimum for one. Where the
rows of a table are in several places, `cut_far` cuts it into parts, each of which `aggregate`
makes the same classes of.
"""

from policy_engine.kernels.microaggregation.blocks import (
    BlockCut,
    Blocks,
    cut_blocks,
    default_block_size,
    find_blocks,
)
from policy_engine.kernels.microaggregation.class_means import aggregate, class_means
from policy_engine.kernels.microaggregation.code_blocks import CodeCut, choose_cut
from policy_engine.kernels.microaggregation.far_blocks import (
    FarBlocks,
    PlacedRows,
    RowsQuestion,
    cut_far,
)
from policy_engine.kernels.microaggregation.loss import (
    information_loss,
    lost_share,
    within_class_moments,
)
from policy_engine.kernels.microaggregation.mdav import mdav
from policy_engine.kernels.microaggregation.merging import Scopes, merge_until
from policy_engine.kernels.microaggregation.mixed import Attribute, Placement, place, points_of
from policy_engine.kernels.microaggregation.multivariate import microaggregate
from policy_engine.kernels.microaggregation.near_classes import Space, form_classes, merge_all
from policy_engine.kernels.microaggregation.scaling import Scale, scale, share_moments, shares
from policy_engine.kernels.microaggregation.shared_values import dominated_classes, shared_tally
from policy_engine.kernels.microaggregation.strata import strata_needed, stratified_mdav
from policy_engine.kernels.microaggregation.univariate import microaggregate_column

__all__ = [
    "Attribute",
    "BlockCut",
    "Blocks",
    "CodeCut",
    "FarBlocks",
    "PlacedRows",
    "Placement",
    "RowsQuestion",
    "Scale",
    "Scopes",
    "Space",
    "aggregate",
    "choose_cut",
    "class_means",
    "cut_blocks",
    "cut_far",
    "default_block_size",
    "dominated_classes",
    "find_blocks",
    "form_classes",
    "information_loss",
    "lost_share",
    "mdav",
    "merge_all",
    "merge_until",
    "microaggregate",
    "microaggregate_column",
    "place",
    "points_of",
    "scale",
    "share_moments",
    "shared_tally",
    "shares",
    "strata_needed",
    "stratified_mdav",
    "within_class_moments",
]
