"""What a release tells of a sensitive value to an intruder who knows others of the same person."""

from policy_engine.kernels.attribute_inference.guesses import Guesses, guess_values
from policy_engine.kernels.attribute_inference.homogeneity import Homogeneity, homogeneity
from policy_engine.kernels.attribute_inference.neighbours import ReleasedCells

__all__ = ["Guesses", "Homogeneity", "ReleasedCells", "guess_values", "homogeneity"]
