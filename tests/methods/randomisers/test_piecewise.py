import math
from fractions import Fraction

import pytest

from policy_engine.methods.randomisers.duchi import Duchi
from policy_engine.methods.randomisers.piecewise import Piecewise

BOUNDS = {"name": "wage", "lower": -1.0, "upper": 1.0, "grid": 0.01}


def test_its_figures_are_those_of_the_paper():
    """At the ends 4 e^(1/2) / (3 (e^(1/2) - 1)^2), Wang et al. 2019, of numbers from -1 to 1."""
    figures, root = Piecewise(**BOUNDS).figures(Fraction(1)), math.exp(0.5)
    assert figures["largestVariance"] == pytest.approx(4 * root / (3 * (root - 1) ** 2), rel=0.02)
    assert figures["ownProbability"] / figures["otherProbability"] == pytest.approx(math.e)


@pytest.mark.parametrize(("epsilon", "is_better"), [(1, False), (2, True)])
def test_it_is_better_than_two_points_above_an_epsilon_of_about_1_3(epsilon, is_better):
    variances = [
        kind(**BOUNDS).figures(Fraction(epsilon))["largestVariance"] for kind in (Piecewise, Duchi)
    ]
    assert (variances[0] < variances[1]) == is_better
