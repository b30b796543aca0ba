"""Scaled weights give each record to one person in sum."""

import numpy as np
import pytest

from policy_engine.kernels.balancing import record_scales


def shares(weights, persons, rounds=200):
    """Return the probabilities of each person's records after scaling."""
    scaled = weights * record_scales(weights, np.array(persons, dtype=float), rounds)
    return scaled / scaled.sum(axis=1, keepdims=True)


def test_a_record_that_only_one_person_can_have_leaves_the_others_to_the_rest():
    # The second can have the second record alone, so the first has the other one.
    assert shares(np.array([[1.0, 1], [0, 1]]), [1, 1]) == pytest.approx(np.eye(2), abs=0.01)


def test_rows_and_records_are_one_in_sum():
    # Whatever is known of two persons, the products of opposite weights are kept: 4 to 1 here.
    found = shares(np.array([[4.0, 2], [2, 4]]), [1, 1])
    assert found == pytest.approx(np.array([[2, 1], [1, 2]]) / 3)


def test_persons_who_are_not_expected_have_no_part_in_the_scales():
    weights = np.array([[1.0, 1], [1, 3], [5, 0]])
    assert record_scales(weights.copy(), np.array([1.0, 1, 0]), 9) == pytest.approx(
        record_scales(weights[:2].copy(), np.ones(2), 9)
    )
