"""What a release tells of a sensitive value to an intruder who knows others of the same person."""

from policy_engine.kernels.attribute_inference.associations import (
    category_bins,
    crossed,
    grown_sets,
    information,
    number_bins,
    telling_pairs,
)
from policy_engine.kernels.attribute_inference.deconvolution import Deconvolution, deconvolve
from policy_engine.kernels.attribute_inference.guesses import (
    Guesses,
    guess_by_part,
    guess_from_records,
    guess_others,
    guess_values,
)
from policy_engine.kernels.attribute_inference.homogeneity import Homogeneity, homogeneity
from policy_engine.kernels.attribute_inference.linear import guess_by_line, guess_on_line
from policy_engine.kernels.attribute_inference.neighbours import ReleasedCells
from policy_engine.kernels.attribute_inference.posterior import (
    balance,
    expected_points,
    guess_by_likelihood,
    guess_by_weight,
)
from policy_engine.kernels.attribute_inference.smoothing import (
    ColumnSplit,
    best_split,
    chosen_count,
)

__all__ = [
    "ColumnSplit",
    "Deconvolution",
    "Guesses",
    "Homogeneity",
    "ReleasedCells",
    "balance",
    "best_split",
    "category_bins",
    "chosen_count",
    "crossed",
    "deconvolve",
    "expected_points",
    "grown_sets",
    "guess_by_likelihood",
    "guess_by_line",
    "guess_by_part",
    "guess_by_weight",
    "guess_from_records",
    "guess_on_line",
    "guess_others",
    "guess_values",
    "homogeneity",
    "information",
    "number_bins",
    "telling_pairs",
]
