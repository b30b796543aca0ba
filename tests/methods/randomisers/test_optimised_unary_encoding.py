import math
from fractions import Fraction

import pytest

from policy_engine.methods.randomisers.optimised_unary_encoding import OptimisedUnaryEncoding


def test_the_own_bit_is_a_fair_coin():
    """At an epsilon of ln 3: the others are set once of 4 times, and 4 * 3 / (3 - 1)^2."""
    figures = OptimisedUnaryEncoding(name="town", categories=("a", "b")).figures(
        Fraction(math.log(3))
    )
    assert figures["ownProbability"] == 0.5
    assert figures["otherProbability"] == pytest.approx(1 / 4)
    assert figures["variance"] == pytest.approx(3)
