"""What becomes of values that nobody in the original has."""

import numpy as np

from policy_engine.audits.disclosure.attacks.transparency import _nearest_masked


def test_a_value_in_the_tail_becomes_what_others_there_become():
    known = np.array([1.0, 2, 3, 8, 9, 2.5, 8.5, 20])
    made = np.array([1.0, 2, 3, 5, 5])
    found = _nearest_masked(known, slice(5), made)
    assert found.tolist() == [1, 2, 3, 5, 5, 2.5, 5, 5]
