"""Integers with noise: the discrete Laplace and the discrete Gaussian distribution.

Canonne, Kamath and Steinke: The Discrete Gaussian for Differential Privacy, NeurIPS 2020, drawn by
OpenDP. What is counted or summed is scaled to integers of a public grid beforehand.
"""

from collections.abc import Sequence
from fractions import Fraction

from policy_engine.kernels.differential_privacy.measurements import gaussian, laplace, saturated


def discrete_laplace(values: Sequence[int], scale: Fraction) -> list[int]:
    """Return each value plus an integer x drawn with a probability proportional to e^(-|x|/scale).

    Where neighbours change `cells` of the values by at most `sensitivity` each, epsilon is
    cells * sensitivity / scale. Values and answers are saturated at plus and minus 2^62. Raises
    ValueError for a scale that is not above 0 and at most 2^60.
    """
    return saturated(laplace(scale)(saturated(values))) if len(values) else []


def discrete_gaussian(values: Sequence[int], sigma: Fraction) -> list[int]:
    """Return each value plus an integer x drawn in proportion to e^(-x^2 / (2 sigma^2)).

    Where neighbours change `cells` of the values by at most `sensitivity` each, it is zCDP of
    rho = cells * sensitivity^2 / (2 sigma^2). Else as `discrete_laplace`.
    """
    return saturated(gaussian(sigma)(saturated(values))) if len(values) else []
