"""Which values go with what is known, by EM on records that were masked at random."""

import numpy as np
import pytest

from policy_engine.kernels.attribute_inference import balance, deconvolve, expected_points
from policy_engine.kernels.attribute_inference.posterior import guess_by_weight

KEEP = np.array([[0.6, 0.4], [0.4, 0.6]])
"""Two categories, each kept with the probability .6."""
RECORDS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
"""Categories and values of four kinds of records."""


def of_all(kinds):
    """Return the likelihoods in cells and the values of so many records of each kind."""
    records = np.repeat(RECORDS, kinds, axis=0)
    return KEEP[:, records[:, 0]].T, records[:, 1]


def test_shares_are_those_that_the_inverted_matrix_gives():
    # Of 80,000 persons of the first category nobody is ill, of 20,000 of the second everybody.
    likelihoods, ill = of_all([1, 1, 1, 1])
    counts = np.array([48_000.0, 8_000, 32_000, 12_000])
    found = deconvolve(likelihoods, np.array([80_000.0, 20_000]), ill, counts)
    assert found.shares == pytest.approx(np.array([[1, 0], [0, 1]]), abs=0.02)
    assert found.gain > 1000


def test_a_value_is_guessed_that_few_records_have_whatever_they_show():
    # Most records of either category have the first value: nearest ones never tell the other.
    likelihoods, ill = of_all([480, 80, 320, 120])
    found = deconvolve(likelihoods, np.array([800.0, 200.0]), ill)
    cells = np.array([0, 1])
    assert guess_by_weight(found.weights.T, cells, ill, np.array([0.0, 1.0])).tolist() == [1, 1]


def test_kinds_of_records_count_as_often_as_they_are():
    kinds, sizes = [48, 8, 32, 12], np.array([80.0, 20.0])
    likelihoods, ill = of_all([1, 1, 1, 1])
    alike = deconvolve(likelihoods, sizes, ill, np.array(kinds, dtype=float))
    every = deconvolve(of_all(kinds)[0], sizes, of_all(kinds)[1])
    assert alike.shares == pytest.approx(every.shares)
    assert alike.gain == pytest.approx(every.gain)


def test_nothing_is_gained_where_values_go_with_no_cell():
    likelihoods, ill = of_all([280, 280, 220, 220])
    found = deconvolve(likelihoods, np.array([800.0, 200.0]), ill)
    assert found.shares == pytest.approx(np.full((2, 2), 0.5))
    assert found.gain == pytest.approx(0)


def test_a_record_that_many_claim_is_less_likely_each_ones():
    # The second person can have the first record alone, so the first person has the other one.
    logs = np.log([[0.6, 0.4], [1.0, 1e-9]])
    balanced = balance(logs, np.ones(2))
    assert balanced[0].argmax() == 1
    assert balanced[1].argmax() == 0


def test_who_was_never_in_the_original_claims_no_record():
    logs = np.log([[0.6, 0.4], [1.0, 1e-9]])
    assert balance(logs, np.array([1.0, 0.0]))[0] == pytest.approx(np.log([0.6, 0.4]), abs=2)
    assert balance(logs, np.array([1.0, 0.0]))[0].argmax() == 0


def test_the_person_to_expect_is_the_mean_of_those_who_are_likely():
    logs = np.log([[0.75, 0.5], [0.25, 0.5]])
    points = np.array([[0.0, 5], [4, np.nan]])
    assert expected_points(logs, points).tolist() == [[1, 5], [2, 5]]
