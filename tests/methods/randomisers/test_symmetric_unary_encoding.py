import math
from fractions import Fraction

import pytest

from policy_engine.methods.randomisers.symmetric_unary_encoding import SymmetricUnaryEncoding


def test_each_bit_takes_half_of_epsilon():
    """At an epsilon of 2 ln 3 a bit is told with 3 parts of 4: 3 / (3 - 1)^2."""
    encoding = SymmetricUnaryEncoding(name="town", categories=tuple("abc"))
    figures = encoding.figures(Fraction(2 * math.log(3)))
    assert figures["ownProbability"] == pytest.approx(3 / 4)
    assert figures["otherProbability"] == pytest.approx(1 / 4)
    assert figures["variance"] == figures["largestVariance"] == pytest.approx(3 / 4)
    assert encoding.mechanism(Fraction(1)).words == 4
