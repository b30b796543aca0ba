"""Guesses by how likely each record is a person's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.attribute_inference import (
    guess_by_likelihood,
    guess_by_part,
    guess_from_records,
)

ILL = np.array([1.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("chances", "shares"),
    [
        # Two records of 1 together are likelier than one of 2 that is the likeliest alone.
        ([0.3, 0.3, 0.4, 0.0], [1, 0, 0]),
        ([0.2, 0.2, 0.6, 0.0], [0, 1, 0]),
        # One of two values that are equally likely is guessed.
        ([0.1, 0.2, 0.3, 0.4 - 0.1], [1 / 3, 1 / 3, 1 / 3]),
        # Whose record none can be is guessed as anybody, as the commonest value.
        ([0.0, 0.0, 0.0, 0.0], [1, 0, 0]),
    ],
)
def test_the_value_is_guessed_that_is_the_likeliest_in_sum(chances, shares):
    with np.errstate(divide="ignore"):
        logs = np.log(np.tile(chances, (3, 1))) - np.array([[700.0], [0], [5]])
    assert guess_by_likelihood(logs, ILL, np.array([1.0, 2, 3])) == pytest.approx(shares)


def test_numbers_that_are_near_count_together():
    logs = np.log([[0.3, 0.3, 0.2, 0.2]])
    values, truth = np.array([1.0, 7, 8, 9]), np.array([8.0])
    assert guess_by_likelihood(logs, values, truth, 1.0).tolist() == [1]
    assert guess_by_likelihood(logs, values, truth, 0.0).tolist() == [0]


@given(st.lists(st.integers(0, 3).map(float), min_size=1, max_size=8), st.sampled_from([0.0, 1.0]))
def test_records_that_are_equally_likely_are_those_of_one_part(values, tolerance):
    rows, persons = np.array(values), np.arange(4.0)
    everybody, anybody = np.zeros(len(rows), dtype=np.int64), np.zeros(4, dtype=np.int64)
    blind = guess_by_part(everybody, anybody, rows, persons, tolerance)
    equal = np.zeros((4, len(rows)))
    assert guess_by_likelihood(equal, rows, persons, tolerance) == pytest.approx(blind)


def test_the_commonest_of_a_persons_records_is_guessed_and_of_all_where_there_are_none():
    records, starts = np.array([0, 1, 2, 3]), np.array([0, 3, 3, 4])
    assert guess_from_records(records, starts, ILL, np.array([1.0, 1, 1])).tolist() == [1, 1, 0]
