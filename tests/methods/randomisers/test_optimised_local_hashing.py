import math
from fractions import Fraction

import pytest

from policy_engine.methods.randomisers.optimised_local_hashing import OptimisedLocalHashing


def test_it_hashes_to_as_many_values_as_vary_least():
    """At an epsilon of ln 3 to 4 values: told with 3 parts of 6, and 4 * 3 / (3 - 1)^2."""
    hashing = OptimisedLocalHashing(name="town", categories=tuple("abc"))
    figures = hashing.figures(Fraction(math.log(3)))
    assert hashing.mechanism(Fraction(math.log(3))).response.values in (3, 4)
    assert figures["variance"] == pytest.approx(3, rel=0.01)
    assert figures["otherProbability"] in (pytest.approx(1 / 3), 1 / 4)
