"""Differential privacy: mechanisms on integers, and how much noise they need.

Neighbours are what the caller says: whatever differs by one unit. Mechanisms are drawn from the
operating system's randomness; everything else is exact, or rounded towards more noise.
"""

from policy_engine.kernels.differential_privacy.accounting import ProvenLoss, proven
from policy_engine.kernels.differential_privacy.calibration import (
    Calibration,
    analytic_gaussian_sigma,
    calibrate,
)
from policy_engine.kernels.differential_privacy.contributions import bound_contributions
from policy_engine.kernels.differential_privacy.half_widths import (
    gaussian_half_width,
    laplace_half_width,
    rank_half_width,
    ratio_half_width,
    score_half_width,
    variance_half_width,
)
from policy_engine.kernels.differential_privacy.noise import discrete_gaussian, discrete_laplace
from policy_engine.kernels.differential_privacy.partition_selection import keeps
from policy_engine.kernels.differential_privacy.parts import NoisyPart, PrivacyLoss
from policy_engine.kernels.differential_privacy.selection import (
    exponential,
    permute_and_flip,
    quantile_scores,
    quantile_sensitivity,
    top_k,
)

__all__ = [
    "Calibration",
    "NoisyPart",
    "PrivacyLoss",
    "ProvenLoss",
    "analytic_gaussian_sigma",
    "bound_contributions",
    "calibrate",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential",
    "gaussian_half_width",
    "keeps",
    "laplace_half_width",
    "permute_and_flip",
    "proven",
    "quantile_scores",
    "quantile_sensitivity",
    "rank_half_width",
    "ratio_half_width",
    "score_half_width",
    "top_k",
    "variance_half_width",
]
